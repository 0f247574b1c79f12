// Widths and ends of nodes, against all their short texts.
#include "grammar_core/frontend/regex/character_facts.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/text_match.h"
#include "tests/regex/pattern_oracle.h"

namespace maskd {
namespace {

constexpr std::int64_t kMany = Widths::kMany;

TEST(WidthsTest, AddAlongASequence) {
  EXPECT_EQ((Widths{1, 2}.Then({3, 4})), (Widths{4, 6}));
  EXPECT_EQ((Widths{0, 0}.Then({3, 4})), (Widths{3, 4}));
  EXPECT_EQ((Widths{1, kMany}.Then({3, 4})), (Widths{4, kMany}));
  EXPECT_EQ((Widths{kMany, kMany}.Then({kMany, kMany})), (Widths{kMany, kMany}));
}

TEST(WidthsTest, AreTheHullOfAChoice) {
  EXPECT_EQ((Widths{1, 2}.Or({4, 4})), (Widths{1, 4}));
  EXPECT_EQ((Widths{4, kMany}.Or({1, 9})), (Widths{1, kMany}));
}

TEST(WidthsTest, MultiplyByRounds) {
  EXPECT_EQ((Widths{1, 2}.Times(2, 3)), (Widths{2, 6}));
  EXPECT_EQ((Widths{1, 1}.Times(0, kUnbounded)), (Widths{0, kMany}));
  EXPECT_EQ((Widths{0, 0}.Times(5, kUnbounded)), (Widths{0, 0}));
  EXPECT_EQ((Widths{0, 1}.Times(5, 5)), (Widths{0, 5}));
  EXPECT_EQ((Widths{2, kMany}.Times(0, 0)), (Widths{0, 0}));
  EXPECT_EQ((Widths{2, kMany}.Times(3, 3)), (Widths{6, kMany}));
  // 2^20 times 2^21 is past the bound; twice the most rounds is not.
  EXPECT_EQ((Widths{1 << 20, 1 << 20}.Times(1 << 21, 1 << 21)), (Widths{kMany, kMany}));
  EXPECT_EQ((Widths{2, 2}.Times(1, 0x7FFFFFFF)), (Widths{2, 0xFFFFFFFE}));
}

TEST(WidthsTest, AreFixedWhereAllTextsAreOfOneLength) {
  EXPECT_TRUE((Widths{3, 3}.fixed()));
  EXPECT_FALSE((Widths{2, 3}.fixed()));
  EXPECT_FALSE((Widths{kMany, kMany}.fixed()));
  EXPECT_TRUE((Widths{2, kMany - 1}.bounded()));
  EXPECT_FALSE((Widths{2, kMany}.bounded()));
}

class CharacterFactsTest : public testing::Test {
 protected:
  NodeId Chars(std::uint32_t lo, std::uint32_t hi) { return builder_.Chars(CharSet({{lo, hi}})); }

  // A node of some operators over the letters a, b and c.
  NodeId RandomNode(int size) {
    constexpr std::uint32_t kCounts[][2] = {
        {0, 1}, {0, kUnbounded}, {1, 2}, {2, 2}, {2, kUnbounded}};
    if (size <= 1) {
      switch (random_() % 6) {
        case 0:
          return builder_.Empty();
        case 1:
          return builder_.Text("ab");
        case 2:
          return builder_.TextSet({"a", "bc", "caa"});
        case 3:
          return builder_.AnyChar();
        default:
          return Chars('a', 'a' + random_() % 3);
      }
    }
    const NodeId x = RandomNode((size - 1) / 2);
    const NodeId y = RandomNode(size - 1 - (size - 1) / 2);
    const auto& counts = kCounts[random_() % 5];
    switch (random_() % 7) {
      case 0:
        return builder_.Alt({x, y});
      case 1:
        return builder_.And({x, y});
      case 2:
        return builder_.Concat({builder_.Not(x), y});
      case 3:
        return builder_.Repeat(builder_.Concat({x, y}), counts[0], counts[1]);
      case 4:
        return builder_.Concat({x, builder_.Repeat(y, counts[0], counts[1])});
      default:
        return builder_.Concat({x, y});
    }
  }

  bool Has(NodeId node, const std::u32string& text) {
    Budget budget = Budget::Unlimited();
    return *MatchesText(builder_.ir(), node, text, budget);
  }

