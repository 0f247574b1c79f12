// The formats of a structural tag as its text has them: which there are, and what stands in what.
//
// Layout   formats are numbered so that each stands before those within it: what a format takes
//          from those around it is read in a loop forwards, what it takes from those within it in
//          a loop backwards. No recursion.
// Errors   INVALID_ARGUMENT at a JSON Pointer: an unknown type or key, a member of another type.
// Ownership  formats view the document.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FORMAT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FORMAT_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/shared_text.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// By the "type" of its JSON.
enum class FormatType : std::uint8_t {
  kConstString,
  kJsonSchema,
  kQwenXmlParameter,
  kRegex,
  kGrammar,
  kAnyText,
  kSequence,
  kOr,
  kOptional,
  kPlus,
  kStar,
  kRepeat,
  kTag,
  kTriggeredTags,
  kTagsWithSeparator,
  kDispatch,
  kToken,
  kExcludeToken,
  kAnyTokens,
  kTokenTriggeredTags,
  kTokenDispatch,
  // The older form: the whole text, and one of its structures with the schema within it.
  kStructures,
  kStructure,
  kStructureSchema,
};

using FormatId = std::uint32_t;
inline constexpr FormatId kNoFormat = std::numeric_limits<FormatId>::max();
using FormatIds = absl::InlinedVector<FormatId, 2>;  // of a tag one, of most others none

// A tool that may be called. A request with many tools has a tag for each that differs in these
// alone, so its text has one for all of them.
struct TagTool {
  std::string name;
  SharedText schema;  // of its arguments, without white space
};

// The type of a tag that stands for one of each tool, in a list of tags. Its begin and ends and
// texts within it have kToolMark where the tool's name goes; a schema that is kToolMark is its own.
// Only for texts that were made: they are read with a list of tools.
inline constexpr absl::string_view kTagOfEachTool = "tag_of_each_tool";
inline constexpr absl::string_view kToolMark = "\x01";

// What places within a tool's schema begin with.
std::string PlaceOfTool(const TagTool& tool);
bool IsPlaceInTool(absl::string_view place);

// Where a tag begins and ends: texts, or tokens. The text that it begins with stands apart.
struct TagBounds {
  std::optional<TokenSpec> begin_token = {};
  std::vector<std::string> ends = {};  // those that are not empty
  bool may_end_empty = false;
  std::optional<TokenSpec> end_token = {};
};

// One format; its number is its index in the list.
struct TagFormat {
  FormatType type;
  JsonValue at;
  // The innermost tag around it.
  FormatId tag = kNoFormat;
  // What stands in it, in order.
  FormatIds parts = {};
  // Of kTag and kStructure; the bounds are null for others. Tags of tools mostly share theirs.
  std::string begin = {};
  std::shared_ptr<const TagBounds> bounds = nullptr;
  // Whether it has no end itself, so that a tag around it needs one.
  bool open_ended = false;
  // The tool that it is of, or null.
  const TagTool* tool = nullptr;
};

// `text`, with the name of the tool that `format` is of in the place of its mark.
std::string TextOfTool(absl::string_view text, const TagFormat& format);

// The format that `root`, the whole text, stands for, and all those within it. With `tools`, which
// must outlive them, a tag may stand for one of each.
absl::StatusOr<std::vector<TagFormat>> ReadFormats(const JsonValue& root, Budget& budget,
                                                   const std::vector<TagTool>* tools = nullptr);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FORMAT_H_
