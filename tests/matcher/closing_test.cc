// Rows with a budget of tokens end within it whenever that is possible at all, whatever they choose
// among the tokens of the narrowed masks.
#include "grammar_core/matcher/closing.h"

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/completion/fewest_tokens.h"
#include "grammar_core/matcher/closing_strings.h"
#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/rows/row_states.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/base/night.h"
#include "tests/matcher/random_grammar.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

std::shared_ptr<const CompiledGrammar> Compile(const GrammarSource& source,
                                               const std::shared_ptr<TokenizerSpace>& space) {
  Budget budget{Budget::Bounds()};
  auto grammar = CompileGrammar(source, space, Limits(), budget);
  return grammar.ok() ? *std::move(grammar) : nullptr;
}

TokenId AnyAllowed(const TokenMask& mask, Random* random) {
  std::vector<TokenId> allowed;
  mask.VisitAllowed([&allowed](TokenId id) { allowed.push_back(id); });
  return allowed[(*random)() % allowed.size()];
}

// Takes any tokens of the narrowed masks; whether the text ended within `budget`.
bool EndsWithin(Matcher matcher, int budget, ClosingMasks* closing, Random* random) {
  for (int left = budget; left > 0; --left) {
    const auto mask = matcher.Mask();
    if (!mask.ok()) return false;
    const MaskRef narrowed = closing->Narrow(matcher.stepper(), matcher.place(), *mask, left);
    if (!matcher.Accept(AnyAllowed(*narrowed, random)).ok()) return false;
    if (matcher.finished()) return true;
  }
  return false;
}

TEST(ClosingMasks, EveryRowEndsWithinItsBudget) {
  Random random(7);  // NOLINT(cert-msc51-cpp): the same grammars in every run
  const auto space = TokenizerSpace::Create(TestVocabulary());
  int walks = 0;
  for (int i = 0; i < 120; ++i) {
    const GrammarSource source = RandomGrammar(&random);
    const auto grammar = Compile(source, space);
    if (grammar == nullptr) continue;
    ClosingMasks closing;
    const Matcher start(grammar);
    const auto fewest = start.FewestTokens(200);
    if (!fewest.ok()) continue;
    for (const int spare : {0, 1, 2, 5, 20}) {
      const int budget = static_cast<int>(fewest->size()) + 1 + spare;
      ASSERT_TRUE(EndsWithin(start, budget, &closing, &random))
          << source.kind << " " << source.text << " in " << budget;
      ++walks;
    }
  }
  EXPECT_GT(walks, 200);
}

struct ShortestText {
  const char* name;
  const char* schema;
  std::string_view text;
};

class ShortestTextTest : public testing::TestWithParam<ShortestText> {};

// The known ending writes "red" where the fewest tokens write 1, 2 and null in another order.
INSTANTIATE_TEST_SUITE_P(
    Schemas, ShortestTextTest,
    testing::Values(
        ShortestText{"ArraysInObjects",
                     R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"type":"object",
                         "properties":{"n":{"type":"array","uniqueItems":true,"minItems":3,
                         "items":{"enum":["red","green","dark blue",1,2,null]}}},
                         "required":["n"]}})",
                     R"([{"n":[1,2,null]},{"n":[1,null,2]},{"n":[2,1,null]}])"},
        // Whether a step leads to repetitions alone is itself a long search there.
        ShortestText{"ObjectsOfManyMembers",
                     R"({"type":"array","uniqueItems":true,"minItems":4,"items":{"type":"object",
                         "properties":{"tags":{"type":"object","properties":{"count":{},
                         "n":{"enum":["red",1,2,null]}},"required":["n"]},
                         "count":{"type":"array","items":{"type":"string"},"uniqueItems":true},
                         "n":{"type":"array","items":{"enum":["red","green","dark blue",1,2,null]},
                         "uniqueItems":true,"minItems":3}},"required":["tags","n"]}})",
                     R"([{"tags":{"n":1},"n":[1,2,null]},{"tags":{"n":1},"n":[1,null,2]},)"
                     R"({"tags":{"n":1},"n":[2,1,null]},{"tags":{"n":1},"n":[2,null,1]}])"}),
    [](const auto& test) { return test.param.name; });

