// Memory that is handed out side by side, and how much of it lies idle.
#include "grammar_core/base/tight_blocks.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/tight_vector.h"

namespace maskd {
namespace {

TEST(TightBlocksTest, NothingLiesOnAnythingElseAndLittleLiesIdle) {
  std::mt19937 random(11);
  TightBlocks<std::uint32_t> blocks;
  std::vector<std::span<std::uint32_t>> taken;
  std::size_t words = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    // Few are long: their ends are what may be left over.
    const std::size_t count = 1 + (random() % 8 == 0 ? random() % 200 : random() % 8);
    taken.emplace_back(blocks.Allocate(count), count);
    for (std::uint32_t& word : taken.back()) word = i;
    words += count;
    ASSERT_GE(blocks.held_words(), words);
  }
  for (std::uint32_t i = 0; i < taken.size(); ++i)
    for (const std::uint32_t word : taken[i]) ASSERT_EQ(word, i);
  EXPECT_LT(blocks.held_words(), words + words / 10);
  EXPECT_GE(blocks.held_bytes(), static_cast<std::int64_t>(4 * blocks.held_words()));
}

TEST(TightBlocksTest, AThingLargerThanABlockHasOne) {
  TightBlocks<std::uint64_t> blocks;
  std::uint64_t* const large = blocks.Allocate(1'000'000);
  large[999'999] = 7;
  blocks.Allocate(1)[0] = 9;
  EXPECT_EQ(large[999'999], 7);
}

TEST(TightVectorTest, HoldsWhatWasAppendedAndAnEighth) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    EXPECT_EQ(AppendTight(&numbers, i), i);
    ASSERT_LE(numbers.capacity(), numbers.size() + numbers.size() / 8 + 16);
  }
  for (std::uint32_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i);
}

}  // namespace
}  // namespace maskd
