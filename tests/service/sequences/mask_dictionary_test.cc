#include "service/sequences/mask_dictionary.h"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace maskd::service {
namespace {

constexpr int kVocabulary = 400;  // of 13 words

TokenMask RandomMask(std::mt19937& random, int likely) {
  TokenMask mask(kVocabulary);
  for (TokenId id = 0; id < kVocabulary; ++id)
    if (static_cast<int>(random() % 100) < likely) mask.Allow(id);
  return mask;
}

// `mask` with up to `most` tokens more or less, anywhere.
TokenMask Changed(const TokenMask& mask, int most, std::mt19937& random) {
  TokenMask changed(mask);
  for (auto left = random() % static_cast<unsigned>(most + 1); left > 0; --left) {
    const auto id = static_cast<TokenId>(random() % kVocabulary);
    changed.Allows(id) ? changed.Forbid(id) : changed.Allow(id);
  }
  return changed;
}

std::vector<std::int32_t> WordsOf(const TokenMask& mask) {
  const TokenMask copy(mask);
  return {copy.words().begin(), copy.words().end()};
}

int CountOtherWords(const TokenMask& a, const TokenMask& b) {
  const std::vector<std::int32_t> mine = WordsOf(a);
  const std::vector<std::int32_t> others = WordsOf(b);
  int count = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) count += mine[i] != others[i];
  return count;
}

// What a client has in each slot, and what each is worth: a plain loop over all of them.
class Slots {
 public:
  explicit Slots(std::size_t count) : count_(count) {}

  // Where the mask goes: the first slot that is free, else one of those worth least.
  std::size_t Put(const TokenMask& mask, std::int64_t cost) {
    std::size_t at = masks_.size();
    if (at == count_) {
      at = 0;
      for (std::size_t i = 1; i < count_; ++i)
        if (worth_[i] < worth_[at]) at = i;
      last_gone_ = worth_[at];
    } else {
      masks_.push_back(mask);
      worth_.push_back(0);
      costs_.push_back(0);
    }
    masks_[at] = mask;
    costs_[at] = cost;
    worth_[at] = last_gone_ + cost;
    return at;
  }
  void Touch(std::size_t at) { worth_[at] = last_gone_ + costs_[at]; }
  [[nodiscard]] const std::vector<TokenMask>& masks() const { return masks_; }

 private:
  const std::size_t count_;
  std::vector<TokenMask> masks_;
  std::vector<std::int64_t> costs_;
  std::vector<std::int64_t> worth_;
  std::int64_t last_gone_ = 0;
};

void ExpectNearest(const MaskDictionary& dictionary, const Slots& slots, const TokenMask& mask,
                   int max_words, bool looks_at_all) {
  int best = -1;
  for (const TokenMask& other : slots.masks())
    if (const int words = CountOtherWords(other, mask); best < 0 || words < best) best = words;
  const auto delta = dictionary.FindNearest(mask, mask.CountAllowed(), max_words);
  if (!delta.has_value()) {
    EXPECT_FALSE(looks_at_all && best >= 0 && best <= max_words) << best << " words would do";
    return;
  }
  // Read as a client reads it.
  const auto base = static_cast<std::size_t>(delta->base);
  ASSERT_LT(base, slots.masks().size());
  ASSERT_EQ(delta->words.size(), delta->word_indices.size());
  EXPECT_LE(std::ssize(delta->words), max_words);
  std::vector<std::int32_t> read = WordsOf(slots.masks()[base]);
  for (std::size_t i = 0; i < delta->words.size(); ++i) {
    if (i > 0) EXPECT_LT(delta->word_indices[i - 1], delta->word_indices[i]);
    ASSERT_LT(delta->word_indices[i], read.size());
    read[delta->word_indices[i]] = static_cast<std::int32_t>(delta->words[i]);
  }
  EXPECT_EQ(read, WordsOf(mask));
  EXPECT_EQ(std::ssize(delta->words), CountOtherWords(slots.masks()[base], mask));
  if (looks_at_all) EXPECT_EQ(std::ssize(delta->words), best);
}

class MaskDictionaryTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Slots, MaskDictionaryTest, testing::Values(1, 2, 7, 16, 50),
                         testing::PrintToStringParamName());

// Up to 16 slots are all compared with; where there are more the nearest may be missed.
TEST_P(MaskDictionaryTest, KeepsAndFindsWhatAPlainLoopWould) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  MaskDictionary dictionary(GetParam());
  Slots slots(static_cast<std::size_t>(GetParam()));
  int replaced = 0;
  std::vector<TokenMask> kinds;
  for (int likely = 0; likely <= 100; likely += 20) kinds.push_back(RandomMask(random, likely));
  for (int i = 0; i < 1500; ++i) {
    const TokenMask mask = Changed(kinds[random() % kinds.size()], 12, random);
    ExpectNearest(dictionary, slots, mask, static_cast<int>(random() % 14), GetParam() <= 16);
    if (random() % 3 == 0 && !slots.masks().empty()) {
      const std::size_t used = random() % slots.masks().size();
      dictionary.Touch(static_cast<int>(used));
      slots.Touch(used);
    }
    const auto cost = static_cast<std::int64_t>(random() % 50);
    const auto place = dictionary.Put(StoreMask(mask), mask.CountAllowed(), cost);
    const bool was_full = std::ssize(slots.masks()) == GetParam();
    EXPECT_EQ(place.replaced, was_full);
    ASSERT_EQ(place.slot, static_cast<int>(slots.Put(mask, cost))) << "mask " << i;
    replaced += place.replaced ? 1 : 0;
  }
  EXPECT_EQ(replaced, 1500 - GetParam());
}

TEST(MaskDictionaryTest, AnEqualMaskDiffersInNoWord) {
  std::mt19937 random(3);
  const TokenMask mask = RandomMask(random, 50);
  MaskDictionary dictionary(2);
  EXPECT_FALSE(dictionary.FindNearest(mask, mask.CountAllowed(), 13).has_value());
  dictionary.Put(StoreMask(mask), mask.CountAllowed(), 100);
  const auto delta = dictionary.FindNearest(mask, mask.CountAllowed(), 0);
  ASSERT_TRUE(delta.has_value());
  EXPECT_EQ(delta->base, 0);
  EXPECT_TRUE(delta->words.empty());
}

// A client has the mask still when the grammar that made it is gone.
TEST(MaskDictionaryTest, AMaskLivesAsLongAsItsSlotHasIt) {
  MaskDictionary dictionary(1);
  std::weak_ptr<const TokenMask> kept;
  {
    const MaskRef mask = StoreMask(TokenMask(kVocabulary));
    kept = mask;
    dictionary.Put(mask, 0, 1);
  }
  EXPECT_FALSE(kept.expired());
  dictionary.Put(StoreMask(TokenMask(kVocabulary)), 0, 1);
  EXPECT_TRUE(kept.expired());
}

}  // namespace
}  // namespace maskd::service
