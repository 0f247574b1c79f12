// Stored masks, compact or not: each reads as the plain mask that it was made of, and is counted
// for as long as it lives.
#include "grammar_core/mask/token_mask.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace maskd {
namespace {

constexpr int kTokens = 100'011;  // the last word is not full
constexpr std::int64_t kDenseBytes = MaskWordCount(kTokens) * std::int64_t{sizeof(std::int32_t)};

using Random = std::mt19937_64;

TokenMask RandomMask(Random* random, double density) {
  TokenMask mask(kTokens);
  std::bernoulli_distribution allowed(density);
  for (TokenId id = 0; id < kTokens; ++id)
    if (allowed(*random)) mask.Allow(id);
  return mask;
}

// `mask` with some tokens changed.
TokenMask Near(const TokenMask& mask, int tokens, Random* random) {
  TokenMask near = mask;
  for (int i = 0; i < tokens; ++i) {
    const auto id = static_cast<TokenId>((*random)() % kTokens);
    near.Allows(id) ? near.Forbid(id) : near.Allow(id);
  }
  return near;
}

std::vector<TokenId> IdsOf(const TokenMask& mask) {
  std::vector<TokenId> ids;
  mask.VisitAllowed([&](TokenId id) { ids.push_back(id); });
  return ids;
}

struct FormCase {
  std::string name;
  double density;  // of the mask that it may be near to
  int changed;     // tokens that are others in the mask itself
  bool has_like;
  bool compact;

  friend void PrintTo(const FormCase& test, std::ostream* out) { *out << test.name; }
};

class FormTest : public testing::TestWithParam<FormCase> {
 protected:
  FormTest() {
    if (GetParam().has_like) like_.push_back(StoreMask(whole_));
    stored_ = StoreMask(plain_, like_);
  }

