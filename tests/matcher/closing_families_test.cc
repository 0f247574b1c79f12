// Levels that many states share, against the endings of all tokens and the fewest tokens there are.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/matcher/closing_level_list.h"
#include "grammar_core/matcher/closing_level_maker.h"
#include "grammar_core/matcher/closing_levels.h"
#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/rows/row_states.h"
#include "tests/matcher/every_token.h"
#include "tests/matcher/level_tokens.h"
#include "tests/matcher/long_tokens.h"
#include "tests/matcher/test_vocabulary.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

using Space = std::shared_ptr<TokenizerSpace>;

// Bytes, words of white space and of text, and tokens too long for a trie.
Space LongSpace() {
  const std::string run(300, ' ');
  const std::string text(300, 'a');
  return SpaceWith({"  ",   "\n\n",      " \"",       "\",",     "\", \"",
                    "ab",   "a\"",       "12",        "1,",      "123",
                    "\\\"", run,         run + "\"",  run + "1", std::string(300, '1'),
                    text,   text + "\"", "\"" + text, ",\n\"",   "tr",
                    "true"});
}
Space ShortSpace() { return TokenizerSpace::Create(TestVocabulary()); }

struct Row {
  const char* name;
  const char* grammar;
  const char* text;
  const char* kind = "json_schema";
};

constexpr Row kRows[] = {
    {"WhiteSpaceBeforeAString", R"({"type":"array","items":{"type":"string","maxLength":3}})",
     "[   \"ab\"  ,  \"a"},
    {"WhiteSpaceBeforeANumber", R"({"type":"array","items":{"type":"integer","maximum":500}})",
     "[  12  ,   34 "},
    {"WhiteSpaceAtTheEndOfAnArray", R"({"type":"array","items":{"type":"boolean"}})", "[ true   "},
    {"WhiteSpaceBetweenMembers",
     R"({"type":"object","properties":{"a":{"type":"boolean"},"b":{"enum":["x","yy"]}},)"
     R"("required":["a","b"],"additionalProperties":false})",
     "{ \"a\" :  true ,  \"b\" : \"y"},
    {"NumberWithAFraction", R"({"type":"array","items":{"type":"number","minimum":-9}})",
     "[-2.5e0 , 0"},
    {"NumberAtTheRoot", R"({"type":"integer","minimum":1000})", "12"},
    {"NumberOfAMember",
     R"({"type":"object","properties":{"a":{"type":"integer","maximum":70}},"required":["a"],)"
     R"("additionalProperties":false})",
     "{\"a\":12"},
    {"StringsOfAtLeast", R"({"type":"array","items":{"type":"string","minLength":4}})",
     "[\"abcde\",\"\\\"\xc3\xa9"},
    {"StringsOfAtLeastAndAtMost",
     R"({"type":"array","items":{"type":"string","minLength":2,"maxLength":5}})",
     "[\"abcde\",\"\\u00e9a\",\"a"},
    {"StringsOfFewCharacters",
     R"({"type":"array","items":{"type":"string","pattern":"^[ab]{0,4}$"}})",
     "[\"abab\",\"b\",\"a"},
    // What is behind a run may begin as the run goes on: no count of it is like another.
    {"DigitsBeforeADigit", "[0-9]{0,9}[5-9]x", "1259", "regex"},
    {"SpaceBeforeASpace", "[ \t\n\r]{0,4}\nabc", " \n ", "regex"},
};

class ClosingFamiliesTest
    : public testing::TestWithParam<std::tuple<Row, std::pair<const char*, Space (*)()>>> {
 protected:
  [[nodiscard]] static const Row& row() { return std::get<0>(GetParam()); }
  [[nodiscard]] Matcher Start() const {
    return Matcher(CompiledOver(std::get<1>(GetParam()).second(), row().grammar, row().kind));
  }
};

// One object is asked at each byte of the text, so that what is shared is asked for in the states
// that share it.
void ExpectLevels(Matcher matcher, const char* text, bool with_mask) {
  ClosingLevels levels;
  Endings endings;
  Budget budget = Budget::Unlimited();
  Work work(budget);
  for (const char* byte = text;; ++byte) {
    const TokenStepper& stepper = matcher.stepper();
    const TermId state = stepper.states().Shared(matcher.place());
    const MaskRef mask = stepper.states().Mask(RowMemory::Of(state), work);
    const auto list = levels.Of(stepper, state, with_mask ? mask.get() : nullptr, &endings, work);
    const std::map<TokenId, int> few = FewOf(*list);
    mask->VisitAllowed([&](TokenId id) {
      if (stepper.IsStop(id)) return;
      std::size_t taken = 0;
      const TermId next = stepper.states().automaton().StepToken(state, id, &taken, work);
      ASSERT_TRUE(few.contains(id)) << id << " at " << byte;
      EXPECT_EQ(few.at(id), endings.Few(stepper, RowMemory::Of(next))) << id << " at " << byte;
    });
    if (*byte == '\0') return;
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(*byte)).ok()) << byte;
  }
}

