#include "grammar_core/mask_routes/most_chars_needed.h"

#include <optional>

#include "gtest/gtest.h"

#include "grammar_core/terms/term_store.h"
#include "tests/automaton/character_terms.h"

namespace maskd {
namespace {

// Of what `make` makes of a builder, in characters.
template <typename Make>
std::optional<std::uint32_t> LongestOf(Make make) {
  IrBuilder b{Limits()};
  const NodeId node = make(b);
  CharacterTerms terms(b, node);
  return MostCharsNeeded(*terms.store(), terms.Lower(node));
}

NodeId Letter(IrBuilder& b) { return b.Chars(CharSet({{'a', 'z'}})); }

// What is left of a text is never more than all of it.
TEST(MostCharsNeeded, OfATextIsItsLength) {
  EXPECT_EQ(LongestOf([](IrBuilder& b) { return b.Text("h\xc3\xa9llo"); }), 5);
}

// Within x{0,} nothing is needed, within (xx){0,} one more: the bound may be one unit above.
TEST(MostCharsNeeded, OfWhatMayEndAnywhereIsAtMostOneBody) {
  const auto bound = LongestOf([](IrBuilder& b) { return b.Repeat(Letter(b), 0, kUnbounded); });
  ASSERT_TRUE(bound.has_value());
  EXPECT_LE(*bound, 1);
}

// x{2,7} needs two at its beginning.
TEST(MostCharsNeeded, OfARepeatIsNoLessThanItsFewest) {
  const auto bound = LongestOf([](IrBuilder& b) { return b.Repeat(Letter(b), 2, 7); });
  ASSERT_TRUE(bound.has_value());
  EXPECT_GE(*bound, 2);
  EXPECT_LT(*bound, 7);
}

// Behind the first character of x{0,3} "42" two are left, as at its beginning.
TEST(MostCharsNeeded, OfASequenceCountsItsTail) {
  const auto bound =
      LongestOf([](IrBuilder& b) { return b.Concat({b.Repeat(Letter(b), 0, 3), b.Text("42")}); });
  ASSERT_TRUE(bound.has_value());
  EXPECT_GE(*bound, 2);
  EXPECT_LE(*bound, 3);
}

// The choice is over once its first character is read, and may have been for the longest.
TEST(MostCharsNeeded, OfAChoiceIsThatOfTheLongest) {
  const auto bound =
      LongestOf([](IrBuilder& b) { return b.Alt({b.Repeat(Letter(b), 0, 3), b.Text("12345")}); });
  ASSERT_TRUE(bound.has_value());
  EXPECT_GE(*bound, 4);
  EXPECT_LE(*bound, 5);
}

TEST(MostCharsNeeded, OfAnIntersectionIsNotPlainToSee) {
  EXPECT_EQ(LongestOf([](IrBuilder& b) {
              return b.And({b.Repeat(Letter(b), 0, 9), b.Not(b.Text("abc"))});
            }),
            std::nullopt);
}

}  // namespace
}  // namespace maskd
