// The fewest tokens that end a text, against a search that tries every token. In any order of
// asking, what an earlier question has shown of a state changes no answer to a later one.
#include "grammar_core/completion/late_states.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/completion/breadth_first.h"
#include "grammar_core/completion/fewest_tokens.h"
#include "grammar_core/completion/token_search.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/rows/number_ends.h"
#include "tests/matcher/every_token.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

struct LateCase {
  const char* name;
  const char* schema;
};

const LateCase kCases[] = {
    {"AnyString", R"({"type":"string"})"},
    {"ShortStrings", R"({"type":"array","items":{"type":"string","maxLength":2},"minItems":2})"},
    {"StringsOfSomeLength",
     R"({"type":"array","items":{"type":"string","minLength":3,"maxLength":5},"minItems":1})"},
    {"Numbers", R"({"type":"array","items":{"type":"number"},"minItems":2,"maxItems":3})"},
    {"NumbersWithBounds",
     R"({"type":"array","items":{"type":"integer","minimum":100,"maximum":4000},"minItems":2})"},
    {"ANumber", R"({"type":"integer","minimum":7,"maximum":120})"},
    {"Pattern", R"({"type":"string","pattern":"^[a-c]{2,4}x$"})"},
    {"Members",
     R"({"type":"object","properties":{"ab":{"type":"string","maxLength":1},"c":{"enum":[0,12]}},)"
     R"("required":["ab","c"],"additionalProperties":false})"},
    {"DistinctItems", R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"enum":)"
                      R"(["a","ab",1,12]}})"},
};

// Bytes and words; with `glued` there are words of a digit and what may stand behind a number, too.
std::shared_ptr<TokenizerSpace> SmallSpace(bool glued) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  for (const char* word :
       {"ab",  "bc",   "abc",   "abcx",   "xx",  "xxxx", "10",     "12",    "123", "000",  "\",\"",
        "\":", "\"]",  "{\"",   "[\"",    "\"}", "a\"",  "b\",\"", "\\u00", "001", "b\"]", "\\n",
        "n\"", "\xc3", "a\xc3", "\xa9\"", "e1",  "-1",   "  ",     " \"",   ",\"", ": "})
    tokens.push_back({word});
  if (glued)
    for (const char* word : {"1,", "2]", "0}", "12,\"", "1b\""}) tokens.push_back({word});
  const auto end = static_cast<TokenId>(tokens.size());
  tokens.push_back({"<end>", true});
  return TokenizerSpace::Create(*Vocabulary::Create("small", std::move(tokens), {end}));
}

class LateStatesTest : public testing::TestWithParam<LateCase> {};

// Asks for completions of about so many tokens as there are, in a random order.
void AskAround(const Matcher& matcher, int fewest, LateStates* late, Random* random) {
  TokenSearch search = matcher.stepper().search();
  search.late = late;
  std::vector<int> bounds;
  for (int most = std::max(0, fewest - 3); most <= fewest + 1; ++most) bounds.push_back(most);
  std::ranges::shuffle(bounds, *random);
  for (const int most : bounds) {
    Budget budget = Budget::Unlimited();
    Work work(budget);
    const auto found = FewestTokens(search, matcher.place(), most, work);
    ASSERT_EQ(found.ok(), fewest <= most) << most << " of " << fewest;
    if (found.ok()) {
      ASSERT_EQ(static_cast<int>(found->size()), fewest) << most;
      Matcher end = matcher.Fork();
      for (const TokenId id : *found) ASSERT_TRUE(end.Accept(id).ok()) << id;
      ASSERT_TRUE(end.stepper().MayEnd(end.place()));
    }
    ASSERT_LE(LeastTokens(search, matcher.place()), fewest);
  }
}

TEST_P(LateStatesTest, WhatWasShownIsSoOfEveryState) {
  int compared = 0;
  for (const bool glued : {false, true}) {
    const auto space = SmallSpace(glued);
    EXPECT_EQ(space->index().digits_are_alone(), !glued);
    for (const JsonSpelling spelling : {JsonSpelling::kAny, JsonSpelling::kCanonical}) {
      GrammarOptions options;
      options.spelling = spelling;
      Budget budget = Budget::Unlimited();
      const auto grammar =
          CompileGrammar({"json_schema", GetParam().schema, options}, space, Limits(), budget);
      ASSERT_TRUE(grammar.ok()) << grammar.status();
      EveryToken oracle;
      LateStates late;
      Random random(5);  // NOLINT(cert-msc51-cpp): the same walks in every run
      for (int walk = 0; walk < 4 && !HasFatalFailure(); ++walk) {
        Matcher matcher(*grammar);
        late.ForgetOthers(matcher.stepper().automaton_serial());
        for (int taken = 0; taken < 5 && !HasFatalFailure(); ++taken) {
          const int fewest = oracle.FewestFrom(matcher);
          if (fewest < EveryToken::kMost) {
            SCOPED_TRACE(absl::StrCat(glued, " walk ", walk, " token ", taken));
            AskAround(matcher, fewest, &late, &random);
            ++compared;
          }
          std::vector<TokenId> allowed;
          (*matcher.Mask())->VisitAllowed([&](TokenId id) {
            if (!space->vocabulary().IsSpecial(id)) allowed.push_back(id);
          });
          if (allowed.empty()) break;
          ASSERT_TRUE(matcher.Accept(allowed[random() % allowed.size()]).ok());
        }
      }
    }
  }
  EXPECT_GT(compared, 20);
}

INSTANTIATE_TEST_SUITE_P(Schemas, LateStatesTest, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
