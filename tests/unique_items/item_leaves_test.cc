// Leaves of items: JSON Schema says which values are equal, the rows say it by example.
#include "grammar_core/unique_items/item_leaves.h"

#include "gtest/gtest.h"

namespace maskd {
namespace {

TEST(ItemLeavesTest, NumbersOfEqualValueAreOneLeaf) {
  for (const char* one : {"1", "1.0", "1.000", "1e0", "10e-1", "0.1E+1"})
    EXPECT_EQ(NumberLeaf(one), NumberLeaf("1")) << one;
  for (const char* other : {"-1", "10", "1.01", "0", "1e1"})
    EXPECT_NE(NumberLeaf(other), NumberLeaf("1")) << other;
  EXPECT_EQ(NumberLeaf("-0"), NumberLeaf("0.00"));
}

TEST(ItemLeavesTest, ANumberMayBecomeWhatItBegins) {
  for (const char* part : {"1", "12", "12.", "12.5", "1.25e"})
    EXPECT_TRUE(MayBecomeNumber(part, NumberLeaf("12.5"))) << part;
  EXPECT_FALSE(MayBecomeNumber("-1", NumberLeaf("12.5")));
}

TEST(ItemLeavesTest, APathIsBelowItsContainersOnly) {
  const std::string a = std::string(1, kMember) + "a";
  const std::string element = a + kElement + "1";
  EXPECT_TRUE(IsAtOrBelow(a, a));
  EXPECT_TRUE(IsAtOrBelow(element, a));
  EXPECT_TRUE(IsAtOrBelow(element, ""));
  EXPECT_FALSE(IsAtOrBelow(a, element));
  EXPECT_FALSE(IsAtOrBelow(a + "b", a));
  EXPECT_FALSE(IsAtOrBelow(element + "0", element));
}

}  // namespace
}  // namespace maskd
