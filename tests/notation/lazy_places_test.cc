// Which terminals of a grammar may come together, by hand.
#include "grammar_core/frontend/lark/lazy_places.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/notation/lark_definitions.h"

namespace maskd {
namespace {

// A leaf as the text has it, without the operator behind it.
std::string Shown(const TextInReading& text, const LazyLeaf& leaf) {
  // A lazy rule is the leaf, and stands where its attributes do.
  if (leaf.is_lazy()) return text.grammar.names[text.grammar.definitions[leaf.definition].symbol];
  const std::size_t at = text.grammar.expressions[leaf.expression].at;
  const bool is_token = text.text[at] == '<';
  const std::size_t end = text.text.find_first_of(is_token ? ">" : " )]?*+~|\n", at);
  return text.text.substr(at, end - at);
}

struct PlacesCase {
  std::string name;
  std::string grammar;
  std::vector<std::string> places;
};
class LazyPlacesTest : public testing::TestWithParam<PlacesCase> {};

TEST_P(LazyPlacesTest, AreThoseOfTheGrammar) {
  TextInReading text(GetParam().grammar);
  ReadDefinitions(text);
  if (HasFatalFailure()) return;
  LazyPlaces places(text.grammar, text.reading);
  const absl::Status status =
      places.Find(*text.grammar.definition_of[text.grammar.Symbol("start")]);
  ASSERT_TRUE(status.ok()) << status;
  std::vector<std::string> found;
  for (const std::vector<std::uint32_t>& place : places.places()) {
    std::multiset<std::string> leaves;
    for (const std::uint32_t leaf : place) leaves.insert(Shown(text, places.leaves()[leaf]));
    found.push_back(absl::StrJoin(leaves, " "));
  }
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(GetParam().places));
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, LazyPlacesTest,
    testing::ValuesIn(std::vector<PlacesCase>{
        {"OneText", "start: \"a\"", {"\"a\""}},
        {"Sequence", "start: \"a\" B \"c\"\nB: \"b\"", {"\"a\"", "B", "\"c\""}},
        {"Choice", "start: (\"a\" | \"b\") \"c\"", {"\"a\" \"b\"", "\"c\""}},
        {"MaybeEmpty",
         "start: \"a\"? [\"b\"] \"\" \"c\"",
         {"\"a\" \"b\" \"c\"", "\"b\" \"c\"", "\"c\""}},
        {"AgainAndAgain",
         "start: (\"a\" \"b\"?)+ \"c\"",
         {"\"a\"", "\"a\" \"b\" \"c\"", "\"a\" \"c\""}},
        {"OnceOnly", "start: \"a\"~1 \"b\"~0..1", {"\"a\"", "\"b\""}},
        {"Twice", "start: \"a\"~2 \"b\"", {"\"a\"", "\"a\" \"b\""}},
        {"NotAtAll", "start: \"a\"~0 (\"x\" \"y\")~0..0 \"b\"", {"\"b\""}},
        {"NoTokens", "start: r \"b\"\nr[max_tokens=0]: \"a\"", {"\"b\""}},
        {"SomeTokens", "start: r \"b\"\nr[max_tokens=1]: \"a\"?", {"\"a\" \"b\"", "\"b\""}},
        {"RulesAreFollowed",
         "start: r r\nr: \"a\" | s \"b\"\ns: \"c\"?",
         {"\"a\" \"b\" \"c\"", "\"b\"", "\"a\" \"b\" \"c\"", "\"b\""}},
        {"LeftRecursion", "start: start \"-\" n | n\nn: \"0\"", {"\"0\"", "\"-\"", "\"0\""}},
        // Each call of a rule has leaves of its own.
        {"BehindARule",
         "start: \"1\" r \"2\" | \"3\" r \"4\"\nr: \"a\"",
         {"\"1\" \"3\"", "\"a\"", "\"a\"", "\"2\"", "\"4\""}},
        {"BehindARuleInARule",
         "start: \"1\" s \"2\" s\ns: r \"3\" r\nr: \"a\"",
         {"\"1\"", "\"a\"", "\"3\"", "\"a\"", "\"2\"", "\"a\"", "\"3\"", "\"a\""}},
        // But not where it comes back to itself.
        {"BehindARecursion",
         "start: r \"2\"\nr: \"a\" s\ns: \"u\" r \"v\" | \"b\"",
         {"\"a\"", "\"b\" \"u\"", "\"2\" \"v\""}},
        // Terminals of one text are one step.
        {"EqualTerminals",
         "start: A \"1\" | A \"2\" | \"b\" \"3\"\nA: \"b\"",
         {"\"b\" A A", "\"1\" \"2\"", "\"3\""}},
        {"LazyRules", "start: (a \"1\" | T)*\na[lazy]: \"x\" \"y\"\nT: /z/", {"T a", "\"1\""}},
        {"RulesThatAreNotReached", "start: \"a\"\nr: \"b\"\nt[lazy]: \"c\"", {"\"a\""}},
        {"NegatedInARule", "start: ~\"a\" \"b\"", {"\"a\"", "\"b\""}},
        {"NoText", "start: start \"a\"", {""}},
        {"TheEmptyText", "start: \"\"", {""}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LazyLeafTest, IsLazyOrATokenOrOpaque) {
  TextInReading text(
      "start: a b c <[1]> /x/ m d\na[lazy]: \"x\"\nb[suffix=\"x\"]: \"y\"\nc[lazy]: \"x\"\n"
      "m[max_chars=3]: \"y\"\nd[lazy, max_tokens=2]: \"z\"");
  ReadDefinitions(text);
  if (HasFatalFailure()) return;
  LazyPlaces places(text.grammar, text.reading);
  ASSERT_TRUE(places.Find(0).ok());
  std::vector<std::string> shown;
  for (const LazyLeaf& leaf : places.leaves()) {
    shown.push_back(absl::StrCat(Shown(text, leaf), leaf.is_lazy() ? " lazy" : "",
                                 leaf.is_token ? " token" : "", leaf.is_opaque ? " opaque" : ""));
  }
  EXPECT_THAT(shown, testing::UnorderedElementsAre("<[1] token", "/x/", "a lazy", "b lazy",
                                                   "c lazy", "[max_chars=3", "d lazy opaque"));
  // c is written as a is.
  const auto lazy_of = [&](absl::string_view name) {
    for (const LazyLeaf& leaf : places.leaves())
      if (Shown(text, leaf) == name) return leaf.kind;
    return std::string();
  };
  EXPECT_EQ(lazy_of("a"), lazy_of("c"));
  EXPECT_NE(lazy_of("a"), lazy_of("b"));
}

TEST(LazyPlacesBoundTest, PlacesAreBounded) {
  // Behind the n-th letter from the end, one place for each set of n letters.
  std::string grammar = "start: (\"a\" | \"b\")* \"a\"";
  for (int i = 0; i < 14; ++i) absl::StrAppend(&grammar, " (\"a\" | \"b\")");
  Limits limits;
  limits.rule_instances = 1000;
  TextInReading text(grammar, limits);
  ReadDefinitions(text);
  if (HasFatalFailure()) return;
  const absl::Status status = LazyPlaces(text.grammar, text.reading).Find(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "limit rule_instances is 1000, 1001 needed");
  TextInReading short_of_work(grammar);
  ReadDefinitions(short_of_work);
  short_of_work.budget = Budget(Budget::Bounds{.work = 2000});
  EXPECT_EQ(LazyPlaces(short_of_work.grammar, short_of_work.reading).Find(0).code(),
            absl::StatusCode::kResourceExhausted);
}

// What is held for all calls of a large rule is bounded by the work that it costs.
TEST(LazyPlacesBoundTest, LargeRulesThatAreCalledOftenEndTheBudget) {
  std::string grammar = "start: \"\"";
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&grammar, " r");
  absl::StrAppend(&grammar, "\nr: \"\"");
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&grammar, " \"a\"");
  TextInReading text(grammar);
  ReadDefinitions(text);
  text.budget = Budget(Budget::Bounds{});
  EXPECT_EQ(LazyPlaces(text.grammar, text.reading).Find(0).code(),
            absl::StatusCode::kResourceExhausted);
}

// A sweep for each rule would be 400 of 2,000 expressions.
TEST(LazyPlacesBoundTest, AChainOfRulesIsSweptFewTimes) {
  std::string grammar = "start: r0\n";
  for (int i = 0; i < 400; ++i) absl::StrAppend(&grammar, "r", i, ": \"a\" r", i + 1, " | \"b\"\n");
  TextInReading text(absl::StrCat(grammar, "r400: \"a\""));
  ReadDefinitions(text);
  const std::int64_t before = text.budget.spent();
  EXPECT_TRUE(LazyPlaces(text.grammar, text.reading).Find(0).ok());
  EXPECT_LT(text.budget.spent() - before, 200'000);
}

}  // namespace
}  // namespace maskd
