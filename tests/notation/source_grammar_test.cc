// Names, definitions and expressions of a grammar's text.
#include "grammar_core/frontend/notation/source_grammar.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

TEST(SourceGrammarTest, ANameIsASymbolFromItsFirstMention) {
  SourceGrammar grammar;
  const SymbolId a = grammar.Symbol("a");
  EXPECT_NE(grammar.Symbol("A"), a);
  EXPECT_NE(grammar.Symbol(""), a);
  EXPECT_EQ(grammar.Symbol("a"), a);
  EXPECT_EQ(grammar.names[a], "a");
  EXPECT_EQ(grammar.Find("a"), nullptr);
  EXPECT_EQ(grammar.Find("b"), nullptr);
  EXPECT_EQ(grammar.names.size(), 3U);  // Find() makes none
  for (int i = 0; i < 1000; ++i) grammar.Symbol(absl::StrCat("n", i));
  EXPECT_EQ(grammar.Symbol("a"), a);
  EXPECT_EQ(grammar.definition_of.size(), grammar.names.size());
}

TEST(SourceGrammarTest, TheLastDefinitionIsTheSymbols) {
  SourceGrammar grammar;
  const ExprId body = grammar.Add({.kind = ExprKind::kSequence});
  const SymbolId a = grammar.Symbol("a");
  grammar.Define({.symbol = a, .at = 1, .first = body, .body = body});
  grammar.Define({.symbol = grammar.Symbol("b"), .at = 2, .first = body, .body = body});
  ASSERT_NE(grammar.Find("a"), nullptr);
  EXPECT_EQ(grammar.Find("a")->at, 1U);
  grammar.Define({.symbol = a, .at = 3, .first = body, .body = body, .terminal = true});
  EXPECT_EQ(grammar.Find("a")->at, 3U);
  EXPECT_TRUE(grammar.Find("a")->terminal);
  EXPECT_EQ(grammar.Find("b")->at, 2U);
  EXPECT_EQ(grammar.definitions.size(), 3U);
}

TEST(SourceGrammarTest, ChildrenAreCopiedInTheirOrder) {
  SourceGrammar grammar;
  std::vector<ExprId> children = {grammar.Add({.kind = ExprKind::kCharacters, .a = 7}),
                                  grammar.Add({.kind = ExprKind::kName, .a = 8})};
  children.push_back(children[0]);
  const ExprId sequence = grammar.Add({.kind = ExprKind::kSequence, .at = 5}, children);
  children.clear();
  EXPECT_EQ(sequence, 2U);
  const Expression& made = grammar.expressions[sequence];
  EXPECT_EQ(made.at, 5U);
  ASSERT_EQ(made.child_count, 3U);
  EXPECT_EQ(std::vector<ExprId>(grammar.children.begin() + made.first_child,
                                grammar.children.begin() + made.first_child + 3),
            (std::vector<ExprId>{0, 1, 0}));
}

}  // namespace
}  // namespace maskd
