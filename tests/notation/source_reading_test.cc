// What the readers of a grammar's text share.
#include "grammar_core/frontend/notation/source_reading.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

TEST(SourceReadingTest, RemarksAndErrorsStandAtTheirLine) {
  Limits limits;
  limits.source_depth = 3;
  TextInReading text("é\nab", limits);
  text.reading.Warn(4, "odd");
  ASSERT_EQ(text.reading.warnings.size(), 1U);
  EXPECT_EQ(text.reading.warnings[0].place, "2:2");
  EXPECT_TRUE(text.reading.CheckDepth(4, 3).ok());
  EXPECT_EQ(text.reading.CheckDepth(4, 4).message(), "2:2: limit source_depth is 3, 4 needed");
  const ExprId body = text.grammar.Add({.kind = ExprKind::kSequence});
  EXPECT_TRUE(text.reading.CheckNew(text.grammar, "a", 4).ok());
  text.grammar.Define({.symbol = text.grammar.Symbol("a"), .at = 3, .first = body, .body = body});
  EXPECT_EQ(text.reading.CheckNew(text.grammar, "a", 5).message(),
            "2:3: \"a\" is defined already, at 2:1");
}

TEST(SourceReadingTest, ALongNameIsCutInItsError) {
  TextInReading text("x");
  const std::string name(1000, 'a');
  text.grammar.Define({.symbol = text.grammar.Symbol(name), .at = 0, .first = 0, .body = 0});
  EXPECT_LT(text.reading.CheckNew(text.grammar, name, 1).message().size(), 200U);
}

TEST(SourceReadingTest, WarningsAreBounded) {
  TextInReading text("x");
  for (std::size_t i = 0; i < 3 * kMaxWarnings; ++i) text.reading.Warn(0, "odd");
  EXPECT_EQ(text.reading.warnings.size(), kMaxWarnings + 1);
}

TEST(SourceReadingTest, TheResultIsWhatWasRead) {
  TextInReading text("x");
  text.reading.Warn(0, "odd");
  text.reading.bounds.push_back({"1:1", "bounded"});
  text.reading.temperature = 0.5F;
  IrBuilder& builder = text.reading.builder;
  const RuleId start = builder.DeclareRule("a", "1:1");
  builder.DefineRule(start, builder.Bytes("x"));
  text.reading.faults.emplace(start, InvalidAt("1:1", "none"));
  const absl::StatusOr<ReadResult> read = std::move(text.reading).Result(start);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->ir.rules[read->ir.start].name, "a");
  EXPECT_EQ(read->warnings.size(), 1U);
  EXPECT_EQ(read->bounds.size(), 1U);
  EXPECT_EQ(read->temperature, 0.5F);
  EXPECT_EQ(read->faults.size(), 1U);
}

TEST(SourceReadingTest, TheBuildersErrorIsTheResults) {
  Limits limits;
  limits.ir_nodes = 10;
  TextInReading text("x", limits);
  IrBuilder& builder = text.reading.builder;
  const RuleId start = builder.DeclareRule("a", "1:1");
  std::vector<NodeId> nodes;
  for (char c = 'a'; c <= 'z'; ++c) nodes.push_back(builder.Bytes(std::string(1, c)));
  builder.DefineRule(start, builder.Alt(nodes));
  EXPECT_EQ(std::move(text.reading).Result(start).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(SourceReadingTest, TheSizeOfCharactersIsBounded) {
  SourceGrammar grammar;
  const ExprId id = AddCharacters(grammar, 5, std::size_t{1} << 40, 3);
  const Expression& made = grammar.expressions[id];
  EXPECT_EQ(made.kind, ExprKind::kCharacters);
  EXPECT_EQ(made.a, 5U);
  EXPECT_EQ(made.at, 3U);
  EXPECT_GT(made.b, 1U << 30);
}

}  // namespace
}  // namespace maskd