TEST_P(ClosingFamiliesTest, ATokenIsInTheLevelOfItsEnding) {
  ExpectLevels(Start(), row().text, /*with_mask=*/false);
  ExpectLevels(Start(), row().text, /*with_mask=*/true);
}

TEST_P(ClosingFamiliesTest, NoEndingIsSoonerThanEveryTokenTried) {
  EveryToken every;
  Matcher matcher = Start();
  Endings endings;
  for (const char* byte = row().text;; ++byte) {
    EXPECT_GE(endings.Few(matcher.stepper(), matcher.place()), every.FewestFrom(matcher)) << byte;
    if (*byte == '\0') return;
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(*byte)).ok()) << byte;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ClosingFamiliesTest,
                         testing::Combine(testing::ValuesIn(kRows),
                                          testing::Values(std::pair{"ShortTokens", &ShortSpace},
                                                          std::pair{"LongTokens", &LongSpace})),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) +
                                  std::get<1>(test.param).first;
                         });

TEST(ClosingOwnFamiliesTest, ATokenIsInTheLevelOfItsEnding) {
  for (const Space& space : {ShortSpace(), LongSpace()}) {
    const auto grammar = CompiledOver(
        space, R"({"type":"array","uniqueItems":true,"items":{"type":"string","minLength":1}})");
    ExpectLevels(Matcher(grammar), "[ \"ab\", \"a", /*with_mask=*/false);
    ExpectLevels(Matcher(grammar), "[ \"ab\", \"a", /*with_mask=*/true);
  }
}

// Whether a number far from its end is told so, over bytes and `tokens`.
bool IsFarNumberOver(const std::vector<std::string>& tokens) {
  Matcher matcher(CompiledOver(SpaceWith(tokens),
                               R"({"type":"array","items":{"type":"number","minimum":-9}})"));
  EXPECT_TRUE(matcher.Accept('[').ok());
  EXPECT_TRUE(matcher.Accept('1').ok());
  ClosingLevels levels;
  Endings endings;
  Budget budget = Budget::Unlimited();
  Work work(budget);
  return levels.IsFarNumber(matcher.stepper(), matcher.place(), 1000, &endings, work);
}

TEST(ClosingNumbersTest, NoneIsFarWhereATokenGoesOnBehindADigit) {
  EXPECT_TRUE(IsFarNumberOver({}));
  EXPECT_TRUE(IsFarNumberOver({"12", "-1.5", "1e", "e", "e,", "-,", "x1", " 1,", ", "}));
  EXPECT_TRUE(IsFarNumberOver({std::string(300, '1'), std::string(300, ' ') + "1,"}));
  EXPECT_FALSE(IsFarNumberOver({"1,"}));
  EXPECT_FALSE(IsFarNumberOver({"0\xff"}));
  EXPECT_FALSE(IsFarNumberOver({"-1.5e2]"}));
  EXPECT_FALSE(IsFarNumberOver({"12", "e3 1"}));
  EXPECT_FALSE(IsFarNumberOver({std::string(300, '1') + ","}));
}

TEST(ClosingLevelMakerTest, FewTokensAreThoseOfANarrowMask) {
  TokenMask mask(1000);
  EXPECT_FALSE(ClosingLevelMaker::IsFew(nullptr));
  EXPECT_TRUE(ClosingLevelMaker::IsFew(&mask));
  for (TokenId id = 0; id < 256; ++id) mask.Allow(id);
  EXPECT_TRUE(ClosingLevelMaker::IsFew(&mask));
  mask.Allow(999);
  EXPECT_FALSE(ClosingLevelMaker::IsFew(&mask));
}

TEST(ClosingRunsTest, AnyCountOfWhiteSpaceHasOneList) {
  Matcher matcher(CompiledOver(ShortSpace(), R"({"type":"array","items":{"type":"boolean"}})"));
  ASSERT_TRUE(matcher.Accept('[').ok());
  ClosingLevels levels;
  Endings endings;
  Budget budget = Budget::Unlimited();
  Work work(budget);
  const auto list = [&] {
    const TokenStepper& stepper = matcher.stepper();
    return levels.Of(stepper, stepper.states().Shared(matcher.place()), nullptr, &endings, work);
  };
  const auto first = list();
  const std::int64_t held = levels.held_bytes();
  for (int count = 0; count < 5; ++count) {
    ASSERT_TRUE(matcher.Accept(' ').ok());
    EXPECT_EQ(list(), first);
  }
  EXPECT_EQ(levels.held_bytes(), held);
}

}  // namespace
}  // namespace maskd
