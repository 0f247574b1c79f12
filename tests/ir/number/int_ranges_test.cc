#include "grammar_core/ir/number/int_ranges.h"

#include "gtest/gtest.h"

namespace maskd {
namespace {

bool Holds(IntRange range, std::int64_t x) { return range.lo <= x && x <= range.hi; }

TEST(IntRanges, InfinityStaysWhereItIs) {
  EXPECT_EQ(Shifted(kMinusInfinity, 5), kMinusInfinity);
  EXPECT_EQ(Shifted(kMinusInfinity, -5), kMinusInfinity);
  EXPECT_EQ(Shifted(kPlusInfinity, 5), kPlusInfinity);
  EXPECT_EQ(Shifted(kPlusInfinity, -5), kPlusInfinity);
}

TEST(IntRanges, BothEndsAreShifted) {
  EXPECT_EQ(Shifted(IntRange{-2, 7}, -5), (IntRange{-7, 2}));
  EXPECT_EQ(Shifted(IntRange{kMinusInfinity, 7}, 3), (IntRange{kMinusInfinity, 10}));
  EXPECT_EQ(Shifted(IntRange{-2, kPlusInfinity}, 3), (IntRange{1, kPlusInfinity}));
}

// Every two ranges within [0, 4], empty ones among them, number by number.
TEST(IntRanges, CommonHoldsWhatBothHold) {
  for (int i = 0; i < 625; ++i) {
    const IntRange x = {i % 5, i / 5 % 5};
    const IntRange y = {i / 25 % 5, i / 125};
    bool any = false;
    for (std::int64_t n = -1; n <= 5; ++n) {
      const bool both = Holds(x, n) && Holds(y, n);
      EXPECT_EQ(Holds(Common(x, y), n), both) << x.lo << x.hi << y.lo << y.hi << " " << n;
      any = any || both;
    }
    EXPECT_EQ(Overlap(x, y), any) << x.lo << x.hi << y.lo << y.hi;
  }
}

TEST(IntRanges, InfiniteRangesHaveCommonParts) {
  const IntRange below = {kMinusInfinity, 3};
  const IntRange above = {3, kPlusInfinity};
  EXPECT_EQ(Common(below, above), (IntRange{3, 3}));
  EXPECT_TRUE(Overlap(below, above));
  EXPECT_FALSE(Overlap(below, Shifted(above, 1)));
}

}  // namespace
}  // namespace maskd