TEST_P(ShortestTextTest, ARowEndsInItsTokens) {
  const auto space = TokenizerSpace::Create(EmbeddedByteVocabulary());
  const auto grammar = Compile({"json_schema", GetParam().schema, {}}, space);
  ASSERT_NE(grammar, nullptr);
  const Matcher start(grammar);
  Random random(9);  // NOLINT(cert-msc51-cpp)
  ClosingMasks closing;
  for (const int spare : {0, 1, 2, 5}) {
    const int budget = static_cast<int>(GetParam().text.size()) + 1 + spare;
    for (int walk = 0; walk < 5; ++walk)
      ASSERT_TRUE(EndsWithin(start, budget, &closing, &random)) << budget;
  }
}

TEST(ClosingMasks, EveryRowOfIndentedLinesEndsWithinItsBudget) {
  Random random(8);  // NOLINT(cert-msc51-cpp)
  const auto space = TokenizerSpace::Create(TestVocabulary());
  for (const GrammarSource& source : IndentedGrammars()) {
    const auto grammar = Compile(source, space);
    ASSERT_NE(grammar, nullptr) << source.text;
    ClosingMasks closing;
    const Matcher start(grammar);
    const auto fewest = start.FewestTokens(200);
    ASSERT_TRUE(fewest.ok()) << fewest.status();
    for (const int spare : {0, 1, 2, 5, 20, 60}) {
      const int budget = static_cast<int>(fewest->size()) + 1 + spare;
      for (int walk = 0; walk < 5; ++walk) {
        ASSERT_TRUE(EndsWithin(start, budget, &closing, &random))
            << source.kind << " " << source.text << " in " << budget;
      }
    }
  }
}

TEST(ClosingMasks, AMaskWithRoomIsTheGrammarsOwn) {
  const auto space = TokenizerSpace::Create(TestVocabulary());
  const auto grammar = Compile({"regex", "(ab)*", {}}, space);
  const Matcher matcher(grammar);
  const MaskRef mask = *matcher.Mask();
  ClosingMasks closing;
  EXPECT_EQ(closing.Narrow(matcher.stepper(), matcher.place(), mask, 50), mask);
  EXPECT_EQ(closing.Narrow(matcher.stepper(), matcher.place(), mask, 1000), mask);
  const MaskRef end = closing.Narrow(matcher.stepper(), matcher.place(), mask, 1);
  EXPECT_EQ(end->CountAllowed(), 1);
  EXPECT_TRUE(end->Allows(kEnd));
}

// Names that may not repeat: another first character, not one more.
TEST(Endings, AByteThatRepeatsIsReplacedWhereLeastStandsBeforeIt) {
  const auto space = TokenizerSpace::Create(EmbeddedByteVocabulary());
  const auto grammar =
      Compile({"json_schema", R"({"type":"object","additionalProperties":{"type":"boolean"},)"
                              R"("minProperties":3,"propertyNames":{"pattern":"^[a-z_]{1,12}$"}})"},
              space);
  ASSERT_NE(grammar, nullptr);
  const Matcher start(grammar);
  Endings endings;
  const auto tokens = endings.Tokens(start.stepper(), start.place());
  EXPECT_EQ(tokens.size(), std::string_view(R"({"_":true,"a":true,"b":true})").size());
}

// Another value of `kind`, three bytes back, and not one more member.
TEST(Endings, AnItemThatRepeatsIsToldApartByTheFewestBytes) {
  const auto space = TokenizerSpace::Create(EmbeddedByteVocabulary());
  const auto grammar = Compile(
      {"json_schema", R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object",)"
                      R"("properties":{"kind":{"enum":["a","b"]},"size":{"type":"integer"}},)"
                      R"("required":["kind"],"additionalProperties":false}})"},
      space);
  ASSERT_NE(grammar, nullptr);
  const Matcher start(grammar);
  const auto tokens = Endings().Tokens(start.stepper(), start.place());
  EXPECT_EQ(tokens.size(), std::string_view(R"([{"kind":"a"},{"kind":"b"}])").size());
}

