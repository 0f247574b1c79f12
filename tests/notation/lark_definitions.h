// The definitions of a Lark grammar, for tests of what is made of them: no directives, no
// templates, no indexes.
#ifndef MASKD_TESTS_NOTATION_LARK_DEFINITIONS_H_
#define MASKD_TESTS_NOTATION_LARK_DEFINITIONS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/lark/expansion_reader.h"
#include "grammar_core/frontend/lark/lark_names.h"
#include "grammar_core/frontend/lark/rule_attributes.h"
#include "tests/notation/text_in_reading.h"

namespace maskd {

inline absl::StatusOr<RuleId> NoNestedGrammar(std::int64_t) {
  return absl::UnimplementedError("no grammars in grammars here");
}

// Reads "name[attributes]: body" of each line into text.grammar.
inline void ReadDefinitions(TextInReading& text) {
  PatternCursor& cursor = text.reading.cursor;
  for (PassLines(cursor); !cursor.done(); PassLines(cursor)) {
    const auto first = static_cast<ExprId>(text.grammar.expressions.size());
    const std::size_t at = cursor.at();
    const std::string name(TakeWord(text.reading));
    absl::StatusOr<RuleAttributes> attributes = RuleAttributes();
    if (cursor.Take("[")) attributes = ReadRuleAttributes(text.reading, text.grammar);
    ASSERT_TRUE(attributes.ok()) << attributes.status();
    ASSERT_TRUE(cursor.Take(":")) << text.Rest();
    const bool terminal = IsTerminalName(name);
    const ExpansionContext context{.terminal = terminal || attributes->is_terminal(),
                                   .needs_characters = attributes->max_chars.has_value()};
    const GrammarOptions options;
    const absl::StatusOr<ExprId> body =
        ExpansionReader(context, options, NoNestedGrammar, &text.reading, &text.grammar).Read();
    ASSERT_TRUE(body.ok()) << body.status();
    text.grammar.Define({.symbol = text.grammar.Symbol(name),
                         .at = at,
                         .first = first,
                         .body = attributes->Applied(*body, text.grammar),
                         .terminal = terminal});
  }
}

}  // namespace maskd

#endif  // MASKD_TESTS_NOTATION_LARK_DEFINITIONS_H_
