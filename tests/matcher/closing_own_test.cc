// Tokens of rows that may not repeat an item, each against the fewest tokens behind it.
#include "grammar_core/matcher/closing_own.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/rows/row_states.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

TEST(ClosingOwn, FarFromTheEndIsWithManyTokensToSpare) {
  EXPECT_FALSE(IsFarFromEnd(5, 4, 0)) << "it does not fit at all";
  EXPECT_FALSE(IsFarFromEnd(4, 4, 0));
  EXPECT_FALSE(IsFarFromEnd(0, 31, 0));
  EXPECT_TRUE(IsFarFromEnd(0, 32, 0));
  EXPECT_FALSE(IsFarFromEnd(50, 131, 0));
  EXPECT_TRUE(IsFarFromEnd(50, 132, 0)) << "half as many again, and 16 more";
  EXPECT_FALSE(IsFarFromEnd(50, 171, 40));
  EXPECT_TRUE(IsFarFromEnd(50, 172, 40)) << "and a part that may be forced";
  for (int few = 0; few <= 100; ++few) {
    for (int rest = 0; rest <= 300; ++rest) {
      if (!IsFarFromEnd(few, rest, 20)) continue;
      EXPECT_TRUE(IsFarFromEnd(few, rest + 1, 20)) << few << " " << rest;
      EXPECT_TRUE(IsFarFromEnd(few, rest, 19)) << few << " " << rest;
    }
  }
}

// Whether the text can end in so many tokens. The search for the fewest is dear in a string, so the
// shortest text is looked at first.
bool EndsIn(const Matcher& matcher, int rest) {
  const auto few = matcher.FewTokens(100);
  return (few.ok() && static_cast<int>(few->size()) <= rest) || matcher.FewestTokens(rest).ok();
}

struct Case {
  const char* name;
  const char* schema;
  const char* behind;  // the beginning of a text, in an array of distinct items
};

class ClosingOwnTest : public testing::TestWithParam<Case> {};

TEST_P(ClosingOwnTest, FittingTokensEndInTime) {
  Budget budget = Budget::Unlimited();
  Work work(budget);
  auto grammar = CompileGrammar({"json_schema", GetParam().schema, {}},
                                TokenizerSpace::Create(TestVocabulary()), Limits(), budget);
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  Matcher matcher(*grammar);
  for (const char* byte = GetParam().behind; *byte != '\0'; ++byte)
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(*byte)).ok()) << byte;
  ASSERT_TRUE(RowStates::IsOwn(matcher.place()));
  const MaskRef mask = *matcher.Mask();
  const TokenStepper& stepper = matcher.stepper();
  Endings endings;
  ClosingLevels levels;
  const auto list =
      levels.Of(stepper, stepper.states().Shared(matcher.place()), nullptr, &endings, work);
  const auto least = matcher.FewestTokens(100);
  ASSERT_TRUE(least.ok()) << least.status();
  // The soonest of the endings that are known; another may have fewer tokens.
  int soonest = Endings::kNever;
  mask->VisitAllowed([&](TokenId id) {
    Matcher next = matcher.Fork();
    ASSERT_TRUE(next.Accept(id).ok());
    if (!next.finished()) soonest = std::min(soonest, endings.Few(next.stepper(), next.place()));
  });
  ASSERT_LE(soonest, 20);
  for (int rest = 0; rest <= 20; ++rest) {
    SCOPED_TRACE(rest);
    TokenMask fitting(kVocabSize);
    {
      const RowStates::Scratch scratch(stepper.states());
      fitting = OwnClosing(&stepper, &endings, matcher.place(), *mask, rest).Fitting(*list);
    }
    fitting.VisitAllowed([&](TokenId id) {
      ASSERT_TRUE(mask->Allows(id)) << id;
      Matcher next = matcher.Fork();
      ASSERT_TRUE(next.Accept(id).ok());
      EXPECT_TRUE(EndsIn(next, rest)) << id;
    });
    if (rest < static_cast<int>(least->size()) - 1) EXPECT_TRUE(fitting.empty());
    if (rest >= soonest) EXPECT_FALSE(fitting.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ClosingOwnTest,
    testing::ValuesIn(std::vector<Case>{
        {"InAString", R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})",
         "[\"ab\",\"a"},
        {"BehindAComma", R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})",
         "[\"ab\",\"\","},
        {"ShortStrings",
         R"({"type":"array","uniqueItems":true,"minItems":3,)"
         R"("items":{"type":"string","maxLength":1}})",
         "[\"a\",\""},
        {"Arrays",
         R"({"type":"array","uniqueItems":true,"items":{"type":"array","items":{"type":"null"}}})",
         "[[null],[null"},
        {"Integers",
         R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"integer"}})", "[1,1"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
