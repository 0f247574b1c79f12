// Arrays of distinct items of any kind. The judge is the same schema without uniqueItems and
// nlohmann's comparison of values: a text of that schema is taken exactly if its items differ; all
// that a mask allows can be taken and ended, and nothing that it forbids can be taken.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/automaton_size.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_stepper.h"
#include "tests/matcher/long_tokens.h"

namespace maskd {
namespace {

// The bytes and, behind them, tokens of several items or members.
const std::vector<std::string>& LongTokens() {
  static const auto* const tokens = new std::vector<std::string>{
      "},{",         R"("},{")", R"(":1},{")",  "1,1",        "1,",          ",1",
      "[1,1",        "0,1,2",    R"(,"a")",     R"({"a":1})", R"(,{"a":1})", "true,",
      ",true",       "],[",      R"("a":1,"a)", R"(","a")",   "[[],[",       R"([{"a":1},{)",
      R"("a":true)", "1]",       ".0",          "e0",         "true,false",  ",\n ",
      "1,\n 1",      "\",\n",    "\n ],",       "},\n {",     "\n]",         "[],\n [\n  "};
  return *tokens;
}

struct Schema {
  const char* name;
  const char* text;  // with one "uniqueItems":true
};

std::shared_ptr<const CompiledGrammar> Compiled(const std::string& schema,
                                                PropertyOrder order = PropertyOrder::kAny,
                                                std::optional<int> indent = std::nullopt) {
  GrammarSource source = {"json_schema", schema, {}};
  source.options.indent = indent;
  if (!indent.has_value()) source.options.white_space = WhiteSpace::kCompact;
  source.options.property_order = order;
  Budget budget = Budget::Unlimited();
  auto compiled = CompileGrammar(source, SpaceWith(LongTokens()), Limits(), budget);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return *compiled;
}

bool IsDistinct(const nlohmann::json& array) {
  for (auto item = array.begin(); item != array.end(); ++item)
    if (std::find(array.begin(), item, *item) != item) return false;
  return true;
}

// Whether no object has a name twice, which nlohmann's values do not show.
bool HasNamesOnce(const std::string& text) {
  std::vector<std::vector<std::string>> names;
  bool once = true;
  const auto look = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& part) {
    if (event == nlohmann::json::parse_event_t::object_start) names.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) names.pop_back();
    if (event == nlohmann::json::parse_event_t::key) {
      std::vector<std::string>& open = names.back();
      const auto name = part.get<std::string>();
      once &= std::find(open.begin(), open.end(), name) == open.end();
      open.push_back(name);
    }
    return true;
  };
  const auto parsed = nlohmann::json::parse(text, look);
  return once && !parsed.is_discarded();
}

class DistinctValuesTest : public testing::TestWithParam<Schema> {
 protected:
  static constexpr absl::string_view kLetters = "[]{}\",:ab01truefals.e- \n";

  static bool IsJudged(absl::string_view token) {
    return !token.empty() && token.find_first_not_of(kLetters) == absl::string_view::npos;
  }

  // A random token of those judged that the mask allows; kEndOfLongTokens where the walk is over.
  TokenId Pick(const Vocabulary& vocabulary, const TokenMask& mask, bool may_end) {
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < kEndOfLongTokens; ++id)
      if (mask.Allows(id) && IsJudged(vocabulary.TokenBytes(id))) allowed.push_back(id);
    if (allowed.empty() || (may_end && random_() % 2 == 0)) return kEndOfLongTokens;
    return allowed[random_() % allowed.size()];
  }

  [[nodiscard]] virtual bool IsRight(const nlohmann::json& value) const {
    return value.is_object() || IsDistinct(value);
  }

  // Walks: masks are what can be taken and ended.
  void CheckMasks(std::optional<int> indent = std::nullopt);

  std::mt19937_64 random_{7};
};

bool TakesBytes(Matcher matcher, absl::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [&](char byte) {
    return matcher.Accept(static_cast<unsigned char>(byte)).ok();
  });
}

