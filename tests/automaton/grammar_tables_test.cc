#include "grammar_core/automaton/grammar_tables.h"

#include <memory>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

std::shared_ptr<const GrammarTables> TablesOf(const SmallGrammar& grammar) {
  Budget budget = Budget::Unlimited();
  return *GrammarTables::Create(grammar.ir(), grammar.index(), Limits(), budget, Measure::kBytes);
}

// The list of tokens with items in them is over the whole vocabulary, so few grammars have it.
TEST(GrammarTablesTest, OnlyArraysOfDistinctItemsHaveItemTokens) {
  const SmallGrammar distinct("json_schema",
                              R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})",
                              {"\",\"", "a\",\"b"});
  const SmallGrammar plain("json_schema", R"({"type":"array","items":{"type":"string"}})");
  EXPECT_TRUE(TablesOf(distinct)->item_tokens.has_value());
  EXPECT_FALSE(TablesOf(plain)->item_tokens.has_value());
  EXPECT_GT(TablesOf(distinct)->held_bytes(), TablesOf(distinct)->item_tokens->held_bytes());
}

TEST(GrammarTablesTest, TellsWhetherAPartHasABoundOfTokens) {
  const SmallGrammar limited("lark", "start: \"a\" body\nbody[max_tokens=3]: /[a-z ]*/\n");
  const SmallGrammar free("lark", "start: \"a\" body\nbody: /[a-z ]*/\n");
  EXPECT_TRUE(TablesOf(limited)->limits_tokens);
  EXPECT_FALSE(TablesOf(free)->limits_tokens);
}

TEST(GrammarTablesTest, BytesThatTheGrammarTellsApartAreOfDifferentClasses) {
  const SmallGrammar grammar("regex", "[a-i]x|[j-z]y");
  const std::shared_ptr<const GrammarTables> tables = TablesOf(grammar);
  EXPECT_EQ(tables->classes.Of('g'), tables->classes.Of('i'));
  EXPECT_NE(tables->classes.Of('i'), tables->classes.Of('j'));
  EXPECT_EQ(tables->classes.Of('j'), tables->classes.Of('m'));
}

TEST(GrammarTablesTest, RefusesATokenThatTheVocabularyLacks) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "1:1");
  TokenSpec spec;
  spec.names = {"<nowhere>"};
  spec.place = "1:8";
  b.DefineRule(start, b.Tokens(spec));
  const GrammarIr ir = *std::move(b).Build(start);
  const TokenIndex index(BytesAnd({}));
  Budget budget = Budget::Unlimited();
  const auto tables = GrammarTables::Create(ir, index, Limits(), budget, Measure::kBytes);
  EXPECT_EQ(tables.status().code(), absl::StatusCode::kInvalidArgument) << tables.status();
}

TEST(GrammarTablesTest, ASpentBudgetIsItsError) {
  const SmallGrammar grammar("regex", "[a-z]+");
  Budget budget(Budget::Bounds{.work = 0});
  const auto tables =
      GrammarTables::Create(grammar.ir(), grammar.index(), Limits(), budget, Measure::kBytes);
  EXPECT_EQ(tables.status().code(), absl::StatusCode::kResourceExhausted) << tables.status();
}

}  // namespace
}  // namespace maskd