  Limits limits_;
  IrBuilder builder_{limits_};
  Budget budget_ = Budget::Unlimited();
  CharacterFacts facts_{&builder_, &budget_};
  std::mt19937_64 random_{26};
};

TEST_F(CharacterFactsTest, EveryTextKeepsToTheBounds) {
  const std::vector<std::u32string> texts = TextsOver(U"abc", 4);
  int matches = 0;
  for (int round = 0; round < 1500; ++round) {
    const NodeId node = RandomNode(1 + round % 9);
    const Widths widths = facts_.WidthsOf(node);
    const CharSet first = facts_.CharsAt(TextEdge::kFirst, node);
    const CharSet last = facts_.CharsAt(TextEdge::kLast, node);
    for (const std::u32string& text : texts) {
      if (!Has(node, text)) continue;
      ++matches;
      const auto size = static_cast<std::int64_t>(text.size());
      ASSERT_TRUE(widths.min <= size && size <= widths.max) << round << ": " << size;
      ASSERT_TRUE(text.empty() || first.Contains(text.front())) << round;
      ASSERT_TRUE(text.empty() || last.Contains(text.back())) << round;
    }
  }
  EXPECT_GT(matches, 10'000);
}

TEST_F(CharacterFactsTest, BoundsOfSimpleNodesAreMet) {
  const NodeId ab = builder_.Text("ab");
  const NodeId set = builder_.TextSet({"x", "yzz"});
  EXPECT_EQ(facts_.WidthsOf(builder_.Empty()), (Widths{0, 0}));
  EXPECT_EQ(facts_.WidthsOf(builder_.AnyChar()), (Widths{1, 1}));
  EXPECT_EQ(facts_.WidthsOf(builder_.Text("é😀")), (Widths{2, 2}));
  EXPECT_EQ(facts_.WidthsOf(set), (Widths{1, 3}));
  EXPECT_EQ(facts_.WidthsOf(builder_.Concat({ab, set})), (Widths{3, 5}));
  EXPECT_EQ(facts_.WidthsOf(builder_.Repeat(ab, 2, kUnbounded)), (Widths{4, kMany}));
  EXPECT_EQ(facts_.WidthsOf(builder_.Not(ab)), (Widths{0, kMany}));
  EXPECT_EQ(facts_.WidthsOf(builder_.And({builder_.Repeat(Chars('a', 'b'), 1, 5),
                                          builder_.Repeat(Chars('b', 'c'), 3, kUnbounded)})),
            (Widths{3, 5}));
}

TEST_F(CharacterFactsTest, EndsSeeThroughWhatMayBeEmpty) {
  const NodeId node =
      builder_.Concat({builder_.Optional(Chars('a', 'a')), builder_.Repeat(Chars('b', 'b'), 0, 3),
                       Chars('c', 'd'), builder_.Optional(builder_.Text("xy"))});
  EXPECT_EQ(facts_.CharsAt(TextEdge::kFirst, node), CharSet({{'a', 'd'}}));
  EXPECT_EQ(facts_.CharsAt(TextEdge::kLast, node), CharSet({{'c', 'd'}, {'y', 'y'}}));
  EXPECT_EQ(facts_.CharsAt(TextEdge::kFirst, builder_.TextSet({"xa", "yb", "x"})),
            CharSet({{'x', 'y'}}));
  EXPECT_TRUE(facts_.CharsAt(TextEdge::kFirst, builder_.Empty()).empty());
  EXPECT_TRUE(facts_.CharsAt(TextEdge::kLast, builder_.Nothing()).empty());
}

TEST_F(CharacterFactsTest, ANodeIsLookedAtOnce) {
  const NodeId node = builder_.Concat({builder_.Not(builder_.Text("ab")), Chars('x', 'y')});
  facts_.WidthsOf(node);
  facts_.CharsAt(TextEdge::kFirst, node);
  const std::int64_t spent = budget_.spent();
  EXPECT_GT(spent, 0);
  EXPECT_EQ(facts_.WidthsOf(node), (Widths{1, kMany}));
  EXPECT_EQ(facts_.CharsAt(TextEdge::kFirst, node), CharSet::All());
  EXPECT_EQ(budget_.spent(), spent);
}

TEST_F(CharacterFactsTest, TheEndOfTheBudgetEndsTheLook) {
  std::vector<NodeId> parts;
  for (std::uint32_t i = 0; i < 50; ++i) parts.push_back(builder_.Not(Chars(i, i + 1)));
  const NodeId node = builder_.Concat(parts);
  for (std::int64_t work = 0; work < 200; work += 7) {
    Budget small(Budget::Bounds{.work = work});
    CharacterFacts facts(&builder_, &small);
    facts.CharsAt(TextEdge::kLast, node);
    EXPECT_FALSE(small.Spend(1000).ok());
  }
}

}  // namespace
}  // namespace maskd