void DistinctValuesTest::CheckMasks(std::optional<int> indent) {
  const auto grammar = Compiled(GetParam().text, PropertyOrder::kAny, indent);
  const Vocabulary& vocabulary = grammar->tokenizer().vocabulary();
  for (int round = 0; round < 30; ++round) {
    Matcher matcher(grammar);
    std::string text;
    for (int step = 0; step < 30; ++step) {
      const absl::StatusOr<MaskRef> mask = matcher.Mask();
      ASSERT_TRUE(mask.ok()) << mask.status() << " behind " << text;
      for (TokenId id = 0; id < kEndOfLongTokens; ++id) {
        const absl::string_view token = vocabulary.TokenBytes(id);
        if (!IsJudged(token)) continue;
        ASSERT_EQ((*mask)->Allows(id), TakesBytes(matcher.Fork(), token))
            << text << " then " << token;
      }
      const TokenId id = Pick(vocabulary, **mask, matcher.may_end());
      if (id == kEndOfLongTokens) break;
      ASSERT_TRUE(matcher.Accept(id).ok()) << text;
      absl::StrAppend(&text, vocabulary.TokenBytes(id));
    }
    const absl::StatusOr<std::string> rest = matcher.ShortestCompletion(1'000);
    ASSERT_TRUE(rest.ok()) << rest.status() << " behind " << text;
    absl::StrAppend(&text, *rest);
    const auto value = nlohmann::json::parse(text);
    EXPECT_TRUE(IsRight(value)) << text;
    EXPECT_TRUE(HasNamesOnce(text)) << text;
  }
}

TEST_P(DistinctValuesTest, MasksAreWhatCanBeTakenAndEnded) { CheckMasks(); }

TEST_P(DistinctValuesTest, MasksOfLinesAreSoToo) { CheckMasks(1); }

TEST_P(DistinctValuesTest, TakesExactlyTheTextsWhoseItemsDiffer) {
  const auto distinct = Compiled(GetParam().text);
  const std::string other =
      absl::StrReplaceAll(GetParam().text, {{R"("uniqueItems":true)", R"("uniqueItems":false)"}});
  const auto any = Compiled(other);
  const Vocabulary& vocabulary = any->tokenizer().vocabulary();
  int different = 0;
  int equal = 0;
  for (int round = 0; round < 300; ++round) {
    Matcher matcher(any);
    std::string text;
    for (int step = 0; step < 40; ++step) {
      const TokenId id = Pick(vocabulary, **matcher.Mask(), matcher.may_end());
      if (id == kEndOfLongTokens) break;
      ASSERT_TRUE(matcher.Accept(id).ok());
      absl::StrAppend(&text, vocabulary.TokenBytes(id));
    }
    const absl::StatusOr<std::string> rest = matcher.ShortestCompletion(1'000);
    if (!rest.ok()) continue;
    absl::StrAppend(&text, *rest);
    const bool right = IsDistinct(nlohmann::json::parse(text)) && HasNamesOnce(text);
    ++(right ? different : equal);
    Matcher judged(distinct);
    bool taken = true;
    for (const char byte : text)
      taken = taken && judged.Accept(static_cast<unsigned char>(byte)).ok();
    EXPECT_EQ(taken && judged.may_end(), right) << text;
  }
  EXPECT_GT(different, 20);
  EXPECT_GT(equal, 20);
}

INSTANTIATE_TEST_SUITE_P(
    Arrays, DistinctValuesTest,
    testing::ValuesIn(std::vector<Schema>{
        {"FewIntegers",
         R"({"type":"array","uniqueItems":true,"items":{"type":"integer","minimum":0,"maximum":2}})"},
        {"Numbers", R"({"type":"array","uniqueItems":true,"items":{"type":"number"}})"},
        {"Flags",
         R"({"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}},"additionalProperties":false}})"},
        {"RequiredFlags",
         R"({"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"type":"boolean"},"b":{"const":1}},"required":["a","b"],"additionalProperties":false}})"},
        {"NamedStrings",
         R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}})"},
        {"OpenObjects",
         R"({"type":"array","uniqueItems":true,"items":{"type":"object","additionalProperties":{"enum":[0,1]}}})"},
        {"OneLetterNames",
         R"({"type":"array","uniqueItems":true,"items":{"type":"object","patternProperties":{"^[ab]$":{"enum":[0,1]}},"additionalProperties":false}})"},
        {"Mixed",
         R"({"type":"array","uniqueItems":true,"items":{"anyOf":[{"enum":["a","b",1]},{"type":"boolean"},{"type":"array","maxItems":1,"items":{"type":"boolean"}}]}})"},
        {"Nested",
         R"({"type":"array","uniqueItems":true,"items":{"type":"array","items":{"enum":[0,true,"a"]},"maxItems":2}})"},
        {"Prefix",
         R"({"type":"array","uniqueItems":true,"prefixItems":[{"type":"boolean"},{"type":"boolean"}],"items":{"type":"integer","minimum":0,"maximum":1}})"},
        {"Contains",
         R"({"type":"array","uniqueItems":true,"contains":{"const":1},"items":{"type":"integer","minimum":0,"maximum":11}})"},
        {"FewStrings",
         R"({"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[ab]{1,2}$"}})"},
        {"LongConstants",
         R"({"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"enum":["aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbb","a"]},"b":{"type":"boolean"}},"required":["a","b"],"additionalProperties":false}})"},
        {"SeveralOfFew",
         R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"],"additionalProperties":false}})"},
        {"Anything", R"({"type":"array","uniqueItems":true})"},
    }),
    [](const auto& test) { return test.param.name; });

