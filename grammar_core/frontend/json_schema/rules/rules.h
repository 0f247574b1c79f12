// The IR of JSON values, one function a type. What each makes of a merged schema is in the file of
// its name: object_rules.cc, array_rules.cc, string_rules.cc, number_rules.cc, literal_rules.cc.
//
// Errors   an INVALID_ARGUMENT says why no value of the type fits the schema: not the end of the
//          compilation, but of this type.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_RULES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_RULES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json_schema/logic/choice_reducer.h"
#include "grammar_core/frontend/json_schema/logic/contradiction.h"
#include "grammar_core/frontend/json_schema/logic/merged_schema.h"
#include "grammar_core/frontend/json_schema/logic/object_formula.h"
#include "grammar_core/frontend/json_schema/logic/string_facets.h"
#include "grammar_core/frontend/json_schema/rules/layout.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// What the rules share, and what they ask of the compiler. It must outlive its users.
struct RuleContext {
  const GrammarOptions& options;
  IrBuilder& builder;
  StringFacets& strings;
  ClaimLogic& logic;
  ValueChecker& checker;
  Contradiction& contradiction;
  ChoiceReducer& choices;
  const Refuse refuse;
  // The values of which all of `claims` are true.
  const std::function<NodeId(const std::vector<Claim>& claims)> value;
  // The strings of which `claim` is true, as a node of characters.
  const std::function<absl::StatusOr<NodeId>(const Claim& claim)> string_language;
  // White space between JSON tokens.
  const Layout layout;
  // Any number.
  const NodeId number;
};

// `clauses` hold beside what `schema` says.
absl::StatusOr<NodeId> ObjectRule(const MergedSchema& schema, const Clauses& clauses,
                                  RuleContext& context);
absl::StatusOr<NodeId> ArrayRule(const MergedSchema& schema, RuleContext& context);
absl::StatusOr<NodeId> StringRule(const MergedSchema& schema, RuleContext& context);
absl::StatusOr<NodeId> NumberRule(const MergedSchema& schema, RuleContext& context);
// Any number.
NodeId AnyNumberRule(const GrammarOptions& options, IrBuilder& builder);
// The inside of a string that StringRule() makes, as a node of characters.
absl::StatusOr<NodeId> StringCharacters(const MergedSchema& schema, RuleContext& context);

// In draft 4 an integer has neither fraction nor exponent, and so has one in canonical spelling.
enum class NumberSpelling : std::uint8_t { kAny, kPlain };
NumberSpelling SpellingOf(const MergedSchema& schema, const GrammarOptions& options);

// Exactly these values: strings as the options spell them, arrays and objects laid out as all
// others and, unless any order is asked for, in their own order of keys. `spelling` is that of the
// numbers among them, not of those within.
NodeId LiteralRule(const std::vector<JsonValue>& values, NumberSpelling spelling,
                   RuleContext& context);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_RULES_H_