// 1 and 1.0 are one value: the third item needs another one, further back, and no more digits.
TEST(Endings, AValueThatMayOnlyRepeatIsNotWrittenInOtherWords) {
  const auto space = TokenizerSpace::Create(EmbeddedByteVocabulary());
  const auto grammar = Compile(
      {"json_schema", R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"type":"object",)"
                      R"("properties":{"count":{"enum":[1,2,"red",null,"no","so"]},)"
                      R"("name":{"type":"boolean"}},)"
                      R"("required":["count","name"],"additionalProperties":false}})"},
      space);
  ASSERT_NE(grammar, nullptr);
  const Matcher start(grammar);
  Budget budget({.work = 1'000'000});
  Work work(budget);
  const auto tokens = Endings().Tokens(start.stepper(), start.place(), work);
  EXPECT_TRUE(work.ok());
  EXPECT_LT(budget.spent(), 5'000);
  EXPECT_EQ(tokens.size(), std::string_view(R"([{"count":1,"name":true},{"count":1,"name":false},)"
                                            R"({"count":2,"name":true}])")
                               .size());
}

// A row writes nothing into the array any more, and before it nothing yet.
TEST(Endings, WhatIsBesideAnArrayOfDistinctItemsIsLookedForOnce) {
  const auto space = TokenizerSpace::Create(EmbeddedByteVocabulary());
  const auto grammar = Compile(
      {"json_schema", R"({"type":"object","properties":{)"
                      R"("one":{"type":"array","uniqueItems":true,"minItems":9,)"
                      R"("items":{"type":"string"}},"two":{"type":"object","minProperties":9,)"
                      R"("additionalProperties":{"type":"boolean"}}},)"
                      R"("required":["one","two"],"additionalProperties":false})"},
      space);
  ASSERT_NE(grammar, nullptr);
  Endings endings;
  Matcher row(grammar);
  std::vector<std::int64_t> spent;
  int few = Endings::kNever;
  for (const char byte : std::string_view(R"({"one":["",")")) {
    Budget budget({.work = 1'000'000});
    Work work(budget);
    few = endings.Few(row.stepper(), row.place(), work);
    spent.push_back(budget.spent());
    ASSERT_TRUE(row.Accept(static_cast<unsigned char>(byte)).ok());
  }
  EXPECT_LT(few, Endings::kNever);
  // The first look finds all. Before the array one is a table read; within it the array alone is
  // walked.
  EXPECT_GT(spent[0], 500);
  for (std::size_t i = 1; i < 8; ++i) EXPECT_LT(spent[i], 20) << i;
  for (std::size_t i = 8; i < spent.size(); ++i) EXPECT_LT(spent[i], spent[0] / 2) << i;
}

// A search for the digits of each remainder would go through all of them: 65,520 states, each.
TEST(ClosingMasks, MultiplesOfALargeNumberAreNotSearchedFor) {
  const auto space = TokenizerSpace::Create(EmbeddedByteVocabulary());
  const auto grammar = Compile(
      {"json_schema", R"({"type":"array","items":{"type":"integer","multipleOf":65521}})"}, space);
  ASSERT_NE(grammar, nullptr);
  Random random(5);  // NOLINT(cert-msc51-cpp): the same rows in every run
  ClosingMasks closing;
  Matcher row(grammar);
  const std::size_t before = row.stepper().states().automaton().store().size();
  for (const int budget : {9, 10, 20, 40})
    EXPECT_TRUE(EndsWithin(row, budget, &closing, &random)) << budget;
  EXPECT_LT(row.stepper().states().automaton().store().size() - before, 20'000U);
}

// The bytes, and words that have each but one byte of a string.
std::shared_ptr<TokenizerSpace> SpaceOfWords(const std::vector<std::string>& words) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  for (const std::string& word : words) tokens.push_back({word});
  const auto end = static_cast<TokenId>(tokens.size());
  tokens.push_back({"<end>", true});
  return TokenizerSpace::Create(*Vocabulary::Create("words", std::move(tokens), {end}));
}