class NamesOnceTest : public DistinctValuesTest {};

TEST_P(NamesOnceTest, MasksAreWhatCanBeTakenAndEnded) { CheckMasks(); }

INSTANTIATE_TEST_SUITE_P(
    Objects, NamesOnceTest,
    testing::ValuesIn(std::vector<Schema>{
        {"AnyName", R"({"type":"object","minProperties":2,"additionalProperties":{"enum":[0,1]}})"},
        {"FewNames",
         R"({"type":"object","minProperties":2,"patternProperties":{"^[ab]$":{"enum":[0,1]}},"additionalProperties":false})"},
        {"BesideDeclared",
         R"({"type":"object","minProperties":3,"properties":{"a":{"enum":[0]}},"patternProperties":{"^[ab]{2}$":{"enum":[0,1]}},"additionalProperties":false})"},
        {"Nested",
         R"({"type":"object","minProperties":2,"additionalProperties":{"type":"object","additionalProperties":{"enum":[0]}}})"},
    }),
    [](const auto& test) { return test.param.name; });

// An array is of either kind as long as both fit.
class EitherArrayTest : public DistinctValuesTest {
 protected:
  [[nodiscard]] bool IsRight(const nlohmann::json& value) const override {
    const bool nests = !value.empty() && value[0].is_array();
    return nests ? IsDistinct(value) && std::all_of(value.begin(), value.end(), IsEither)
                 : IsEither(value);
  }

 private:
  static bool IsEither(const nlohmann::json& array) {
    return IsDistinct(array) || (array.size() == 3 && array[2] == true);
  }
};

TEST_P(EitherArrayTest, MasksAreWhatCanBeTakenAndEnded) { CheckMasks(); }

INSTANTIATE_TEST_SUITE_P(
    Arrays, EitherArrayTest,
    testing::ValuesIn(std::vector<Schema>{
        {"DistinctOrThree",
         R"({"anyOf":[{"type":"array","uniqueItems":true,"items":{"type":"integer","minimum":0,"maximum":11}},
{"type":"array","prefixItems":[{"enum":[0,1,11]},{"enum":[0,1,11]},
{"const":true}],"items":false,"minItems":3}]})"},
        {"WithinDistinct",
         R"({"type":"array","uniqueItems":true,"minItems":1,"items":{"anyOf":[
             {"type":"array","uniqueItems":true,"items":{"type":"integer","minimum":0,"maximum":1}},
{"type":"array","prefixItems":[{"enum":[0,1]},{"enum":[0,1]},
{"const":true}],"items":false,"minItems":3}]}})"},
    }),
    [](const auto& test) { return test.param.name; });

// What a row has written makes no state of its grammar.
TEST(DistinctRowsTest, ShareTheStatesOfTheirGrammar) {
  const auto grammar = Compiled(
      R"({"type":"array","uniqueItems":true,"items":{"type":["string","integer","array"]}})");
  const auto walk = [&](absl::string_view text) {
    Matcher matcher(grammar);
    for (const char byte : text) {
      EXPECT_TRUE(matcher.Accept(static_cast<unsigned char>(byte)).ok()) << text;
      EXPECT_TRUE(matcher.Mask().ok());
    }
  };
  walk(R"([1,12,3,"a","ab",[0,"a"],["b"]])");
  const std::int64_t terms = AutomatonSize(*grammar->automaton()).terms();
  const std::int64_t masks = grammar->automaton()->mask_count();
  walk(R"([2,21,4,"b","bc",[0,"b"],["c"]])");
  EXPECT_EQ(AutomatonSize(*grammar->automaton()).terms(), terms);
  EXPECT_EQ(grammar->automaton()->mask_count(), masks);
}

