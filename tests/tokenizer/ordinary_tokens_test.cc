// Tokens by their bytes, against a look at all of them.
#include "grammar_core/tokenizer/ordinary_tokens.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

using std::string_literals::operator""s;
using testing::ElementsAre;
using testing::IsEmpty;

using Visits = std::vector<std::pair<TokenId, std::size_t>>;

constexpr int kNoRank = OrdinaryTokens::kNoRank;

std::shared_ptr<const Vocabulary> Make(const std::vector<std::string>& texts,
                                       std::vector<float> scores = {}) {
  std::vector<Vocabulary::Token> tokens;
  for (const std::string& text : texts) tokens.push_back({text, false});
  EncodingRules rules;
  rules.scores = std::move(scores);
  return Vocabulary::Create("test", std::move(tokens), {}, std::move(rules)).value();
}

Visits AtStart(const OrdinaryTokens& tokens, absl::string_view text) {
  Visits visits;
  tokens.EachAtStart(text, [&](TokenId id, std::size_t size) { visits.emplace_back(id, size); });
  return visits;
}

// Bytes below and above those of ASCII, in beginnings of one another.
const std::vector<std::string> kTexts = {
    "a", "", "ab", "abcd", "\0"s, "\0\0"s, "\xFF", "\x7F\x80", "\x80", "a\xFF", "b", "\xFF\xFF\xFF",
};

// All texts of at most three of these bytes.
std::vector<std::string> Texts() {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() == 3) break;
    for (const char byte : "ab\x7F\x80\xFF"s + "\0"s) texts.push_back(texts[i] + byte);
  }
  return texts;
}

TEST(OrdinaryTokensTest, AgreesWithALookAtAllTokens) {
  const auto vocabulary = Make(kTexts);
  std::vector<bool> left_out(kTexts.size());
  left_out[10] = true;
  const OrdinaryTokens tokens(*vocabulary, left_out);
  for (const std::string& text : Texts()) {
    TokenId found = OrdinaryTokens::kNone;
    bool has_longer = false;
    Visits at_start;
    for (std::size_t size = 1; size <= text.size(); ++size) {
      for (std::size_t id = 0; id < kTexts.size(); ++id)
        if (!left_out[id] && kTexts[id] == text.substr(0, size))
          at_start.emplace_back(static_cast<TokenId>(id), size);
    }
    for (std::size_t id = 0; id < kTexts.size(); ++id) {
      if (left_out[id] || kTexts[id].empty()) continue;
      if (kTexts[id] == text) found = static_cast<TokenId>(id);
      has_longer |= kTexts[id].size() > text.size() && absl::StartsWith(kTexts[id], text);
    }
    EXPECT_EQ(tokens.Find(text), found) << text;
    EXPECT_EQ(tokens.HasLonger(text), has_longer) << text;
    EXPECT_EQ(AtStart(tokens, text), at_start) << text;
    EXPECT_EQ(tokens.RankOf(text), found == OrdinaryTokens::kNone ? kNoRank : found) << text;
  }
  EXPECT_THAT(AtStart(tokens, "abcde"),
              ElementsAre(std::pair(0, 1), std::pair(2, 2), std::pair(3, 4)));
}

TEST(OrdinaryTokensTest, NoTokensAreFoundAmongNone) {
  const auto vocabulary = Make({"a", ""});
  const OrdinaryTokens tokens(*vocabulary, {true, true});
  EXPECT_EQ(tokens.Find("a"), OrdinaryTokens::kNone);
  EXPECT_EQ(tokens.RankOf("a"), kNoRank);
  EXPECT_FALSE(tokens.HasLonger(""));
  EXPECT_THAT(AtStart(tokens, "a"), IsEmpty());
}

// A character, and the byte that stands in for it.
TEST(OrdinaryTokensTest, OfEqualBytesTheLaterTokenCounts) {
  const auto vocabulary = Make({"a", "b", "a", "a"});
  const OrdinaryTokens tokens(*vocabulary, {false, false, false, true});
  EXPECT_EQ(tokens.Find("a"), 2);
  EXPECT_THAT(AtStart(tokens, "a"), ElementsAre(std::pair(2, 1)));
  EXPECT_FALSE(tokens.HasLonger("a"));
}

TEST(OrdinaryTokensTest, TheGreatestScoreHasTheLowestRank) {
  const auto vocabulary = Make({"a", "b", "c", "d", ""}, {-2, -1, -2, 5, 9});
  const OrdinaryTokens tokens(*vocabulary, {false, false, false, false, false});
  EXPECT_LT(tokens.RankOf("d"), tokens.RankOf("b"));
  EXPECT_LT(tokens.RankOf("b"), tokens.RankOf("a"));
  EXPECT_EQ(tokens.RankOf("a"), tokens.RankOf("c"));
  EXPECT_LT(tokens.RankOf("a"), kNoRank);
  EXPECT_EQ(tokens.RankOf("e"), kNoRank);
  EXPECT_EQ(tokens.RankOf(""), kNoRank);
}

}  // namespace
}  // namespace maskd
