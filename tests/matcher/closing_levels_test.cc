// Levels against the fewest tokens that complete the text behind each token.
#include "grammar_core/matcher/closing_levels.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/rows/row_states.h"
#include "tests/matcher/every_token.h"
#include "tests/matcher/level_tokens.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

std::shared_ptr<const CompiledGrammar> Compiled(const std::string& kind, const std::string& text) {
  return CompiledOver(TokenizerSpace::Create(TestVocabulary()), text, kind.c_str());
}

class ClosingLevelsTest : public testing::Test {
 protected:
  ClosingLevels::Levels LevelsOf(const Matcher& matcher) {
    const TokenStepper& stepper = matcher.stepper();
    return levels_.Of(stepper, stepper.states().Shared(matcher.place()), nullptr, &endings_, work_);
  }

  Endings endings_;
  ClosingLevels levels_;
  Budget budget_ = Budget::Unlimited();
  Work work_{budget_};
};

struct Case {
  const char* name;
  const char* kind;
  const char* text;
  const char* behind;  // the beginning of a text
  bool exact;          // no longer text has fewer tokens
};

class ClosingLevelsOfTest : public ClosingLevelsTest, public testing::WithParamInterface<Case> {};

TEST_P(ClosingLevelsOfTest, EachTokenIsInTheLevelOfItsEnding) {
  Matcher matcher(Compiled(GetParam().kind, GetParam().text));
  for (const char* byte = GetParam().behind; *byte != '\0'; ++byte)
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(*byte)).ok()) << byte;
  const ClosingLevels::Levels list = LevelsOf(matcher);
  EXPECT_TRUE(std::ranges::is_sorted(list->levels, {}, &ClosingLevel::few));
  const std::map<TokenId, int> few = FewOf(*list);
  int most = 0;
  (*matcher.Mask())->VisitAllowed([&](TokenId id) {
    if (id == kEnd) return;
    Matcher next = matcher.Fork();
    ASSERT_TRUE(next.Accept(id).ok());
    const auto fewest = next.FewestTokens(100);
    ASSERT_TRUE(fewest.ok()) << fewest.status();
    ASSERT_TRUE(few.contains(id)) << id;
    EXPECT_EQ(few.at(id), endings_.Few(next.stepper(), next.place())) << id;
    // An upper bound: a longer text may have fewer tokens.
    EXPECT_GE(few.at(id), static_cast<int>(fewest->size())) << id;
    if (GetParam().exact) EXPECT_EQ(few.at(id), static_cast<int>(fewest->size())) << id;
    most = std::max(most, few.at(id));
  });
  EXPECT_GE(list->most(), most);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, ClosingLevelsOfTest,
    testing::ValuesIn(std::vector<Case>{
        {"Branches", "regex", "a|bcdefg|xy|abcx", "", true},
        {"Loop", "regex", "(abc|xyz)*!", "ab", true},
        {"StringBeforeAQuote", "json_schema", R"({"type":"array","items":{"type":"string"}})",
         "[\"a", false},
        {"ShortString", "json_schema", R"({"type":"string","maxLength":3})", "\"a", false},
        {"LongString", "json_schema", R"({"type":"string","minLength":4})", "\"a", false},
        {"ChoiceOfStrings", "json_schema",
         R"({"type":"array","items":{"type":"string","maxLength":9},)"
         R"("contains":{"type":"string","minLength":3,"maxLength":6}})",
         "[\"", false},
        {"ChoiceOfStringsOfWhichOneIsFull", "json_schema",
         R"({"type":"array","items":{"type":"string","maxLength":9},)"
         R"("contains":{"type":"string","minLength":3,"maxLength":6}})",
         "[\"xxxxxx", false},
        {"StringUnlikeAPattern", "json_schema",
         R"({"type":"array","items":{"type":"string"},)"
         R"("contains":{"type":"string","pattern":"^[a-z]{2,3}$"}})",
         "[\"", false},
        {"OtherNames", "json_schema",
         R"({"type":"object","properties":{"abc":{"type":"null"},"ab":{"type":"boolean"}}})", "{\"",
         false},
        {"Members", "json_schema",
         R"({"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"]})", "{", true},
        {"Named", "lark", "start: \"a\" (<other> \"xyz\" | \"b\")", "a", true},
    }),
    [](const auto& test) { return test.param.name; });

TEST_F(ClosingLevelsTest, AListIsMadeOnceAndHasItsOwnNumber) {
  const Matcher start(Compiled("regex", "a|bcd"));
  Matcher behind = start.Fork();
  ASSERT_TRUE(behind.Accept('b').ok());
  const ClosingLevels::Levels first = LevelsOf(start);
  EXPECT_NE(LevelsOf(behind)->number, first->number);
  EXPECT_EQ(LevelsOf(start), first);
  EXPECT_GT(levels_.held_bytes(), 0);
  // One of another automaton is another state, whatever its number.
  const Matcher other(Compiled("regex", "a|bcd"));
  EXPECT_NE(LevelsOf(other)->number, first->number);
}

TEST_F(ClosingLevelsTest, ALevelTakesItsTokensFromAMask) {
  const auto masked = [](const std::set<TokenId>& ids) {
    TokenMask mask(kVocabSize);
    for (const TokenId id : ids) mask.Allow(id);
    return mask;
  };
  TokenMask mask = masked({1, 2, 3, 4, 5});
  ClosingLevel{7, {1, 4, 9}, std::nullopt}.TakeFrom(&mask);
  EXPECT_EQ(mask, masked({2, 3, 5}));
  ClosingLevel{7, {}, masked({3, 100})}.TakeFrom(&mask);
  EXPECT_EQ(mask, masked({2, 5}));
}

TEST_F(ClosingLevelsTest, OnlyNumbersAreFarNumbers) {
  Matcher matcher(Compiled("json_schema", R"({"type":"array","items":{"type":"integer"}})"));
  const auto is_far = [&](int rest) {
    return levels_.IsFarNumber(matcher.stepper(), matcher.place(), rest, &endings_, work_);
  };
  EXPECT_FALSE(is_far(1000)) << "before the array";
  ASSERT_TRUE(matcher.Accept('[').ok());
  ASSERT_TRUE(matcher.Accept('1').ok());
  EXPECT_TRUE(is_far(1000));
  EXPECT_FALSE(is_far(0)) << "the bracket is left";
  for (int rest = 0; rest <= 100; ++rest) {
    if (!is_far(rest)) continue;
    (*matcher.Mask())->VisitAllowed([&](TokenId id) {
      Matcher next = matcher.Fork();
      ASSERT_TRUE(next.Accept(id).ok());
      EXPECT_LE(next.LeastTokens(), rest) << id;
    });
  }
}

}  // namespace
}  // namespace maskd