// What is tried for a mask or a completion is given back.
TEST(DistinctRowsTest, KeepWhatTheyTake) {
  const auto grammar = Compiled(R"({"type":"array","uniqueItems":true})");
  Matcher matcher(grammar);
  for (const char byte : absl::string_view(R"([1,[2,{"a":"b"}],"xyz","x)"))
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(byte)).ok());
  const std::int64_t held = matcher.stepper().states().held_bytes();
  EXPECT_GT(held, 0);
  EXPECT_TRUE(matcher.Mask().ok());
  EXPECT_TRUE(matcher.ShortestCompletion(100).ok());
  EXPECT_TRUE(matcher.FewestTokens(10).ok());
  EXPECT_EQ(matcher.MatchText(R"(yz",1)")->matched_bytes, 2);
  EXPECT_EQ(matcher.stepper().states().held_bytes(), held);
}

// Forks go on apart, in threads of their own.
TEST(DistinctRowsTest, ForksMayLiveInDifferentThreads) {
  const auto grammar = Compiled(R"({"type":"array","uniqueItems":true})");
  Matcher matcher(grammar);
  const auto take = [](Matcher* row, absl::string_view text) {
    for (const char byte : text)
      if (!row->Accept(static_cast<unsigned char>(byte)).ok() || !row->Mask().ok()) return false;
    return true;
  };
  ASSERT_TRUE(take(&matcher, R"([1,"a",)"));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&take, i, fork = matcher.Fork()]() mutable {
      const std::string item = absl::StrCat(i + 2);
      EXPECT_TRUE(take(&fork, absl::StrCat(R"(["a"],"b",)", item, ",{\"x\":")));
      EXPECT_TRUE(take(&fork, absl::StrCat("1},[", item)));
      EXPECT_FALSE(TakesBytes(fork.Fork(), "],1]"));
      EXPECT_FALSE(TakesBytes(fork.Fork(), absl::StrCat("],", item, "]")));
      EXPECT_TRUE(TakesBytes(fork, absl::StrCat("],", item, "0]")));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

bool Takes(const std::string& schema, absl::string_view text) {
  Matcher matcher(Compiled(schema, PropertyOrder::kDeclared));
  for (const char byte : text)
    if (!matcher.Accept(static_cast<unsigned char>(byte)).ok()) return false;
  return matcher.may_end();
}

// What one walk hardly meets.
TEST(DistinctValuesEqualityTest, IsThatOfJsonSchema) {
  const std::string any = R"({"type":"array","uniqueItems":true})";
  for (const char* equal :
       {"[1,1.0]", "[100,1e2]", "[0,-0]", "[0,0.0e5]", "[1.5,15e-1]", R"(["a","\u0061"])",
        R"([{"a":1,"b":2},{"b":2.0,"a":1}])", R"([[{}],[{}]])", R"([{"\u0061":[]},{"a":[]}])",
        R"(["\ud83d\ude00","😀"])", R"([{"a":1,"a":2}])", "[null,1,null]", R"([[[]],[[]]])",
        R"([123456789012345678901234567890,123456789012345678901234567890.0])"}) {
    EXPECT_FALSE(Takes(any, equal)) << equal;
  }
  for (const char* different :
       {"[1,true]", "[0,false]", R"(["1",1])", "[{},[]]", R"([{"a":1},{"a":2}])", "[[1],[1,1]]",
        R"([{"a":{}},{"a":[]}])", R"([{"a":null},{}])", R"([{"a/b":1},{"a":{"b":1}}])",
        R"([["a"],{"0":"a"}])", "[12,1.2]", "[-1,1]", R"([{"a":1},{"a":1,"b":1}])",
        R"([123456789012345678901234567890,123456789012345678901234567891])"}) {
    EXPECT_TRUE(Takes(any, different)) << different;
  }
}

// Values that differ behind many zeros only.
TEST(DistinctValuesEqualityTest, FindsTheOtherNumber) {
  const std::string large =
      R"({"type":"array","uniqueItems":true,"items":{"type":"integer","minimum":1000000000000000000000000000000,"maximum":1000000000000000000000000000001}})";
  EXPECT_TRUE(Takes(large, "[1000000000000000000000000000000,1000000000000000000000000000001]"));
  EXPECT_TRUE(Takes(large, "[1000000000000000000000000000001,1e30]"));
  EXPECT_FALSE(Takes(large, "[1e30,1000000000000000000000000000000]"));
  const std::string small =
      R"({"type":"array","uniqueItems":true,"items":{"type":"number","minimum":0,"maximum":1e-40}})";
  EXPECT_TRUE(Takes(small, "[0,1e-40,1e-41]"));
  EXPECT_FALSE(Takes(small, "[0,0.0]"));
  EXPECT_TRUE(Takes(small, "[0,0.0000000000000000000000000000000000000000001]"));
  const std::string apart =
      R"({"type":"array","uniqueItems":true,"items":{"type":"array","items":{"enum":[1,1e50]},"minItems":1,"maxItems":1}})";
  EXPECT_TRUE(Takes(apart, "[[1],[100000000000000000000000000000000000000000000000000]]"));
  EXPECT_TRUE(Takes(apart, "[[1],[1e50]]"));
  EXPECT_FALSE(Takes(apart, "[[1],[1.0]]"));
  const std::string listed =
      R"({"type":"array","uniqueItems":true,"items":{"anyOf":[{"enum":[0,1e-50]},{"type":"array"}]}})";
  EXPECT_TRUE(Takes(listed, "[0,0.00000000000000000000000000000000000000000000000001]"));
}

// Members that are needed by their number are counted by their names.
TEST(DistinctValuesEqualityTest, CountsANameOnce) {
  const std::string two = R"({"type":"object","minProperties":2})";
  EXPECT_TRUE(Takes(two, R"({"a":1,"b":1})"));
  EXPECT_TRUE(Takes(two, R"({"a":{"x":1},"x":{"x":1}})"));
  EXPECT_FALSE(Takes(two, R"({"a":1,"a":2})"));
  EXPECT_FALSE(Takes(two, R"({"a":1,"\u0061":2})"));
  EXPECT_FALSE(Takes(two, R"({"a":1})"));
}

// A way out of an item is found behind a long string that has no other way.
TEST(DistinctValuesEqualityTest, SearchesBehindLongStrings) {
  const std::string name(200, 'x');
  const std::string schema = absl::StrCat(
      R"({"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"const":")",
      name, R"("},"b":{"enum":[0,1]}},"required":["a","b"],"additionalProperties":false}})");
  const std::string first = absl::StrCat(R"({"a":")", name, R"(","b":0})");
  const std::string second = absl::StrCat(R"({"a":")", name, R"(","b":1})");
  EXPECT_TRUE(Takes(schema, absl::StrCat("[", first, ",", second, "]")));
  EXPECT_FALSE(Takes(schema, absl::StrCat("[", first, ",", first, "]")));
  EXPECT_FALSE(Takes(schema, absl::StrCat("[", first, ",", second, ",")));
}

