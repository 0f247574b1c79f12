// Bounds of a count: the languages are compared round by round, by derivatives of each term.
#include "grammar_core/automaton/count_bounds.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

#include "tests/automaton/character_terms.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

// Up to `most` words of letters, each with a space behind it.
NodeId WordsOf(IrBuilder& b, std::uint32_t most) {
  const NodeId letters = b.Repeat(b.Chars(CharSet({{'a', 'z'}})), 1, kUnbounded);
  return b.Repeat(b.Concat({letters, b.Text(" ")}), 0, most);
}

class CountBoundsTest : public testing::Test {
 protected:
  // What `node`, of `b`, is.
  void Make(IrBuilder& b, NodeId node) {
    terms_.emplace(b, node);
    term_ = terms_->Lower(node);
    bounds_ = BoundCounts(terms_->store(), term_);
  }

  bool Holds(CharTerm term, const std::u32string& text) {
    for (const char32_t character : text) {
      const CharEdge* const edge =
          FindEdge(terms_->derivative()->Edges(term, terms_->work()), character);
      if (edge == nullptr) return false;
      term = edge->to;
    }
    return terms_->store()->term(term).nullable;
  }

  std::optional<CharacterTerms> terms_;
  CharTerm term_ = kNothingTerm;
  std::optional<CountBounds> bounds_;
};

std::u32string Rounds(int count) {
  std::u32string text;
  for (int i = 0; i < count; ++i) text += U"ab ";
  return text;
}

TEST_F(CountBoundsTest, TheTermIsBetweenThem) {
  IrBuilder b{Limits()};
  Make(b, WordsOf(b, 93));
  ASSERT_TRUE(bounds_.has_value());
  for (int rounds = 0; rounds <= 100; ++rounds) {
    EXPECT_EQ(Holds(term_, Rounds(rounds)), rounds <= 93) << rounds;
    EXPECT_TRUE(Holds(bounds_->more, Rounds(rounds))) << rounds;
    if (rounds > 93) EXPECT_FALSE(Holds(bounds_->fewer, Rounds(rounds))) << rounds;
  }
  EXPECT_TRUE(Holds(bounds_->fewer, Rounds(1)));
  EXPECT_FALSE(Holds(bounds_->fewer, Rounds(93))) << "no simpler than the term";
  EXPECT_FALSE(Holds(bounds_->more, U"ab"));
}

// So one pair serves all the states of a long count.
TEST_F(CountBoundsTest, LongCountsShareThem) {
  IrBuilder b{Limits()};
  const NodeId one_less = WordsOf(b, 92);
  Make(b, b.Alt({WordsOf(b, 93), one_less}));
  const auto bounds = BoundCounts(terms_->store(), terms_->Lower(one_less));
  ASSERT_TRUE(bounds.has_value() && bounds_.has_value());
  EXPECT_EQ(bounds->fewer, bounds_->fewer);
  EXPECT_EQ(bounds->more, bounds_->more);
}

TEST_F(CountBoundsTest, WhatIsNeededStays) {
  IrBuilder b{Limits()};
  Make(b, b.Concat({WordsOf(b, 93), b.Text("end")}));
  ASSERT_TRUE(bounds_.has_value());
  for (const CharTerm bound : {bounds_->fewer, bounds_->more}) {
    EXPECT_FALSE(Holds(bound, U"ab "));
    EXPECT_TRUE(Holds(bound, U"ab end"));
  }
}

TEST_F(CountBoundsTest, ASmallCountHasNone) {
  IrBuilder b{Limits()};
  Make(b, WordsOf(b, 3));
  EXPECT_EQ(bounds_, std::nullopt);
}

// A walk meets few states there.
TEST_F(CountBoundsTest, ACountOfSingleCharactersHasNone) {
  IrBuilder b{Limits()};
  Make(b, b.Repeat(b.Chars(CharSet({{'a', 'z'}})), 1, 200));
  EXPECT_EQ(bounds_, std::nullopt);
}

// A complement grows where its part shrinks.
TEST_F(CountBoundsTest, ACountBelowAComplementIsKept) {
  IrBuilder b{Limits()};
  Make(b, b.And({b.Not(WordsOf(b, 93)), b.Repeat(b.AnyChar(), 1, kUnbounded)}));
  EXPECT_EQ(bounds_, std::nullopt);
}

}  // namespace
}  // namespace maskd
