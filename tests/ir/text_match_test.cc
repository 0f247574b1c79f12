// Known texts against nodes of characters: what matches, and what it costs.
#include "grammar_core/ir/text_match.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

class TextMatchTest : public testing::Test {
 protected:
  bool Matches(NodeId node, const std::u32string& text) {
    Budget budget = Budget::Unlimited();
    return *MatchesText(builder_.ir(), node, text, budget);
  }

  NodeId Chars(std::uint32_t lo, std::uint32_t hi) { return builder_.Chars(CharSet({{lo, hi}})); }

  Limits limits_;
  IrBuilder builder_{limits_};
};

TEST_F(TextMatchTest, EachOperatorIsItsDefinition) {
  const NodeId letters = builder_.Repeat(Chars('a', 'c'), 0, kUnbounded);
  const NodeId no_b = builder_.Not(
      builder_.Concat({builder_.Repeat(builder_.AnyChar(), 0, kUnbounded), builder_.Text("b"),
                       builder_.Repeat(builder_.AnyChar(), 0, kUnbounded)}));
  const NodeId both = builder_.And({letters, no_b});
  const NodeId set = builder_.TextSet({"b", "bb"});
  EXPECT_TRUE(Matches(both, U""));
  EXPECT_TRUE(Matches(both, U"acca"));
  EXPECT_FALSE(Matches(both, U"aba"));
  EXPECT_FALSE(Matches(both, U"ad"));
  EXPECT_TRUE(Matches(builder_.Concat({both, set, both}), U"acbbc"));
  EXPECT_FALSE(Matches(builder_.Concat({both, set, both}), U"acbbbc"));
  EXPECT_TRUE(Matches(builder_.Repeat(set, 2, 2), U"bbb"));
  EXPECT_FALSE(Matches(builder_.Repeat(set, 2, 2), U"bbbbb"));
  EXPECT_FALSE(Matches(builder_.Nothing(), U""));
}

// An And in a repeated And in another: each once for each place, not for each way to get there.
TEST_F(TextMatchTest, NestedIntersectionsCostTheirShareOnceForEachPlace) {
  NodeId node = Chars('a', 'b');
  for (int depth = 0; depth < 12; ++depth)
    node = builder_.And({builder_.Repeat(node, 1, 3), builder_.Not(builder_.Text("z"))});
  const std::u32string text(16, U'a');
  Budget budget = Budget::Unlimited();
  EXPECT_TRUE(*MatchesText(builder_.ir(), node, text, budget));
  const auto nodes = static_cast<std::int64_t>(builder_.ir().nodes.size());
  EXPECT_LT(budget.spent(), 4 * nodes * 17 * 17);
}

TEST_F(TextMatchTest, TheBudgetEndsIt) {
  const NodeId node = builder_.Repeat(builder_.Not(builder_.Text("a")), 5, 9);
  Budget budget(Budget::Bounds{.work = 10});
  EXPECT_EQ(MatchesText(builder_.ir(), node, std::u32string(50, U'b'), budget).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
