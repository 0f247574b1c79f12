#include "grammar_core/rows/kept_masks.h"

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

MaskRef NewMask() { return std::make_shared<const TokenMask>(TokenMask(64)); }

TEST(KeptMasksTest, OneMaskHasOneNumber) {
  KeptMasks kept;
  const MaskRef a = NewMask();
  const MaskRef b = NewMask();
  const KeptMasks::Kept first = kept.Keep(a);
  EXPECT_TRUE(first.is_new);
  EXPECT_NE(first.number, TermStore::kNoMask);
  EXPECT_EQ(*first.mask, a);
  const KeptMasks::Kept other = kept.Keep(b);
  EXPECT_NE(other.number, first.number);
  const KeptMasks::Kept again = kept.Keep(a);
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.number, first.number);
  EXPECT_EQ(again.mask, first.mask);
  EXPECT_EQ(kept.At(first.number), first.mask);
}

// There are more masks than numbers: each is kept, and a mask with a number keeps it.
TEST(KeptMasksTest, MasksBehindTheLastNumberAreKeptWithoutOne) {
  KeptMasks kept;
  std::vector<MaskRef> masks;
  for (std::uint32_t i = 0; i < KeptMasks::kMostNumbers + 10; ++i) masks.push_back(NewMask());
  std::set<KeptMasks::Number> numbers;
  for (std::uint32_t i = 0; i < masks.size(); ++i) {
    const KeptMasks::Kept one = kept.Keep(masks[i]);
    ASSERT_TRUE(one.is_new);
    ASSERT_EQ(*one.mask, masks[i]);
    ASSERT_EQ(one.number != TermStore::kNoMask, i < KeptMasks::kMostNumbers) << i;
    if (one.number == TermStore::kNoMask) continue;
    ASSERT_TRUE(numbers.insert(one.number).second);
    ASSERT_EQ(kept.At(one.number), one.mask);
  }
  EXPECT_EQ(numbers.size(), KeptMasks::kMostNumbers);
  EXPECT_FALSE(kept.Keep(masks.back()).is_new);
  EXPECT_EQ(kept.Keep(masks.back()).number, TermStore::kNoMask);
  EXPECT_GT(kept.held_bytes(), 0);
}

}  // namespace
}  // namespace maskd