TEST(DistinctValuesEqualityTest, HoldsForArraysWithinArrays) {
  const std::string inner =
      R"({"type":"array","uniqueItems":true,"items":{"type":"array","uniqueItems":true}})";
  EXPECT_TRUE(Takes(inner, "[[1,2],[2,1],[1,{}]]"));
  EXPECT_FALSE(Takes(inner, "[[1,1]]"));
  EXPECT_FALSE(Takes(inner, "[[1,2],[1,2]]"));
}

// Where no name may stand twice and one of several must come, the shortest completion is found
// within the budget of a step.
TEST(DistinctValuesTest, CompletesObjectsOfConditionsOnTheirNames) {
  Matcher matcher(Compiled(
      R"({"type":"object","allOf":[
            {"patternProperties":{"^.{1,2}$":true,"^...*a$":{"type":"integer","minimum":15}},
             "additionalProperties":false},
            {"anyOf":[{"not":{"patternProperties":{"^cdeb":false}}},
                      {"not":{"patternProperties":{"^11":{"not":{"multipleOf":7}}}}}]},
            {"anyOf":[{"not":{"patternProperties":{"^kwjh":false}}},
                      {"not":{"patternProperties":{"7777":{"multipleOf":30}}}}]}],
          "maxProperties":2,
          "patternProperties":{"a":{"multipleOf":10,"not":{"multipleOf":20}}}})"));
  for (const char byte : std::string(R"({"some name that says nothing of the conditions)"))
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(byte)).ok());
  const auto rest = matcher.ShortestCompletion(1'000);
  ASSERT_TRUE(rest.ok()) << rest.status();
  for (const char byte : *rest) ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(byte)).ok());
  EXPECT_TRUE(matcher.may_end());
}

}  // namespace
}  // namespace maskd
