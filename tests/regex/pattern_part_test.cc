// What parts say of the look-around in them, as LookAround makes them.
#include "grammar_core/frontend/regex/pattern_part.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/frontend/regex/look_around.h"

namespace maskd {
namespace {

class PatternPartTest : public testing::Test {
 protected:
  PatternPart Letter(char letter) {
    return {algebra_.Chars(CharSet::One(static_cast<unsigned char>(letter)))};
  }
  PatternPart Look(Side side, const PatternPart& body, std::size_t at = 0) {
    return *looks_.Look(side, false, body, at);
  }
  PatternPart Sequence(PatternPart x, PatternPart y) {
    std::vector<PatternPart> parts;
    parts.push_back(std::move(x));
    parts.push_back(std::move(y));
    return looks_.Sequence(std::move(parts));
  }

  Limits limits_;
  Budget budget_ = Budget::Unlimited();
  IrBuilder builder_{limits_};
  ContextAlgebra algebra_{&builder_};
  PatternCursor cursor_{"the pattern", ""};
  LookAround looks_{&builder_, &algebra_, &cursor_, limits_, &budget_};
};

TEST_F(PatternPartTest, PlainPartsLookNowhere) {
  const PatternPart plain = Sequence(Letter('a'), Letter('b'));
  EXPECT_TRUE(plain.plain());
  EXPECT_FALSE(plain.is_look());
  EXPECT_FALSE(plain.looks(Side::kAhead));
  EXPECT_FALSE(plain.looks(Side::kBehind));
}

TEST_F(PatternPartTest, ALookIsOfItsSide) {
  const PatternPart ahead = Look(Side::kAhead, Letter('a'), 7);
  EXPECT_FALSE(ahead.plain());
  EXPECT_TRUE(ahead.is_look());
  EXPECT_TRUE(ahead.looks(Side::kAhead));
  EXPECT_FALSE(ahead.looks(Side::kBehind));
  EXPECT_EQ(ahead.looking->at, 7U);
  EXPECT_EQ(ahead.looking->widths, (Widths{0, 0}));
  EXPECT_EQ(ahead.looking->reach, 1);
  const PatternPart behind = Look(
      Side::kBehind, PatternPart{algebra_.Sequence({algebra_.TextBegin(), algebra_.Anything()})});
  EXPECT_TRUE(behind.plain()) << "anything stands behind any place";
  EXPECT_TRUE(Look(Side::kBehind, Letter('a')).looks(Side::kBehind));
}

TEST_F(PatternPartTest, WhatIsAboveALookLooksToItsSides) {
  const PatternPart one = Sequence(Letter('a'), Look(Side::kAhead, Letter('b')));
  EXPECT_FALSE(one.plain() || one.is_look());
  EXPECT_TRUE(one.looks(Side::kAhead));
  EXPECT_FALSE(one.looks(Side::kBehind));
  EXPECT_EQ(one.looking->kind, LookingPart::Kind::kSequence);
  EXPECT_EQ(one.looking->widths, (Widths{1, 1}));
  std::vector<PatternPart> ways;
  ways.push_back(Sequence(Letter('a'), Look(Side::kAhead, Letter('b'))));
  ways.push_back(Sequence(Look(Side::kBehind, Letter('b')), Sequence(Letter('a'), Letter('a'))));
  const PatternPart both = looks_.Alternatives(std::move(ways));
  EXPECT_TRUE(both.looks(Side::kAhead) && both.looks(Side::kBehind));
  EXPECT_EQ(both.looking->widths, (Widths{1, 2}));
}

TEST_F(PatternPartTest, ARepeatKeepsItsCountsAndCharacters) {
  const PatternPart rounds =
      *looks_.Repeat(Sequence(Letter('a'), Look(Side::kAhead, Letter('b'))), 2, 5, 3);
  ASSERT_FALSE(rounds.plain());
  EXPECT_EQ(rounds.looking->kind, LookingPart::Kind::kRepeat);
  EXPECT_EQ(rounds.looking->min, 2U);
  EXPECT_EQ(rounds.looking->max, 5U);
  EXPECT_EQ(rounds.looking->at, 3U);
  EXPECT_EQ(rounds.looking->widths, (Widths{2, 5}));
  EXPECT_EQ(rounds.looking->characters, CharSet::One('a'));
}

// "(?=b)bc" is decided by what stands beside it: no more than "bc".
TEST_F(PatternPartTest, ALookThatIsDecidedBesideItIsPlain) {
  const PatternPart decided =
      Sequence(Look(Side::kAhead, Letter('b')), Sequence(Letter('b'), Letter('c')));
  EXPECT_TRUE(decided.plain());
}

}  // namespace
}  // namespace maskd