// The first byte that repeats nothing is `!` or `a`: another one is part of a longer token. The
// search for the fewest tokens is too dear to find it.
TEST(ClosingMasks, ARowEndsInTimeByTheBytesThatTokensHave) {
  const struct {
    const char* schema;
    const char* text;  // of so few tokens
    int fewest;
  } kCases[] = {
      {R"({"type":"array","uniqueItems":true,"minItems":4,"items":{"type":"string"}})",
       R"(["","/","+","="])", 10},
      {R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object",)"
       R"("properties":{"kind":{"type":"string"},"flag":{"type":"array"}},)"
       R"("required":["kind","flag"],"additionalProperties":false}})",
       R"([{"kind":"","flag":[]},{"kind":"/","flag":[]}])", 10},
      {R"({"type":"object","minProperties":3,"additionalProperties":{"type":"boolean"}})",
       R"({"":true,"/":true,"+":true})", 11},
  };
  Random random(12);  // NOLINT(cert-msc51-cpp)
  const auto space = SpaceOfWords(
      {"\"/\"", "\"+\"", "\"=\"", "\"/", "\"+", "\",\"flag\":[]}", "\"kind\":", ",{", ":true"});
  for (const auto& [schema, text, fewest] : kCases) {
    const auto grammar = Compile({"json_schema", schema, {}}, space);
    ASSERT_NE(grammar, nullptr) << schema;
    Matcher start(grammar);
    ASSERT_TRUE(start.MatchText(text)->may_end) << text;
    ASSERT_EQ(FewestPieces(start.stepper().search(), text).size(), fewest) << text;
    ASSERT_GT(Endings().Few(start.stepper(), start.place()), fewest) << schema;
    ClosingMasks closing;
    for (int walk = 0; walk < 20; ++walk)
      EXPECT_TRUE(EndsWithin(start, fewest + 1, &closing, &random)) << schema;
  }
}

// Schemas whose endings depend on what the row has written, or on what it has not.
const char* const kRareSchemas[] = {
    R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})",
    R"({"type":"array","uniqueItems":true,"minItems":4,"items":{"type":"string"}})",
    R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"enum":["a","ab","abc","b"]}})",
    R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"boolean"}})",
    R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"type":"integer","minimum":0}})",
    R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"array","uniqueItems":true,
        "minItems":2,"items":{"type":"string","maxLength":3}}})",
    R"({"type":"object","properties":{"ab":{"type":"array","uniqueItems":true,
        "items":{"type":"string"}}},"required":["ab"],"additionalProperties":false})",
    R"({"type":"object","minProperties":2,"additionalProperties":{"type":"string"}})",
    R"({"type":"object","minProperties":3,"additionalProperties":{"type":"boolean"},
        "propertyNames":{"pattern":"^[ab]{1,2}$"}})",
    R"({"type":"array","contains":{"const":"abc"},"items":{"type":"string"}})",
    R"({"type":"array","items":{"type":["integer","string"]},"contains":{"type":"integer"},
        "minContains":2})",
    R"({"type":"object","properties":{"a":{"enum":["b","c"]}},"required":["a"],
        "if":{"properties":{"a":{"const":"b"}}},"then":{"required":["bc"]}})",
    R"({"type":"string","minLength":6,"maxLength":9})",
    R"({"type":"object"})",
    R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"type":"object",
        "properties":{"a":{"enum":[1,2,3,"a","b","ab"]},"ab":{"type":"boolean"}},
        "required":["a","ab"],"additionalProperties":false}})",
    R"({"type":"object","properties":{"a":{"type":"array","uniqueItems":true,"minItems":2,
        "items":{"type":"integer"}},"b":{"type":"array","uniqueItems":true,"minItems":2,
        "items":{"enum":["a","b","ab"]}}},"required":["a","b"],"additionalProperties":false})",
    // All is taken but one, and that is long: the text as if items could be equal does not tell.
    R"({"type":"array","uniqueItems":true,"minItems":1,"items":{"type":"object","properties":{
        "a":{"enum":["a","0123456789012345678901234567890123456789012345678901234567890123"]}},
        "required":["a"],"additionalProperties":false}})",
    R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object","properties":{
        "a":{"enum":["a","0123456789012345678901234567890123456789012345678901234567890123"]}},
        "required":["a"],"additionalProperties":false}})",
};

