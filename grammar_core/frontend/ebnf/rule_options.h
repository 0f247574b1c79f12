// The options of an EBNF rule: name[lazy, max_chars=40, capture="x"] ::= ...
//
// What only speaks of captures is read and warned of: it holds no text to anything.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_EBNF_RULE_OPTIONS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_EBNF_RULE_OPTIONS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"
#include "grammar_core/frontend/regex/pattern_cursor.h"

namespace maskd {

// As written; absent options change nothing.
struct RuleOptions {
  // Where they stand.
  std::size_t at = 0;
  bool lazy = false;
  std::optional<std::uint32_t> max_chars = {};
  std::optional<std::uint32_t> max_tokens = {};
  std::optional<float> temperature = {};

  // Whether only a rule of characters can have them.
  [[nodiscard]] bool needs_characters() const { return lazy || max_chars.has_value(); }
  // The body of a rule that has them.
  [[nodiscard]] ExprId Applied(ExprId body, SourceGrammar& grammar) const;
};

// Reads up to the ']' and passes it; the cursor is behind the '['.
absl::StatusOr<RuleOptions> ReadRuleOptions(SourceReading& reading);

// Passes '[...]' at the cursor, which may hold a ']' in quotes. False where it has no end in its
// line, so that it is no list of options.
bool PassRuleOptions(PatternCursor& cursor);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_EBNF_RULE_OPTIONS_H_
