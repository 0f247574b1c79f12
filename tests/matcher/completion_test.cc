// Completions in bytes and tokens, on random grammars: the fewest tokens against a breadth-first
// search over the oracle that takes every token by itself.
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/pipeline.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/matcher/random_grammar.h"
#include "tests/matcher/test_vocabulary.h"
#include "tests/oracle/prefix_oracle.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

constexpr int kGrammars = 60;
constexpr int kWalkTokens = 12;
// Above it the oracle's search is given up, and the case is counted as not compared.
constexpr std::size_t kMaxStates = 3'000;
constexpr std::size_t kMaxByteStates = 100;
constexpr int kUnknown = -1;

// The fewest of `pieces` to an end; kUnknown when none is found within `max_states` states.
int FewestByOracle(PrefixOracle* oracle, PrefixOracle::State start,
                   const std::vector<std::string>& pieces, std::size_t max_states) {
  std::set<PrefixOracle::State> met = {start};
  std::vector<PrefixOracle::State> level = {start};
  for (int taken = 0; !level.empty(); ++taken) {
    std::vector<PrefixOracle::State> next;
    for (const PrefixOracle::State state : level) {
      if (oracle->MayEnd(state)) return taken;
      if (met.size() > max_states) return kUnknown;
      for (const std::string& piece : pieces) {
        const auto after = oracle->StepText(state, piece);
        if (after != PrefixOracle::kDead && met.insert(after).second) next.push_back(after);
      }
    }
    level = next;
  }
  return kUnknown;
}

std::vector<std::string> TextTokens(const Vocabulary& vocabulary) {
  std::vector<std::string> tokens;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.IsSpecial(id) || vocabulary.TokenBytes(id).empty()) continue;
    tokens.emplace_back(vocabulary.TokenBytes(id));
  }
  return tokens;
}

std::vector<std::string> Bytes() {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  return bytes;
}

