// A text in reading, for tests of the readers of its parts.
#ifndef MASKD_TESTS_NOTATION_TEXT_IN_READING_H_
#define MASKD_TESTS_NOTATION_TEXT_IN_READING_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"
#include "tests/notation/node_texts.h"

namespace maskd {

// Everything that a reader needs, and where what it reads goes.
struct TextInReading {
  explicit TextInReading(std::string its_text, const Limits& its_limits = {})
      : text(std::move(its_text)), limits(its_limits), reading(text, limits, budget) {}

  // What the readers left.
  [[nodiscard]] std::string Rest() const { return text.substr(reading.cursor.at()); }
  [[nodiscard]] const Expression& at(ExprId id) const { return grammar.expressions[id]; }
  // Those of `candidates` that an expression of characters matches.
  [[nodiscard]] std::set<std::string> TextsOf(ExprId id,
                                              const std::vector<std::string>& candidates) const {
    EXPECT_EQ(at(id).kind, ExprKind::kCharacters);
    return TextsOfNode(reading.builder, at(id).a, candidates);
  }

  const std::string text;
  const Limits limits;
  Budget budget = Budget::Unlimited();
  SourceReading reading;
  SourceGrammar grammar;
};

}  // namespace maskd

#endif  // MASKD_TESTS_NOTATION_TEXT_IN_READING_H_
