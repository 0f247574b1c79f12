// Strings that are far from the end, against the fewest tokens that each token leads to.
#include "grammar_core/matcher/far_strings.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/matcher/every_token.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

struct FarRow {
  const char* name;
  const char* schema;
  const char* text;
  bool is_far;  // with many tokens left
};

class FarStringsTest : public testing::TestWithParam<FarRow> {
 protected:
  // Whether the place of `matcher` is far with `rest` tokens left.
  bool IsFar(const Matcher& matcher, int rest) {
    return far_.IsFar(matcher.stepper(), matcher.place(), rest, &endings_, work_);
  }

  FarStrings far_;
  Endings endings_;
  Budget budget_ = Budget::Unlimited();
  Work work_{budget_};
};

TEST_P(FarStringsTest, EveryTokenOfAFarStringFits) {
  Matcher matcher(CompiledOver(TokenizerSpace::Create(TestVocabulary()), GetParam().schema));
  for (const char* byte = GetParam().text; *byte != '\0'; ++byte)
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(*byte)).ok()) << byte;
  EXPECT_EQ(IsFar(matcher, 1000), GetParam().is_far);
  if (!GetParam().is_far) return;
  EveryToken every;
  int most = 0;
  (*matcher.Mask())->VisitAllowed([&](TokenId id) {
    Matcher next = matcher.Fork();
    ASSERT_TRUE(next.Accept(id).ok());
    most = std::max(most, every.FewestFrom(next));
  });
  ASSERT_LE(most, EveryToken::kMost);
  for (int rest = 0; rest < most; ++rest) EXPECT_FALSE(IsFar(matcher, rest)) << rest;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, FarStringsTest,
    testing::ValuesIn(std::vector<FarRow>{
        {"Pattern", R"({"type":"string","pattern":"^[a-z]{2}(x{3}|y)?$"})", "\"abx", true},
        {"PatternBeforeMore",
         R"({"type":"array","items":{"type":"string","pattern":"^[a-z]{2}(x{3}|y)?$"},)"
         R"("minItems":2})",
         "[\"abx", true},
        {"LongParts", R"({"type":"array","items":{"type":"string","pattern":"^(a|b.{9}c)*$"}})",
         "[\"ab", true},
        {"Count", R"({"type":"array","items":{"type":"string","minLength":7}})", "[\"abx", true},
        {"GivenTexts", R"({"type":"array","items":{"enum":["ab","a hundred","a cow"]}})", "[\"a",
         false},
        {"WithinAnEscape", R"({"type":"array","items":{"type":"string","maxLength":9}})", "[\"\\u0",
         false},
        {"BeforeAString", R"({"type":"array","items":{"type":"string"}})", "[", false},
        {"Name", R"({"type":"object","properties":{"ab":{}},"required":["ab"]})", "{\"a", false},
        {"Conditions",
         R"({"type":"array","items":{"type":"string","pattern":"b{2}",)"
         R"("allOf":[{"pattern":"c"}]}})",
         "[\"b", false},
        {"ItemsThatDiffer", R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})",
         "[\"b", false},
    }),
    [](const auto& test) { return test.param.name; });

// Over the bytes but '~', with `more` behind them; the row stops by the token 'z', or as usual.
bool IsFarWithout(const std::vector<Vocabulary::Token>& more, bool stops_by_a_byte) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    if (byte != '~') tokens.push_back({std::string(1, static_cast<char>(byte))});
  tokens.insert(tokens.end(), more.begin(), more.end());
  tokens.push_back({"<end>", true});
  const auto end = static_cast<TokenId>(tokens.size() - 1);
  const auto space = TokenizerSpace::Create(*Vocabulary::Create("test", std::move(tokens), {end}));
  const auto grammar = CompiledOver(space, R"({"type":"array","items":{"type":"string"}})");
  std::vector<TokenId> stops = {end};
  if (stops_by_a_byte) stops = {'z'};
  Matcher matcher(grammar, stops);
  EXPECT_TRUE(matcher.Accept('[').ok());
  EXPECT_TRUE(matcher.Accept('"').ok());
  FarStrings far;
  Endings endings;
  Budget budget = Budget::Unlimited();
  Work work(budget);
  return far.IsFar(matcher.stepper(), matcher.place(), 1000, &endings, work);
}

TEST(FarStringsBytesTest, NoneWhereAByteIsNoToken) {
  EXPECT_FALSE(IsFarWithout({}, false));
  EXPECT_FALSE(IsFarWithout({{"~~"}}, false));
  EXPECT_TRUE(IsFarWithout({{"~"}}, false));
}

TEST(FarStringsBytesTest, NoneWhereAByteEndsTheRow) {
  EXPECT_FALSE(IsFarWithout({{"~"}}, true));
  EXPECT_TRUE(IsFarWithout({{"~"}, {"z"}}, true));
}

}  // namespace
}  // namespace maskd
