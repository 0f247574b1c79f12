#include "grammar_core/mask/bit_words.h"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

using Words = std::vector<std::int32_t>;

class HashWordsTest : public testing::TestWithParam<int> {};

TEST_P(HashWordsTest, EveryBitCounts) {
  std::mt19937_64 random(1);
  for (const bool empty : {true, false}) {
    Words words(static_cast<std::size_t>(GetParam()));
    for (std::int32_t& word : words) word = empty ? 0 : static_cast<std::int32_t>(random());
    std::set<std::uint64_t> hashes = {HashWords(words)};
    EXPECT_EQ(HashWords(Words(words)), *hashes.begin()) << "equal words, equal hash";
    for (std::int32_t& word : words) {
      for (int bit = 0; bit < 32; ++bit) {
        word ^= static_cast<std::int32_t>(1U << bit);
        hashes.insert(HashWords(words));
        word ^= static_cast<std::int32_t>(1U << bit);
      }
    }
    EXPECT_EQ(hashes.size(), words.size() * 32 + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, HashWordsTest, testing::Values(1, 15, 16, 17, 31, 32, 33, 500));

TEST(HashWordsTest, ThePlaceOfABlockCounts) {
  std::set<std::uint64_t> hashes;
  for (std::size_t at = 0; at < 64; ++at) {
    Words words(64 * 16);
    for (std::size_t i = 0; i < 16; ++i) words[at * 16 + i] = 77;
    hashes.insert(HashWords(words));
  }
  EXPECT_EQ(hashes.size(), 64U);
}

TEST(AnyBitTest, AnEmptySpanHasNone) {
  EXPECT_FALSE(AnyBit(Words()));
  EXPECT_FALSE(AnyBit(Words(100)));
  EXPECT_TRUE(AnyBit(Words(1, INT32_MIN)));
}

}  // namespace
}  // namespace maskd