  Random random_{11};  // NOLINT(cert-msc51-cpp): the same masks in every run
  TokenMask whole_ = RandomMask(&random_, GetParam().density);
  TokenMask plain_ = Near(whole_, GetParam().changed, &random_);
  std::vector<MaskRef> like_;
  MaskRef stored_;
};

TEST_P(FormTest, TakesLittleMemoryWhereItIsCompact) {
  EXPECT_EQ(stored_->compact(), GetParam().compact);
  if (GetParam().compact)
    EXPECT_LT(stored_->held_bytes(), kDenseBytes / 2);
  else
    EXPECT_GE(stored_->held_bytes(), kDenseBytes);
}

TEST_P(FormTest, ReadsAsThePlainMask) {
  EXPECT_EQ(*stored_, plain_);
  EXPECT_EQ(plain_, *stored_);
  EXPECT_EQ(TokenMask(*stored_), plain_);
  EXPECT_EQ(*stored_, *StoreMask(plain_)) << "of another form";
  EXPECT_EQ(stored_->CountAllowed(), plain_.CountAllowed());
  EXPECT_EQ(stored_->empty(), plain_.empty());
  EXPECT_EQ(IdsOf(*stored_), IdsOf(plain_));
  for (TokenId id = 0; id < kTokens; ++id) ASSERT_EQ(stored_->Allows(id), plain_.Allows(id)) << id;
  std::vector<std::int32_t> row(plain_.word_count() + 1, -7);
  stored_->CopyTo(row.data());
  EXPECT_TRUE(std::equal(row.begin(), row.end() - 1, plain_.words().begin()));
  EXPECT_EQ(row.back(), -7);
}

TEST_P(FormTest, ASearchMayStop) {
  if (plain_.empty()) return;
  int visited = 0;
  EXPECT_FALSE(stored_->VisitAllowedWhile([&](TokenId) { return ++visited < 1; }));
  EXPECT_EQ(visited, 1);
}

TEST_P(FormTest, ChangesOthersAsThePlainMaskDoes) {
  const TokenMask other = RandomMask(&random_, 0.3);
  for (const auto change : {&TokenMask::Merge, &TokenMask::Intersect, &TokenMask::Subtract}) {
    TokenMask by_stored = other;
    TokenMask by_plain = other;
    (by_stored.*change)(*stored_);
    (by_plain.*change)(plain_);
    EXPECT_EQ(by_stored, by_plain);
  }
}

TEST_P(FormTest, DiffersWhereThePlainMaskDoes) {
  const TokenMask other = Near(plain_, 30, &random_);
  const auto differences = [&](const TokenMask& mask) {
    std::vector<std::pair<std::size_t, std::int32_t>> found;
    mask.VisitDifferences(other.words(), [&](std::size_t index, std::int32_t word) {
      found.emplace_back(index, word);
      return true;
    });
    return found;
  };
  EXPECT_EQ(differences(*stored_), differences(plain_));
  EXPECT_FALSE(*stored_ == other);
  EXPECT_FALSE(*stored_ == *StoreMask(other, like_));
}

TEST_P(FormTest, KeepsWhatItIsComparedWith) {
  like_.clear();
  EXPECT_EQ(*stored_, plain_);
}

TEST_P(FormTest, ACopyIsPlain) {
  TokenMask copy = *stored_;
  EXPECT_EQ(copy.serial(), 0U);
  copy.Allows(5) ? copy.Forbid(5) : copy.Allow(5);
  EXPECT_NE(copy, plain_);
  copy = *stored_;
  EXPECT_TRUE(std::ranges::equal(copy.words(), plain_.words()));
  EXPECT_EQ(copy.CountAllowed(), plain_.CountAllowed());
}

INSTANTIATE_TEST_SUITE_P(Forms, FormTest,
                         testing::ValuesIn(std::vector<FormCase>{
                             {"NoToken", 0, 0, false, true},
                             {"OneToken", 0, 1, false, true},
                             {"FewTokens", 0, 30, false, true},
                             {"AllTokens", 1, 0, false, true},
                             {"AllButFew", 1, 30, false, true},
                             {"Half", 0.5, 0, false, false},
                             {"NearHalf", 0.5, 40, true, true},
                             {"HalfAgain", 0.5, 0, true, true},
                             {"FarFromHalf", 0.5, 4'000, true, false},
                             {"FewTokensNearFew", 0.001, 3, true, true},
                         }),
                         [](const auto& test) { return test.param.name; });

// A mask near one that is near another: both know what differs from the first.
TEST(TokenMaskTest, NearnessIsNoChain) {
  Random random(3);
  TokenMask plain = RandomMask(&random, 0.5);
  MaskRef last = StoreMask(plain);
  for (int i = 0; i < 10; ++i) {
    plain = Near(plain, 3, &random);
    last = StoreMask(plain, {&last, 1});
    EXPECT_EQ(*last, plain);
    EXPECT_LT(last->held_bytes(), kDenseBytes / 2);
  }
}

TEST(TokenMaskTest, OthersAreLookedAtWhereItWouldNotBeCompact) {
  Random random(5);
  const TokenMask plain = RandomMask(&random, 0.5);
  const std::vector<MaskRef> others = {StoreMask(RandomMask(&random, 0.5)), StoreMask(plain)};
  const MaskRef near = StoreMask(Near(plain, 5, &random), {&others[0], 1}, others);
  EXPECT_TRUE(near->compact());
  EXPECT_FALSE(StoreMask(plain, {&others[0], 1})->compact());
}

TEST(TokenMaskTest, StoredMasksAreCountedWhileTheyLive) {
  Random random(4);
  const std::int64_t before = StoredMaskBytes();
  MaskRef dense = StoreMask(RandomMask(&random, 0.5));
  const MaskRef few = StoreMask(RandomMask(&random, 0.001));
  const auto for_a_call = std::make_shared<const TokenMask>(*dense);
  EXPECT_EQ(StoredMaskBytes(), before + dense->held_bytes() + few->held_bytes());
  const MaskRef shared = dense;
  dense = nullptr;
  EXPECT_EQ(StoredMaskBytes(), before + shared->held_bytes() + few->held_bytes());
}

// Words beyond those have no number in a compact mask.
TEST(TokenMaskTest, AMaskOfVeryManyTokensIsKeptWhole) {
  constexpr int kMost = 65'536 * kBitsPerWord;
  for (const int tokens : {kMost, kMost + 1}) {
    TokenMask plain(tokens);
    plain.Allow(3);
    plain.Allow(tokens - 1);
    const MaskRef stored = StoreMask(plain);
    EXPECT_EQ(stored->compact(), tokens == kMost);
    EXPECT_EQ(IdsOf(*stored), (std::vector<TokenId>{3, tokens - 1}));
    EXPECT_TRUE(stored->Allows(tokens - 1));
    EXPECT_EQ(TokenMask(*stored), plain);
  }
}

TEST(TokenMaskTest, NumbersAreNotUsedAgain) {
  std::vector<std::uint64_t> serials;
  for (int i = 0; i < 100; ++i) serials.push_back(StoreMask(TokenMask(kTokens))->serial());
  EXPECT_EQ(std::ranges::adjacent_find(serials, std::greater_equal<>()), serials.end());
}

}  // namespace
}  // namespace maskd
