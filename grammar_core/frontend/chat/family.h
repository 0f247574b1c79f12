// Families of models: how each writes an answer. One JSON file a family, in families/, which the
// build embeds.
//
// File     "id": its name. "models": for people. "reasoning": {"begin", "end"}: around what the
//          model thinks. "between": what stands between two messages of one answer. "answer":
//          {"begin", "end", "calls"}: around the final text, the end a text or a list of texts;
//          "calls" stands in place of an end where calls follow, without it none do.
//          "content_end": what a model may write behind its text where nothing frames it; what
//          begins calls begins with it. "excludes": texts that free text does not hold beside what
//          begins a call. "spelling": "any" where the model's JSON has escapes that others leave
//          out, else "canonical". "calls": {"trigger": what
//          a call shows by in free text, "begin" and "end": around all of them, "separator":
//          between two, "parallel": whether there may be more than one, "call": a list of what a
//          call is written as: texts, {"name": "raw" | "json" | "word"}, {"arguments": STYLE} and
//          {"pattern": REGEX}, "other_heads": other ways to write what stands before a call's
//          arguments, each a list of texts and a name, "before": what the model writes between its
//          text and a call, which reading back leaves out ("separator" where there is no "begin"),
//          "id": the id of a call as templates ask for it back, a text with {name} and {pattern} in
//          it}. Only "id",
//          "models" and "calls" must be there.
// Styles   "json" and those of structural tags (written_style.h), by name or said as an object.
// Names    "word": of letters, digits and _ alone; a request with another tool is refused.
// Ids      a pattern may stand before the call's name, too, behind one text.
// Markers  are spelled; over a vocabulary that has one as a token its spelling means that token.
// Threads  any.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_FAMILY_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_FAMILY_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/reading/standard_schemas.h"
#include "grammar_core/frontend/structural_tag/written_style.h"

namespace maskd {

// A file that was read and checked. A plain value, copied where a request changes it.
struct ChatFamily {
  // One piece of a call, in the order in which the model writes it.
  struct Part {
    // What the piece is; kNameInJson has its quotes.
    enum class Kind { kText, kName, kNameInJson, kArguments, kPattern };
    Kind kind;
    std::string text;                 // the text, the style as JSON, or the pattern
    WrittenStyleRef style = nullptr;  // null: JSON
  };
  // Texts around something.
  struct Frame {
    std::string begin;
    std::vector<std::string> ends;
    std::string calls = "";  // of an answer: leads on to calls; empty: nothing does
  };

  std::string name;
  std::string models;
  std::string content;  // of the file, but for those two
  std::optional<Frame> reasoning;
  std::string between;
  std::optional<Frame> answer;
  std::string content_end;
  bool any_spelling = false;
  std::vector<std::string> excludes;
  std::string trigger;
  std::optional<Frame> section;
  std::string separator;
  std::string before;
  std::string id;  // of a call; empty: calls have none
  bool parallel = true;
  bool has_word_names = false;  // of tools
  std::vector<Part> call;
  // Each in place of what stands before the call's arguments.
  std::vector<std::vector<Part>> other_heads;
};

// Whether arguments are closed by their names: only those that a schema declares can be written.
bool HasDeclaredNamesOnly(const ChatFamily& family);

// How the JSON of its answers is written.
inline JsonSpelling SpellingOf(const ChatFamily& family) {
  return family.any_spelling ? JsonSpelling::kAny : JsonSpelling::kCanonical;
}

// The files, in the order of their names.
std::span<const EmbeddedJson> ChatFamilyFiles();

// Reads a family's file. Errors: INVALID_ARGUMENT at a JSON Pointer of it.
absl::StatusOr<ChatFamily> ReadChatFamily(absl::string_view text);
absl::StatusOr<ChatFamily> ReadChatFamily(const JsonValue& root);

// The family `name`. Errors: INVALID_ARGUMENT at `place`, naming the known ones.
absl::StatusOr<ChatFamily> FindChatFamily(absl::string_view name, absl::string_view place);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_FAMILY_H_
