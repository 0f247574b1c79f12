// Masks that are put together from few words against the same parts written out.
#include "grammar_core/mask/sparse_mask.h"

#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/mask/bit_words.h"

namespace maskd {
namespace {

constexpr int kTokens = 40'005;  // the last word is not full

class SparseMaskTest : public testing::Test {
 protected:
  int Below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  std::vector<TokenId> AnyTokens(int most) {
    std::vector<TokenId> ids(static_cast<std::size_t>(Below(most)));
    for (TokenId& id : ids) id = Below(kTokens);
    return ids;
  }
  static TokenMask With(TokenMask mask, const std::vector<TokenId>& ids, bool allowed) {
    for (const TokenId id : ids) allowed ? mask.Allow(id) : mask.Forbid(id);
    return mask;
  }
  static TokenMask All() {
    TokenMask all(kTokens);
    for (TokenId id = 0; id < kTokens; ++id) all.Allow(id);
    return all;
  }
  TokenMask Half() {
    TokenMask half(kTokens);
    for (TokenId id = 0; id < kTokens; ++id)
      if (Below(2) == 0) half.Allow(id);
    return half;
  }
  // Compact ones of every root, and two that are not.
  std::vector<MaskRef> Masks() {
    const std::vector<MaskRef> dense = {StoreMask(Half()), StoreMask(Half())};
    std::vector<MaskRef> masks = dense;
    for (int i = 0; i < 3; ++i) {
      masks.push_back(StoreMask(With(TokenMask(kTokens), AnyTokens(40), true)));
      masks.push_back(StoreMask(With(All(), AnyTokens(40), false)));
      for (const MaskRef& root : dense) {
        const TokenMask more = With(TokenMask(*root), AnyTokens(5), true);
        masks.push_back(StoreMask(With(more, AnyTokens(5), false), dense));
        EXPECT_TRUE(masks.back()->compact());
      }
    }
    return masks;
  }

  std::mt19937 random_{1};
};

TEST_F(SparseMaskTest, IsWhatItsPartsAre) {
  const std::vector<MaskRef> all = Masks();
  int made = 0;
  int known = 0;
  for (int run = 0; run < 3'000; ++run) {
    std::vector<MaskRef> masks;
    for (int i = Below(4); i > 0; --i)
      masks.push_back(all[static_cast<std::size_t>(Below(static_cast<int>(all.size())))]);
    const std::vector<TokenId> removed = AnyTokens(8);
    const std::vector<TokenId> ids = AnyTokens(8);
    TokenMask expected(kTokens);
    for (const MaskRef& mask : masks) expected.Merge(*mask);
    expected = With(With(std::move(expected), removed, false), ids, true);

    std::optional<SparseMask> sparse = SparseMask::Of({masks, removed, ids}, kTokens);
    if (!sparse.has_value()) continue;
    ++made;
    EXPECT_EQ(sparse->hash(), HashWords(expected.words()));
    const MaskRef written = StoreMask(expected, all);
    if (written->compact()) ++known;
    EXPECT_TRUE(sparse->Equals(*written));
    EXPECT_FALSE(sparse->Equals(*StoreMask(With(expected, {7}, !expected.Allows(7)), all)));
    TokenMask moved = With(expected, {7, 8}, false);  // as many tokens, others
    TokenMask other = moved;
    moved.Allow(7);
    other.Allow(8);
    EXPECT_NE(HashWords(moved.words()), HashWords(other.words()));
    const MaskRef stored = sparse->Store();
    EXPECT_TRUE(*stored == expected);
    EXPECT_TRUE(stored->compact());
    EXPECT_EQ(stored->CountAllowed(), expected.CountAllowed());
    EXPECT_LE(stored->held_bytes(), written->held_bytes() + 300);
  }
  EXPECT_GT(made, 1'000);
  EXPECT_GT(known, 1'000);
}

TEST_F(SparseMaskTest, IsNothingOfTooManyWords) {
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < kTokens; id += kBitsPerWord) ids.push_back(id);
  EXPECT_FALSE(SparseMask::Of({{}, {}, ids}, kTokens).has_value());
  // What was tried leaves no trace.
  std::optional<SparseMask> none = SparseMask::Of({{}, {}, {}}, kTokens);
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->hash(), 0U);
  EXPECT_TRUE(none->Store()->empty());
}

}  // namespace
}  // namespace maskd
