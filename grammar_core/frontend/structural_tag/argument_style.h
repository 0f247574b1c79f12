// Objects that are written as literals of another language than JSON, as some models write the
// arguments of a call. A style is a row of what it writes where; only this row tells it apart.
//
//   python             city="Paris", days=3, opts={"deep": True, "tags": ['a', "b"]}
//   {"quote": "<|>"}   city:<|>Paris<|>,days:3,opts:{deep:true,tags:[<|>a<|>,<|>b<|>]}
//   gemma              {city:<|"|>Paris<|"|>, days: 3}
//
// Strings  of Python: between double quotes as JSON has them, between single ones with the same
//          escapes. One that may not be any text has there either no single quote and escaped
//          double ones, or no escape at all. Between quotes of a style's own: as they are, without
//          that quote.
// Names    without escapes: others are UNIMPLEMENTED. Bare where the quotes are the style's own.
// Space    as the options have it, where the style has any.
// Members  in declared order, or in any where the options say so and they are at most
//          kMaxFreeMembers (xml_style.h); others behind them.
// Errors   UNIMPLEMENTED for counts and conditions of members, for arrays and objects that are
//          given (`const`, `enum`) or whose items are counted by schema, and for other values than
//          objects.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_ARGUMENT_STYLE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_ARGUMENT_STYLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/frontend/structural_tag/marker_speller.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {

// Said by a family or by a request. A plain value.
struct ArgumentStyle {
  enum class Names : std::uint8_t {
    kPlain,       // of characters that no quote, bracket or sign is made of
    kWord,        // of letters, digits and _
    kIdentifier,  // the same, with no digit at the beginning
  };
  enum class Space : std::uint8_t { kNone, kBehindSigns, kAroundSigns };

  std::string name;
  std::string quote;              // around strings; empty: those of Python
  bool has_python_words = true;   // True, False and None are taken beside JSON's words
  bool has_outer_braces = false;  // the outermost object is in braces
  char name_end = ':';            // behind the name of an outermost member
  Names names = Names::kPlain;    // that a schema may declare
  Names other_names = Names::kPlain;
  Space space = Space::kNone;

  // Whether strings have Python's quotes and escapes, and names within inner objects have quotes.
  [[nodiscard]] bool is_python() const { return quote.empty(); }
};

// Whether a name is of letters, digits and _ alone, and of one at least.
bool IsWordName(absl::string_view name);

// The style `name`; null where there is none.
const ArgumentStyle* FindArgumentStyle(absl::string_view name);
// A style that is said as {"quote": TEXT}, with "words": "json" where it has no words of Python and
// "names": "word" where names are words. Errors: INVALID_ARGUMENT at its member.
absl::StatusOr<ArgumentStyle> ReadArgumentStyle(const JsonValue& at);

// The objects of `read`, a schema with a rule for each value, written in `style`; `copier` has
// copied its rules into `builder`. No string holds one of `excludes`.
absl::StatusOr<NodeId> WriteAsLiterals(const ArgumentStyle& style,
                                       const std::vector<std::string>& excludes,
                                       const GrammarOptions& options, const IrCopier& copier,
                                       MarkerSpeller& speller, IrBuilder& builder, Budget& budget,
                                       const ReadResult& read);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_ARGUMENT_STYLE_H_
