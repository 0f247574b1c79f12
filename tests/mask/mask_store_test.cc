// What a store of masks holds: it is counted, bounded by bytes, and dropped when asked to; masks in
// use stay with their users.
#include "grammar_core/mask/mask_store.h"

#include <bitset>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "grammar_core/mask/token_index.h"
#include "grammar_core/tokenizer/loader.h"

namespace maskd {
namespace {

constexpr std::int64_t kMaxBytes = 1 << 18;

class MaskStoreTest : public testing::Test {
 protected:
  // A mask that is another one for each number.
  MaskRef Number(unsigned number) {
    TokenMask mask(vocabulary_->size());
    for (TokenId bit = 0; bit < 32; ++bit)
      if ((number >> bit & 1U) != 0) mask.Allow(7 * bit);
    return store_.Intern(std::move(mask));
  }

  // Has every table hold something.
  void Fill() {
    const MaskRef within = store_.TokensWithin({.ascii = AsciiBits().set('a')});
    const MaskRef mask = store_.Assemble({{within, Number(3)}, {}, {5}});
    store_.Settle(Hash128{1, 2}, mask);
    CandidateClass candidates;
    candidates.holds_any_of.set('"');
    store_.TrieOf(candidates);
    store_.PutExits(Hash128{3, 4}, std::make_shared<const Exits>(
                                       Exits{{1, 2}, TokenTrie(std::span<TokenTrie::Entry>())}));
    store_.RunsOf(std::bitset<256>().set('x'));
  }

  std::shared_ptr<const Vocabulary> vocabulary_ = EmbeddedByteVocabulary();
  TokenIndex index_{vocabulary_};
  MaskStore store_{&index_, kMaxBytes};
};

TEST_F(MaskStoreTest, IsBoundByTheBytesOfItsMasks) {
  const std::int64_t before = StoredMaskBytes();
  constexpr unsigned kMasks = 20'000;
  for (unsigned i = 0; i < kMasks; ++i) {
    Number(i);
    ASSERT_LE(store_.stats().mask_bytes, kMaxBytes + 1'000) << i;
  }
  EXPECT_LT(store_.stats().masks, kMasks);
  EXPECT_GT(store_.stats().mask_bytes, kMaxBytes / 2);
  // Nobody else has them, and the store itself only few beside those that it counts.
  EXPECT_LT(StoredMaskBytes() - before, store_.stats().mask_bytes + 8'000);
}

TEST_F(MaskStoreTest, WhatIsUsedStays) {
  const std::uint64_t first = Number(1)->serial();
  for (unsigned i = 2; i < 20'000; ++i) {
    Number(i);
    ASSERT_EQ(Number(1)->serial(), first) << i;
  }
}

TEST_F(MaskStoreTest, CountsAllTables) {
  const std::int64_t before = store_.stats().held_bytes;
  Fill();
  const MaskStore::Stats stats = store_.stats();
  EXPECT_GT(stats.mask_bytes, 0);
  EXPECT_GT(stats.held_bytes, before + stats.mask_bytes);
}

TEST_F(MaskStoreTest, ShrinksToNothing) {
  const std::int64_t before = StoredMaskBytes();
  Fill();
  const MaskRef used = Number(99);
  store_.Shrink(0);
  EXPECT_EQ(store_.stats().held_bytes, 0);
  EXPECT_EQ(store_.stats().masks, 0);
  EXPECT_EQ(StoredMaskBytes() - before, used->held_bytes());
  EXPECT_TRUE(used->Allows(7));
  EXPECT_EQ(*Number(99), *used) << "made again";
  EXPECT_NE(Number(99)->serial(), used->serial());
}

TEST_F(MaskStoreTest, ForgetsFirstWhatWasNotUsedLately) {
  const std::uint64_t early = Number(1)->serial();
  unsigned number = 1;
  while (store_.stats().mask_bytes <= kMaxBytes / 2 + 1'000) Number(++number);
  const std::uint64_t late = Number(number)->serial();
  store_.Shrink(store_.stats().held_bytes - 1);
  EXPECT_GT(store_.stats().masks, 0);
  EXPECT_EQ(Number(number)->serial(), late);
  EXPECT_NE(Number(1)->serial(), early);
}

TEST_F(MaskStoreTest, HoldsWhatItMayHold) {
  Fill();
  const std::uint64_t serial = Number(3)->serial();
  store_.Shrink(store_.stats().held_bytes);
  EXPECT_EQ(Number(3)->serial(), serial);
}

// Runs of two bytes: told by the set and the length, whichever mask.
TEST(MaskStoreRunsTest, WithoutLongerRunsATokenOfAShorterOneStays) {
  std::vector<Vocabulary::Token> tokens;
  for (const char* bytes : {" ", "  ", " \t ", "  \ta", "a", "a   ", "\t"})
    tokens.push_back({bytes});
  const auto vocabulary = *Vocabulary::Create("test", std::move(tokens), {});
  const TokenIndex index(vocabulary);
  MaskStore store(&index, kMaxBytes);
  const auto set = std::bitset<256>().set(' ').set('\t');
  const auto runs = store.RunsOf(set);
  const auto mask_of = [&](const std::vector<TokenId>& ids) {
    TokenMask mask(vocabulary->size());
    for (const TokenId id : ids) mask.Allow(id);
    return store.Intern(std::move(mask));
  };
  const MaskRef all = mask_of({0, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(store.WithoutLonger(all, set, *runs, 2), mask_of({0, 1, 4, 5, 6}));
  EXPECT_EQ(store.WithoutLonger(all, set, *runs, 1), mask_of({0, 4, 5, 6}));
  EXPECT_EQ(store.WithoutLonger(all, set, *runs, 3), all);
  EXPECT_EQ(store.WithoutLonger(all, set, *runs, 2), mask_of({0, 1, 4, 5, 6})) << "known";
  EXPECT_EQ(store.WithoutLonger(mask_of({2, 4}), set, *runs, 2), mask_of({4}));
  const auto spaces = std::bitset<256>().set(' ');
  EXPECT_EQ(store.WithoutLonger(all, spaces, *store.RunsOf(spaces), 1), mask_of({0, 2, 4, 5, 6}))
      << "another set";
}

}  // namespace
}  // namespace maskd
