#include "grammar_core/base/saturating.h"

#include "gtest/gtest.h"

namespace maskd {
namespace {

TEST(SaturatingTest, IsExactBelowTheEnd) {
  EXPECT_EQ(SaturatingAdd(2, 3), 5U);
  EXPECT_EQ(SaturatingMul(2, 3), 6U);
  EXPECT_EQ(SaturatingAdd(kNoEnd - 2, 1), kNoEnd - 1);
  EXPECT_EQ(SaturatingMul(0xFFFF, 0xFFFF), 0xFFFE0001U);
}

TEST(SaturatingTest, StaysAtTheEnd) {
  EXPECT_EQ(SaturatingAdd(kNoEnd, 0), kNoEnd);
  EXPECT_EQ(SaturatingAdd(kNoEnd, kNoEnd), kNoEnd);
  EXPECT_EQ(SaturatingAdd(kNoEnd - 1, 2), kNoEnd);
  EXPECT_EQ(SaturatingMul(kNoEnd, 1), kNoEnd);
  EXPECT_EQ(SaturatingMul(0x10000, 0x10000), kNoEnd);
  EXPECT_EQ(SaturatingMul(kNoEnd, kNoEnd), kNoEnd);
}

TEST(SaturatingTest, NoEndTimesNothingIsNothing) {
  EXPECT_EQ(SaturatingMul(kNoEnd, 0), 0U);
  EXPECT_EQ(SaturatingMul(0, kNoEnd), 0U);
}

}  // namespace
}  // namespace maskd