// Schemas of which the fewest tokens of all are soon searched for.
const char* const kPlainSchemas[] = {
    R"({"type":"string"})",
    R"({"type":"string","minLength":3,"maxLength":5})",
    R"({"enum":["a","ab","abc",true,null]})",
    R"({"type":"object","properties":{"a":{"type":"integer"},"ab":{"type":"string"}},
        "required":["a","ab"],"additionalProperties":false})",
    R"({"type":"array","items":{"type":"string","maxLength":4},"minItems":2})",
    R"({"type":"array","contains":{"const":"abc"},"items":{"type":"string","maxLength":3}})",
    R"({"type":"object","properties":{"a":{"enum":["b","c"]},"bc":{"type":"boolean"}},
        "required":["a"],"additionalProperties":false,
        "if":{"properties":{"a":{"const":"b"}}},"then":{"required":["bc"]}})",
};

// By the spelling of its strings.
class ClosingSpellingTest : public testing::TestWithParam<JsonSpelling> {
 protected:
  static GrammarSource Schema(const char* schema) {
    GrammarSource source = {"json_schema", schema, {}};
    source.options.spelling = GetParam();
    return source;
  }
};

INSTANTIATE_TEST_SUITE_P(Spellings, ClosingSpellingTest,
                         testing::Values(JsonSpelling::kAny, JsonSpelling::kCanonical),
                         [](const auto& test) {
                           return test.param == JsonSpelling::kAny ? "Any" : "Canonical";
                         });

// What makes the levels of a string cheap: 0.1 ms where they take 2.5 ms otherwise.
TEST_P(ClosingSpellingTest, StringsOfAnyCharactersAreKnownByTheirForm) {
  const auto space = TokenizerSpace::Create(TestVocabulary());
  for (const char* schema : {R"({"type":"string"})", R"({"type":"string","maxLength":40})"}) {
    Matcher matcher(Compile(Schema(schema), space));
    for (const TokenId token : FewestPieces(matcher.stepper().search(), "\"ab"))
      ASSERT_TRUE(matcher.Accept(token).ok()) << schema;
    const TermStore& store = matcher.stepper().states().automaton().store();
    EXPECT_NE(FreeString(store, RowMemory::TermOf(matcher.place())), nullptr) << schema;
  }
}

TEST_P(ClosingSpellingTest, RowsOfRareKeywordsEndWithinTheirBudgets) {
  Random random(9);  // NOLINT(cert-msc51-cpp)
  const auto space = TokenizerSpace::Create(TestVocabulary());
  for (const char* schema : kRareSchemas) {
    const auto grammar = Compile(Schema(schema), space);
    ASSERT_NE(grammar, nullptr) << schema;
    ClosingMasks closing;
    const Matcher start(grammar);
    const int few = Endings().Few(start.stepper(), start.place());
    ASSERT_LT(few, Endings::kNever) << schema;
    for (int spare = 0; spare <= 50; spare += spare < 6 ? 1 : ByNight(5, 1)) {
      const int budget = few + 1 + spare;
      for (int walk = 0; walk < 5; ++walk)
        ASSERT_TRUE(EndsWithin(start, budget, &closing, &random)) << schema << " in " << budget;
    }
  }
}

// Whether `text`, in as few tokens as spell it, passes the masks of a row of `budget`.
bool Passes(Matcher matcher, absl::string_view text, int budget, ClosingMasks* closing) {
  const TokenSearch search = matcher.stepper().search();
  std::vector<TokenId> tokens = FewestPieces(search, text);
  tokens.push_back(kEnd);
  for (const TokenId token : tokens) {
    const auto mask = matcher.Mask();
    if (!mask.ok()) return false;
    const MaskRef narrowed = closing->Narrow(matcher.stepper(), matcher.place(), *mask, budget--);
    if (!narrowed->Allows(token) || !matcher.Accept(token).ok()) return false;
  }
  return matcher.finished();
}