void ExpectShortest(Matcher* matcher, int shortest) {
  const auto bytes = matcher->ShortestCompletion(1'000);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  ASSERT_EQ(static_cast<int>(bytes->size()), shortest) << *bytes;
  Matcher copy = matcher->Fork();
  // The ids of the test vocabulary's single bytes are the bytes.
  for (const unsigned char byte : *bytes) ASSERT_TRUE(copy.Accept(byte).ok()) << *bytes;
  EXPECT_TRUE(copy.may_end());
}

void ExpectCompletes(const Matcher& matcher, const std::vector<TokenId>& tokens) {
  Matcher copy = matcher.Fork();
  for (const TokenId token : tokens) ASSERT_TRUE(copy.Accept(token).ok()) << token;
  EXPECT_TRUE(copy.may_end());
}

void ExpectSame(Matcher* matcher, int fewest) {
  const auto bytes = matcher->ShortestCompletion(1'000);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_LE(matcher->LeastBytes(), bytes->size());
  const auto few = matcher->FewTokens(1'000);
  ASSERT_TRUE(few.ok()) << few.status();
  ExpectCompletes(*matcher, *few);
  const auto found = matcher->FewestTokens(1'000);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(static_cast<int>(found->size()), fewest);
  ExpectCompletes(*matcher, *found);
  EXPECT_LE(found->size(), few->size());
  EXPECT_LE(matcher->LeastTokens(), fewest);
  EXPECT_EQ(matcher->FewestTokens(fewest)->size(), found->size());
  if (fewest == 0) return;
  EXPECT_TRUE(absl::IsResourceExhausted(matcher->FewestTokens(fewest - 1).status()));
}

class CompletionTest : public testing::TestWithParam<int> {};

TEST_P(CompletionTest, FewestTokensAreThoseOfBreadthFirst) {
  const auto space = TokenizerSpace::Create(TestVocabulary());
  const std::vector<std::string> tokens = TextTokens(space->vocabulary());
  const std::vector<std::string> bytes = Bytes();
  int compared = 0;
  for (int i = 0; i < kGrammars && !HasFailure(); ++i) {
    Random random(static_cast<std::uint64_t>(GetParam() * kGrammars + i));
    const GrammarSource source = RandomGrammar(&random);
    Budget budget = Budget::Unlimited();
    const auto read = ReduceGrammar(source, Limits(), budget);
    const auto grammar = CompileGrammar(source, space, Limits(), budget);
    ASSERT_TRUE(read.ok() && grammar.ok()) << source.text;
    PrefixOracle oracle(read->ir);
    Matcher matcher(*grammar);
    PrefixOracle::State state = oracle.start();
    for (int at = 0; at < kWalkTokens && !HasFailure(); ++at) {
      const int fewest = FewestByOracle(&oracle, state, tokens, kMaxStates);
      if (fewest != kUnknown) {
        ++compared;
        ExpectSame(&matcher, fewest);
      }
      const int shortest = FewestByOracle(&oracle, state, bytes, kMaxByteStates);
      if (shortest != kUnknown) ExpectShortest(&matcher, shortest);
      std::vector<TokenId> allowed;
      (*matcher.Mask())->VisitAllowed([&](TokenId id) {
        if (!space->vocabulary().IsSpecial(id)) allowed.push_back(id);
      });
      if (allowed.empty()) break;
      const TokenId token = allowed[random() % allowed.size()];
      ASSERT_TRUE(matcher.Accept(token).ok());
      state = oracle.StepText(state, space->vocabulary().TokenBytes(token));
    }
    EXPECT_FALSE(HasFailure()) << source.kind << " " << source.text;
  }
  EXPECT_GT(compared, kGrammars);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CompletionTest, testing::Range(0, 6));

Matcher Choice(const char* choices, std::vector<TokenId> stop_ids = {}) {
  Budget budget = Budget::Unlimited();
  return Matcher(*CompileGrammar({"choice", choices, {}}, TokenizerSpace::Create(TestVocabulary()),
                                 Limits(), budget),
                 std::move(stop_ids));
}

TEST(CompletionTest, AShortTextMayTakeMoreTokensThanALongOne) {
  const Matcher matcher = Choice(R"(["xyz","abctrue"])");
  EXPECT_EQ(matcher.FewTokens(10)->size(), 3U);
  EXPECT_EQ(matcher.FewestTokens(10)->size(), 2U);
  EXPECT_EQ(matcher.LeastTokens(), 1);
  EXPECT_EQ(matcher.LeastBytes(), 3U);
}

// What three members need together is far above its lower bound: `{}` is both of the one.
TEST(CompletionTest, IsFoundPartByPartWhereBoundsAreLow) {
  GrammarSource source = {"json_schema", "", {}};
  source.text = R"({"type": "object", "required": ["a", "b", "c"],
    "properties": {"a": {"$ref": "#/$defs/one"}, "b": {"$ref": "#/$defs/one"},
                   "c": {"$ref": "#/$defs/one"}},
    "$defs": {"one": {"oneOf": [
      {"type": "object", "properties": {"type": {"enum": ["callback"]}, "options": true}},
      {"type": "object", "properties": {"type": {"enum": ["field", "value"]},
                                        "value": {"type": "string"}}}]}}})";
  Budget budget = Budget::Unlimited();
  const auto grammar =
      CompileGrammar(source, TokenizerSpace::Create(TestVocabulary()), Limits(), budget);
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  Matcher matcher(*grammar);
  const auto shortest = matcher.ShortestCompletion(1'000);
  ASSERT_TRUE(shortest.ok()) << shortest.status();
  EXPECT_EQ(*shortest, R"({"a":{"value":0},"b":{"value":0},"c":{"value":0}})");
}

// What an object must have a member for bounds it from below, with that member's name and value.
TEST(CompletionTest, IsFoundWhereObjectsNeedSomeMemberOfAKind) {
  Budget budget = Budget::Unlimited();
  const GrammarSource source = {"json_schema", R"({"type": "object",
    "oneOf": [{"$ref": "#/$defs/some_a"}, {"patternProperties": {"b": {"$ref": "#/$defs/some_c"}},
                                           "not": {"patternProperties": {"b": {"type": "null"}}}}],
    "$defs": {
      "some_a": {"not": {"patternProperties": {"a": {"not": {"$ref": "#/$defs/some_c"}}}}},
      "some_c": {"type": "object", "not": {
        "patternProperties": {"c": {"not": {"type": "string", "pattern": "99"}}}}}}})"};
  const auto space = TokenizerSpace::Create(TestVocabulary());
  const auto grammar = CompileGrammar(source, space, Limits(), budget);
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  Matcher matcher(*grammar);
  const auto shortest = matcher.ShortestCompletion(1'000);
  ASSERT_TRUE(shortest.ok()) << shortest.status();
  EXPECT_EQ(shortest->size(), std::string(R"({"a":{"c":"99"}})").size()) << *shortest;
  EXPECT_EQ(matcher.LeastBytes(), shortest->size());
}

// Of a name's next characters only those that some name has are tried.
TEST(CompletionTest, IsFoundThroughManyRequiredNames) {
  constexpr int kNames = 400;
  std::string properties;
  std::string required;
  std::string expected;
  for (int i = 0; i < kNames; ++i) {
    const std::string name = absl::StrCat("\"zzzz-name-of-a-member-", 100 + i, "-yyyyyyyy\"");
    absl::StrAppend(&properties, i == 0 ? "" : ", ", name, R"(: {"const": 7})");
    absl::StrAppend(&required, i == 0 ? "" : ", ", name);
    absl::StrAppend(&expected, i == 0 ? "" : ",", name, ":7");
  }
  const GrammarSource source = {"json_schema",
                                absl::StrCat(R"({"type": "object", "properties": {)", properties,
                                             R"(}, "required": [)", required, "]}"),
                                {}};
  Budget budget = Budget::Unlimited();
  const auto grammar =
      CompileGrammar(source, TokenizerSpace::Create(TestVocabulary()), Limits(), budget);
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  Matcher matcher(*grammar);
  const auto shortest = matcher.ShortestCompletion(1 << 20);
  ASSERT_TRUE(shortest.ok()) << shortest.status();
  EXPECT_EQ(*shortest, absl::StrCat("{", expected, "}"));
}

TEST(CompletionTest, OwnStopIdsAreNoTextOnTheWay) {
  const Matcher matcher = Choice(R"(["true"])", {kTrue});
  EXPECT_EQ(*matcher.FewestTokens(10), (std::vector<TokenId>{'t', 'r', 'u', 'e'}));
  EXPECT_EQ(*matcher.FewTokens(10), (std::vector<TokenId>{'t', 'r', 'u', 'e'}));
}

TEST(CompletionTest, NothingIsLeftAtTheEnd) {
  Matcher matcher = Choice(R"(["a"])");
  ASSERT_TRUE(matcher.Accept('a').ok());
  EXPECT_TRUE(matcher.FewestTokens(0)->empty());
  EXPECT_EQ(matcher.LeastTokens(), 0);
  ASSERT_TRUE(matcher.Accept(kEnd).ok());
  EXPECT_TRUE(matcher.FewestTokens(0)->empty());
  EXPECT_TRUE(matcher.FewTokens(0)->empty());
  EXPECT_EQ(matcher.LeastTokens(), 0);
  EXPECT_EQ(matcher.LeastBytes(), 0U);
}

}  // namespace
}  // namespace maskd
