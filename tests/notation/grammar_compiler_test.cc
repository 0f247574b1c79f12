// Rules of IR from definitions: which are made, what they match, and what is refused where.
#include "grammar_core/frontend/notation/grammar_compiler.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/notation/lark_definitions.h"

namespace maskd {
namespace {

using absl::StatusCode;

// Compiles from the rule start.
absl::StatusOr<RuleId> Compiled(TextInReading& text) {
  return GrammarCompiler(text.grammar, text.reading.lines, text.limits, text.budget,
                         text.reading.builder)
      .Compile(text.grammar.Symbol("start"));
}

absl::StatusOr<GrammarIr> IrOf(TextInReading& text) {
  const absl::StatusOr<RuleId> start = Compiled(text);
  if (!start.ok()) return start.status();
  absl::StatusOr<ReadResult> read = std::move(text.reading).Result(*start);
  if (!read.ok()) return read.status();
  return std::move(read->ir);
}

struct RulesCase {
  const char* name;
  std::string grammar;
  std::vector<std::string> rules;  // name and place
  std::vector<std::string> accepted;
  std::vector<std::string> refused;
};
class GrammarRulesTest : public testing::TestWithParam<RulesCase> {};

TEST_P(GrammarRulesTest, AreMadeWhereTheyAreNeeded) {
  TextInReading text(GetParam().grammar);
  ReadDefinitions(text);
  if (HasFatalFailure()) return;
  const absl::StatusOr<GrammarIr> ir = IrOf(text);
  ASSERT_TRUE(ir.ok()) << ir.status();
  std::vector<std::string> rules;
  for (const IrRule& rule : ir->rules) rules.push_back(absl::StrCat(rule.name, " ", rule.place));
  EXPECT_THAT(rules, testing::UnorderedElementsAreArray(GetParam().rules));
  EXPECT_EQ(ir->rules[ir->start].name, "start");
  IrRecognizer recognizer(*ir);
  for (const std::string& each : GetParam().accepted) EXPECT_TRUE(recognizer.Accepts(each)) << each;
  for (const std::string& each : GetParam().refused) EXPECT_FALSE(recognizer.Accepts(each)) << each;
}

const std::string kLong(1001, 'x');

INSTANTIATE_TEST_SUITE_P(
    Grammars, GrammarRulesTest,
    testing::ValuesIn(std::vector<RulesCase>{
        {"SmallOnesAreInPlace", "start: a b\na: \"x\"\nb: a a", {"start 1:1"}, {"xxx"}, {"xx"}},
        {"LongOnesAreCalled",
         absl::StrCat("start: a A\na: \"", kLong, "\"\nA: \"", kLong, "y\""),
         {"start 1:1", "a 2:1", "A 3:1"},
         {kLong + kLong + "y"},
         {kLong}},
        {"RecursionIsCalled",
         "start: a \"!\"\na: \"(\" a \")\" | b\nb: \"x\"",
         {"start 1:1", "a 2:1"},
         {"x!", "((x))!"},
         {"(x!", "x"}},
        {"MutualRecursion",
         "start: a\na: \"x\" b?\nb: \"y\" a?",
         {"start 1:1", "a 2:1", "b 3:1"},
         {"x", "xy", "xyx"},
         {"y", "xx"}},
        {"WhatIsNotReachedIsNotMade", "b: \"y\" b\nstart: \"x\"", {"start 2:1"}, {"x"}, {"y"}},
        {"TheStartCallsItself", "start: \"x\" start | \"y\"", {"start 1:1"}, {"y", "xxy"}, {"x"}},
        {"CharactersOfRules",
         "start: m \"!\"\nm[max_chars=2]: \"a\" n\nn: \"b\"*",
         {"start 1:1"},
         {"ab!", "a!"},
         {"abb!"}},
    }),
    [](const auto& test) { return test.param.name; });

struct FaultCase {
  const char* name;
  std::string grammar;
  StatusCode code;
  std::string message;  // its beginning
};
class GrammarFaultTest : public testing::TestWithParam<FaultCase> {};

TEST_P(GrammarFaultTest, IsToldAtItsPlace) {
  Limits limits;
  limits.ir_nodes = 5000;
  TextInReading text(GetParam().grammar, limits);
  ReadDefinitions(text);
  if (HasFatalFailure()) return;
  const absl::Status status = Compiled(text).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

constexpr auto kFault = StatusCode::kInvalidArgument;
constexpr auto kMissing = StatusCode::kUnimplemented;

INSTANTIATE_TEST_SUITE_P(
    Grammars, GrammarFaultTest,
    testing::ValuesIn(std::vector<FaultCase>{
        {"Undefined", "start: \"a\"\nb: \"b\"\n  | c", kFault, "3:5: \"c\" is not defined"},
        {"UndefinedLong", absl::StrCat("start: ", std::string(100, 'z')), kFault,
         absl::StrCat("1:8: \"", std::string(64, 'z'), "\" is not defined")},
        {"TerminalOfItself", "start: A\nA: \"x\" A", kFault,
         "2:8: the terminal \"A\" contains itself"},
        {"ArgumentsOfNoTemplate", "start: a{\"x\"}\na: \"x\"", kFault,
         "1:8: \"a\" takes 0 arguments, not 1"},
        {"IndexOfNone", "start: a::1\na: \"x\"", kFault, "1:8: \"a\" has no index"},
        {"CharactersOfARecursion", "start: m\nm[max_chars=3]: \"x\" n\nn: \"y\" n?", kMissing,
         "2:21: "},
        {"CharactersOfTokens", "start: m\nm[max_chars=3]: \"x\" n\nn: <[1]>", kMissing, "2:21: "},
        {"CharactersOfItself", "start[max_chars=3]: \"x\" start?", kMissing, "1:25: "},
        {"TooManyNodes",
         absl::StrCat("start: \"!\" A\nA: B B B B B B\nB: \"", std::string(999, 'x'), "\""),
         StatusCode::kResourceExhausted, "2:4: limit ir_nodes is 5000, 5994 needed"},
    }),
    [](const auto& test) { return test.param.name; });

// t{x}: x "," x, or more of them.
class TemplateTest : public testing::Test {
 protected:
  ExprId Text(TextInReading& text, const char* characters) {
    return AddCharacters(text.grammar, text.reading.builder.Text(characters), 1, 0);
  }
  void Define(TextInReading& text, const char* name, ExprId first, std::uint32_t parameters,
              bool indexed = false) {
    text.grammar.Define({.symbol = text.grammar.Symbol(name),
                         .at = 0,
                         .first = first,
                         .body = static_cast<ExprId>(text.grammar.expressions.size() - 1),
                         .parameters = parameters,
                         .indexed = indexed});
  }
};

TEST_F(TemplateTest, AnInstanceIsMadeOnceForEachTupleOfArguments) {
  TextInReading text("start t");
  SourceGrammar& grammar = text.grammar;
  // t{x}: "(" t{x} ")" | x: recursive, so that each instance is a rule.
  const SymbolId t = grammar.Symbol("t");
  const ExprId first = grammar.Add({.kind = ExprKind::kParameter, .a = 0});
  const ExprId again = grammar.Add({.kind = ExprKind::kName, .a = t}, {first});
  const ExprId within =
      grammar.Add({.kind = ExprKind::kSequence}, {Text(text, "("), again, Text(text, ")")});
  grammar.Add({.kind = ExprKind::kChoice}, {within, first});
  Define(text, "t", first, 1);
  const ExprId begin = Text(text, "a");
  const ExprId other = Text(text, "b");
  const auto call = [&](ExprId argument) {
    return grammar.Add({.kind = ExprKind::kName, .a = t}, {argument});
  };
  const ExprId calls[] = {call(begin), call(other), call(begin)};
  grammar.Add({.kind = ExprKind::kSequence}, {calls[0], calls[1], calls[2]});
  Define(text, "start", begin, 0);
  const absl::StatusOr<GrammarIr> ir = IrOf(text);
  ASSERT_TRUE(ir.ok()) << ir.status();
  EXPECT_EQ(ir->rules.size(), 3U);
  IrRecognizer recognizer(*ir);
  for (const char* each : {"aba", "(a)((b))a"}) EXPECT_TRUE(recognizer.Accepts(each)) << each;
  for (const char* each : {"aaa", "(b)ba", "ab"}) EXPECT_FALSE(recognizer.Accepts(each)) << each;
}

TEST_F(TemplateTest, InstancesThatGrowAreBounded) {
  Limits limits;
  limits.rule_instances = 50;
  TextInReading text("start t", limits);
  SourceGrammar& grammar = text.grammar;
  // t{x}: t{x "y"}
  const SymbolId t = grammar.Symbol("t");
  const ExprId first = grammar.Add({.kind = ExprKind::kParameter, .a = 0});
  const ExprId more = grammar.Add({.kind = ExprKind::kSequence}, {first, Text(text, "y")});
  grammar.Add({.kind = ExprKind::kName, .a = t, .at = 6}, {more});
  Define(text, "t", first, 1);
  const ExprId begin = Text(text, "a");
  grammar.Add({.kind = ExprKind::kName, .a = t}, {begin});
  Define(text, "start", begin, 0);
  const absl::Status status = Compiled(text).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorPlace(status), "1:7");
}

// r: "a" r+1 where the index is below 3, or "b" where it is 3. What does not hold is not made.
TEST_F(TemplateTest, EachIndexIsARuleWhereItIsReached) {
  TextInReading text("start r");
  SourceGrammar& grammar = text.grammar;
  grammar.index_steps = {{.kind = IndexStep::Kind::kIncrement},
                         {.kind = IndexStep::Kind::kValue, .value = 0}};
  using Comparison = IndexTest::Comparison;
  grammar.index_conditions = {{{IndexTest::Kind::kBits, Comparison::kLt, {0, 64}, 3}},
                              {{IndexTest::Kind::kBits, Comparison::kEq, {0, 64}, 3}}};
  const SymbolId r = grammar.Symbol("r");
  const ExprId a = Text(text, "a");
  const ExprId next = grammar.Add({.kind = ExprKind::kIndexed, .a = r, .b = 0});
  const ExprId both = grammar.Add({.kind = ExprKind::kSequence}, {a, next});
  const ExprId below = grammar.Add({.kind = ExprKind::kIf, .a = 0, .b = a}, {both});
  const ExprId b = Text(text, "b");
  const ExprId last = grammar.Add({.kind = ExprKind::kIf, .a = 1, .b = b}, {b});
  grammar.Add({.kind = ExprKind::kChoice}, {below, last});
  Define(text, "r", a, 0, true);
  const ExprId begin = grammar.Add({.kind = ExprKind::kIndexed, .a = r, .b = 1});
  Define(text, "start", begin, 0);
  const absl::StatusOr<GrammarIr> ir = IrOf(text);
  ASSERT_TRUE(ir.ok()) << ir.status();
  IrRecognizer recognizer(*ir);
  EXPECT_TRUE(recognizer.Accepts("aaab"));
  for (const char* each : {"b", "aab", "aaaab", "aaa"})
    EXPECT_FALSE(recognizer.Accepts(each)) << each;
}

TEST(GrammarIgnoredTest, StandsBehindLexemesAndFirstWhereThatIsAskedFor) {
  for (const bool first : {false, true}) {
    for (const bool once : {false, true}) {
      TextInReading text("start: \"a\" B\nB: \"b\" \"c\"\nSPACE: \" \"");
      ReadDefinitions(text);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
      text.grammar.ignored = text.grammar.definition_of[text.grammar.Symbol("SPACE")];
      text.grammar.ignore_first = first;
      text.grammar.ignore_once = once;
      const absl::StatusOr<GrammarIr> ir = IrOf(text);
      ASSERT_TRUE(ir.ok()) << ir.status();
      IrRecognizer recognizer(*ir);
      EXPECT_TRUE(recognizer.Accepts("abc"));
      EXPECT_TRUE(recognizer.Accepts("a bc "));
      EXPECT_FALSE(recognizer.Accepts("ab c"));
      EXPECT_EQ(recognizer.Accepts("a  bc"), !once);
      EXPECT_EQ(recognizer.Accepts(" abc"), first);
      EXPECT_EQ(recognizer.Accepts("  abc"), first && !once);
    }
  }
}

}  // namespace
}  // namespace maskd
