// One layout on both sides of the wire: the words that the core fills, the bytes that the service
// sends and the words that the client applies. The client does not include the core; this test
// includes both.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/apply/make_applier.h"
#include "grammar_core/mask/token_mask.h"
#include "service/wire/response_writer.h"

namespace maskd {
namespace {

using testing::ElementsAre;

// The words of a mask after its way over the wire, in rows of `mask_words`.
std::vector<std::int32_t> OverTheWire(const TokenMask& mask, int mask_words) {
  std::string dense;
  service::WriteDense(mask, mask_words, &dense);
  std::vector<std::int32_t> words(dense.size() / sizeof(std::int32_t));
  std::memcpy(words.data(), dense.data(), dense.size());
  return words;
}

TokenMask Only(TokenId token, int vocab_size) {
  TokenMask mask(vocab_size);
  mask.Allow(token);
  return mask;
}

TEST(MaskLayoutTest, Token90AloneOf128IsWord2) {
  const TokenMask mask = Only(90, 128);
  EXPECT_THAT(std::vector<std::int32_t>(mask.words().begin(), mask.words().end()),
              ElementsAre(0, 0, 67'108'864, 0));
  EXPECT_THAT(OverTheWire(mask, 4), ElementsAre(0, 0, 67'108'864, 0));
}

TEST(MaskLayoutTest, TheWireIsLittleEndian) {
  std::string dense;
  service::WriteDense(Only(90, 128), 4, &dense);
  ASSERT_EQ(dense.size(), 16U);
  for (std::size_t i = 0; i < dense.size(); ++i)
    EXPECT_EQ(dense[i], i == 11 ? 4 : 0) << i;  // 90 = 8 * 11 + 2
}

TEST(MaskLayoutTest, WordsPastTheVocabularyAreZero) {
  TokenMask all(33);
  for (TokenId token = 0; token < 33; ++token) all.Allow(token);
  EXPECT_THAT(OverTheWire(all, 4), ElementsAre(-1, 1, 0, 0));
}

TEST(MaskLayoutTest, BothSidesCountWordsAlike) {
  for (const int tokens : {0, 1, 31, 32, 33, 128, 257, 128'256, 201'088})
    EXPECT_EQ(MaskWordCount(tokens), client::MaskWordCount(tokens)) << tokens;
}

TEST(MaskLayoutTest, GreedyOverUniformLogitsPicksTheOneAllowed) {
  std::vector<float> logits(128, 1.0F);
  const auto greedy = [&] {
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  };
  EXPECT_EQ(greedy(), 0);
  const std::vector<std::int32_t> words = OverTheWire(Only(90, 128), 4);
  const std::vector<client::MaskRow> rows = {client::MaskRow::Dense(0, words)};
  const auto applier = client::MakeApplier("cpu");
  ASSERT_TRUE(applier.ok()) << applier.status();
  client::Logits view;
  view.data = logits.data();
  view.row_count = 1;
  view.width = view.row_stride = 128;
  ASSERT_TRUE((*applier)->Apply({.vocab_size = 128, .rows = rows}, view).ok());
  EXPECT_EQ(greedy(), 90);
  EXPECT_EQ(std::count(logits.begin(), logits.end(), -std::numeric_limits<float>::infinity()), 127);
}

}  // namespace
}  // namespace maskd
