#include "grammar_core/tokenizer/text_splitter.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/loader.h"

namespace maskd {
namespace {

using testing::ElementsAre;
using testing::Optional;

TextSplitter Words() {
  TextSplitter splitter;
  splitter.Add("a", 1);
  splitter.Add("ab", 2);
  splitter.Add("abc", 3);
  splitter.Add("c", 4);
  splitter.Add("ab", 5);
  splitter.Add("", 6);
  return splitter;
}

TEST(TextSplitter, TakesTheLongestTokenThatFits) {
  EXPECT_THAT(Words().Longest("abcabac"), Optional(ElementsAre(3, 2, 1, 4)));
  EXPECT_THAT(Words().Longest(""), Optional(ElementsAre()));
}

TEST(TextSplitter, HasNothingForAByteThatBeginsNoToken) {
  EXPECT_EQ(Words().Longest("ab!"), std::nullopt);
  EXPECT_EQ(Words().Longest("b"), std::nullopt);
}

TEST(TextSplitter, LeavesTheChoiceToTheCaller) {
  EXPECT_THAT(Words().Split("abc", [](std::size_t count) { return count - 1; }),
              testing::Eq(std::nullopt));  // "a", then nothing for "b"
  EXPECT_THAT(
      Words().Split("abc", [](std::size_t count) { return std::min<std::size_t>(count - 1, 1); }),
      Optional(ElementsAre(2, 4)));
}

TEST(TextSplitter, SpellsEveryTextWithAVocabularyOfBytes) {
  const std::shared_ptr<const Vocabulary> bytes = EmbeddedByteVocabulary();
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text.push_back(static_cast<char>(byte));
  const std::optional<std::vector<TokenId>> tokens = TextSplitter(*bytes).Longest(text);
  ASSERT_TRUE(tokens.has_value());
  std::string spelled;
  for (const TokenId id : *tokens) absl::StrAppend(&spelled, bytes->TokenBytes(id));
  EXPECT_EQ(spelled, text);
}

}  // namespace
}  // namespace maskd
