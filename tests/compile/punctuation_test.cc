#include "grammar_core/compile/punctuation.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

TokenIndex IndexOf(const std::vector<std::string>& texts) {
  std::vector<Vocabulary::Token> tokens;
  for (const std::string& text : texts) tokens.push_back({text});
  tokens.push_back({"<end>", true});
  const auto end = static_cast<TokenId>(texts.size());
  return TokenIndex(*Vocabulary::Create("test", std::move(tokens), {end}));
}

// The distances by the texts of the tokens; each token is told once.
std::map<std::string, int> DistancesIn(const std::vector<std::string>& texts) {
  const TokenIndex index = IndexOf(texts);
  std::map<std::string, int> distances;
  for (const PunctuationToken& token : FindPunctuation(index)) {
    EXPECT_GE(token.distance, 0);
    const std::string text(index.vocabulary().TokenBytes(token.id));
    EXPECT_TRUE(distances.try_emplace(text, token.distance).second) << text;
  }
  return distances;
}

TEST(Punctuation, OnlyWhatTheVocabularyHas) {
  EXPECT_EQ(DistancesIn({"hello", "world", "\"x"}).size(), 0);
  const std::map<std::string, int> some = DistancesIn({"hello", ",", "}", "world"});
  EXPECT_EQ(some.size(), 2);
  EXPECT_TRUE(some.contains(","));
  EXPECT_TRUE(some.contains("}"));
}

TEST(Punctuation, SpecialTokensAreNoPunctuation) {
  std::vector<Vocabulary::Token> tokens = {{"a"}, {",", true}, {"<end>", true}};
  const TokenIndex index(*Vocabulary::Create("test", std::move(tokens), {2}));
  for (const PunctuationToken& token : FindPunctuation(index)) EXPECT_NE(token.id, 1);
}

struct Case {
  const char* name;
  const char* common;
  const char* other;
};

class PunctuationTest : public testing::TestWithParam<Case> {};

TEST_P(PunctuationTest, OtherWaysAreFartherOff) {
  const std::map<std::string, int> distances = DistancesIn({GetParam().common, GetParam().other});
  ASSERT_EQ(distances.size(), 2);
  EXPECT_LT(distances.at(GetParam().common), distances.at(GetParam().other));
}

// A text on one line, a space after colons and commas, one item in each array.
INSTANTIATE_TEST_SUITE_P(Ways, PunctuationTest,
                         testing::ValuesIn(std::vector<Case>{
                             {"NoLineFeed", " ", "\n"},
                             {"ASpaceAfterAColon", "\":", "\":\""},
                             {"ASpaceAfterAComma", "\",", "\",\""},
                             {"ASpaceBeforeAWord", " true", "true"},
                             {"ASpaceBeforeAnArray", " [", "["},
                             {"NoSpaceBeforeTheEnd", "}", " }"},
                             {"AnItem", " [\"", " []"},
                             {"AMember", "{\"", "{}"},
                             {"ANumberAfterASpace", " ", "100"},
                             {"AnAddressInAString", "\",", "https"},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
