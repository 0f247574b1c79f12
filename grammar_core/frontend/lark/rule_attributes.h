// The attributes of a rule in a Lark grammar, after llguidance: name[lazy, suffix="x"]: ...
//
// What only speaks of captures is read and warned of: it holds no text to anything.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_RULE_ATTRIBUTES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_RULE_ATTRIBUTES_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

// As written; absent ones change nothing.
struct RuleAttributes {
  // Where they stand.
  std::size_t at = 0;
  bool lazy = false;
  // What stands behind the body: of suffix= or stop=.
  std::optional<ExprId> end = {};
  std::optional<std::uint32_t> max_chars = {};
  std::optional<std::uint32_t> max_tokens = {};
  std::optional<float> temperature = {};

  // Whether the body is read as that of a terminal.
  [[nodiscard]] bool is_terminal() const { return lazy || end.has_value(); }
  // The body of a rule that has them.
  [[nodiscard]] ExprId Applied(ExprId body, SourceGrammar& grammar) const;
};

// Reads up to the ']' and passes it; the cursor is behind the '['.
absl::StatusOr<RuleAttributes> ReadRuleAttributes(SourceReading& reading, SourceGrammar& grammar);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_RULE_ATTRIBUTES_H_
