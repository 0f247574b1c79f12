// A mask built from parts against the same made token by token, and that it is found again.
#include "grammar_core/mask/mask_builder.h"

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "grammar_core/mask/token_index.h"
#include "grammar_core/tokenizer/loader.h"

namespace maskd {
namespace {

class MaskBuilderTest : public testing::Test {
 protected:
  [[nodiscard]] int size() const { return vocabulary_->size(); }
  TokenId AnyToken() { return static_cast<TokenId>(random_() % static_cast<unsigned>(size())); }
  int Below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  MaskRef Stored(std::vector<TokenId> ids) {
    TokenMask mask(size());
    for (const TokenId id : ids) mask.Allow(id);
    return masks_.Intern(std::move(mask));
  }
  MaskRef AnyMask() {
    std::vector<TokenId> ids(static_cast<std::size_t>(Below(100)));
    for (TokenId& id : ids) id = AnyToken();
    return Stored(std::move(ids));
  }

  std::mt19937 random_{1};
  std::shared_ptr<const Vocabulary> vocabulary_ = EmbeddedByteVocabulary();
  TokenIndex index_{vocabulary_};
  MaskStore masks_{&index_, 1 << 20};
};

TEST_F(MaskBuilderTest, IsWhatItsPartsAre) {
  for (int run = 0; run < 2'000; ++run) {
    MaskBuilder builder(&masks_);
    TokenMask expected(size());
    const bool as_words = Below(4) == 0;
    for (int i = Below(4); i > 0; --i) {
      const MaskRef mask = AnyMask();
      builder.Merge(mask);
      expected.Merge(*mask);
    }
    if (as_words) builder.ToWords();
    for (int i = Below(20); i > 0; --i) {
      const TokenId id = AnyToken();
      builder.Forbid(id);
      expected.Forbid(id);
    }
    for (int i = Below(3) == 0 ? 3'000 : Below(20); i > 0; --i) {
      const TokenId id = AnyToken();
      builder.Allow(id);
      expected.Allow(id);
    }
    if (Below(3) == 0) {
      const MaskRef mask = AnyMask();
      builder.Merge(mask);
      expected.Merge(*mask);
    }
    const MaskRef built = builder.Finish();
    ASSERT_EQ(*built, expected) << "run " << run;
    ASSERT_EQ(built, masks_.Intern(expected)) << "not the stored one, run " << run;
  }
}

TEST_F(MaskBuilderTest, TakesOverAnother) {
  for (int run = 0; run < 500; ++run) {
    MaskBuilder whole(&masks_);
    MaskBuilder part(&masks_);
    TokenMask expected(size());
    TokenMask expected_part(size());
    for (const auto& [builder, mask] : {std::pair(&whole, &expected), {&part, &expected_part}}) {
      const MaskRef stored = AnyMask();
      builder->Merge(stored);
      mask->Merge(*stored);
      for (int i = Below(3) == 0 ? Below(5) : 0; i > 0; --i) {
        const TokenId id = AnyToken();
        builder->Forbid(id);
        mask->Forbid(id);
      }
      const TokenId id = AnyToken();
      builder->Allow(id);
      mask->Allow(id);
    }
    whole.Merge(std::move(part));
    expected.Merge(expected_part);
    ASSERT_EQ(*whole.Finish(), expected) << "run " << run;
  }
}

TEST_F(MaskBuilderTest, ForgetsAndMakesAnew) {
  const auto build = [&] {
    MaskBuilder builder(&masks_);
    builder.Merge(Stored({1, 2, 3}));
    builder.Allow(200);
    return builder.Finish();
  };
  const MaskRef first = build();
  EXPECT_EQ(build(), first);
  masks_.Clear();
  const MaskRef second = build();
  EXPECT_NE(second, first);
  EXPECT_EQ(*second, *first);
}

// A copy is no stored mask: what is made of it later must not be taken for the stored one.
TEST_F(MaskBuilderTest, CopiesHaveNoSerial) {
  const MaskRef stored = Stored({7});
  EXPECT_NE(stored->serial(), 0U);
  const TokenMask copy = *stored;
  EXPECT_EQ(copy.serial(), 0U);
  EXPECT_NE(Stored({8})->serial(), stored->serial());
}

// Masks of few words are written without being read: to any row, and as the others are.
TEST_F(MaskBuilderTest, CopiesAllWordsWhateverTheyAre) {
  constexpr int kTokens = 10'007;
  for (const int every : {1, 33, 64, 78, 79, 1'000, kTokens}) {  // 127 words, then 129
    TokenMask mask(kTokens);
    for (TokenId id = kTokens - 1; id >= 0; id -= every) mask.Allow(id);
    const TokenMask plain = mask;
    const MaskRef stored = masks_.Intern(std::move(mask));
    for (const TokenMask* each : {&plain, stored.get()}) {
      std::vector<std::int32_t> row(plain.words().size() + 1, -7);
      each->CopyTo(row.data());
      EXPECT_TRUE(std::ranges::equal(plain.words(), std::span(row).first(row.size() - 1))) << every;
      EXPECT_EQ(row.back(), -7);
    }
  }
}

}  // namespace
}  // namespace maskd