TEST_P(ClosingSpellingTest, TextsThatFitPassAndOthersAreRefusedInTime) {
  struct Text {
    const char* schema;
    const char* text;
  };
  const Text kTexts[] = {
      {kRareSchemas[0], R"(["zz","abc","hello world"])"},
      {kRareSchemas[0], R"(["","a","ab","abc"])"},
      {kRareSchemas[1], R"(["ab","bc","abc","a"])"},
      {kRareSchemas[2], R"(["abc","b","ab"])"},
      {kRareSchemas[4], R"([10,11,100,1])"},
      {kRareSchemas[6], R"({"ab":["zz","abc","hello world"]})"},
      {kRareSchemas[7], R"({"zz":"abc","hello":"world"})"},
      {kRareSchemas[9], R"(["ab","bc","abc"])"},
      {kRareSchemas[11], R"({"a":"b","bc":true})"},
      {kRareSchemas[12], R"("hello!")"},
  };
  const auto space = TokenizerSpace::Create(TestVocabulary());
  for (const auto& [schema, text] : kTexts) {
    const auto grammar = Compile(Schema(schema), space);
    ASSERT_NE(grammar, nullptr) << schema;
    const Matcher start(grammar);
    const int need = static_cast<int>(FewestPieces(start.stepper().search(), text).size()) + 1;
    ClosingMasks closing;
    ASSERT_TRUE(start.Fork().MatchText(text)->may_end) << text;
    for (const int spare : {0, 1, 8, 50})
      EXPECT_TRUE(Passes(start, text, need + spare, &closing)) << text << " with " << spare;
    const int few = Endings().Few(start.stepper(), start.place());
    for (int budget = need - 1; budget > few; --budget)
      EXPECT_FALSE(Passes(start, text, budget, &closing)) << text << " in " << budget;
  }
}

// A token that is kept leads to a text that ends in time. One that is left out does not, but where
// a token of both the end and a character before it would do, which the shortest text has not.
TEST_P(ClosingSpellingTest, KeepsWhatFits) {
  Random random(10);  // NOLINT(cert-msc51-cpp)
  const auto space = TokenizerSpace::Create(TestVocabulary());
  int kept = 0;
  int left_out = 0;
  int missed = 0;
  for (const char* schema : kPlainSchemas) {
    const auto grammar = Compile(Schema(schema), space);
    ASSERT_NE(grammar, nullptr) << schema;
    Matcher matcher(grammar);
    ClosingMasks closing;
    for (int step = 0; step < 8 && !matcher.finished(); ++step) {
      const MaskRef mask = *matcher.Mask();
      const auto fewest = matcher.FewestTokens(60);
      ASSERT_TRUE(fewest.ok()) << schema << fewest.status();
      const int left = static_cast<int>(fewest->size()) + 1 + static_cast<int>(random() % 3);
      const TokenMask narrowed = *closing.Narrow(matcher.stepper(), matcher.place(), mask, left);
      mask->VisitAllowed([&](TokenId id) {
        if (id == kEnd || random() % 4 > 0) return;
        Matcher behind = matcher.Fork();
        ASSERT_TRUE(behind.Accept(id).ok());
        const bool fits = behind.FewestTokens(left - 2).ok();
        EXPECT_TRUE(fits || !narrowed.Allows(id))
            << schema << " token " << id << " of " << left << " left";
        if (narrowed.Allows(id))
          ++kept;
        else
          ++(fits ? missed : left_out);
      });
      ASSERT_TRUE(matcher.Accept(AnyAllowed(narrowed, &random)).ok());
    }
  }
  EXPECT_GT(kept, 100);
  EXPECT_GT(left_out, 150);
  EXPECT_LT(missed, 40);
}

}  // namespace
}  // namespace maskd
