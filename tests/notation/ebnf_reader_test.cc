// Whole grammars of GBNF and EBNF: what is read into a grammar, and what any text leads to.
#include "grammar_core/frontend/ebnf/ebnf_reader.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/ebnf/ebnf.h"
#include "tests/notation/broken_grammars.h"
#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

constexpr auto kGbnf = EbnfDialect::kGbnf;
constexpr auto kEbnf = EbnfDialect::kEbnf;

constexpr char kEveryGbnf[] = R"(# é
root ::= a-1 | "x\n\u00e9\"" [^a-z\]\x41-]{2,3} . |
  # c
  (b | )* <think> !<[12]>
a-1 ::= "y
z"+? [-0-9]
b ::=
)";

constexpr char kEveryEbnf[] = R"(# é
root ::= a | "x\n\u00e9\"" [^a-z\]\x41-]{2, -1} |
  # c
  (b.c | ())* Token(1, 2) ExcludeToken(3)
a[lazy, capture="]"] ::= Regex("a.b", flags="i", json_string=true) [^]
 "z"+ (= [0-9] | "q")
b.c[max_tokens=3, temperature=1e+0]::= TagDispatch(("<t>", a), # d
  ("<u>", root), loop_after_dispatch=false, excludes=("<v>",))
d ::= TokenTagDispatch((1, a), excludes=(2,)) Substring("ab", "c") []
)";

TEST(EbnfReaderTest, AnyTextIsReadOrRefusedAtAPlaceInIt) {
  EXPECT_GT(ExpectPlacesInTheText(&ReadGbnf, BrokenGrammars(kEveryGbnf, 2000)), 50);
  EXPECT_EQ(ExpectPlacesInTheText(&ReadGbnf, {kEveryGbnf}), 1);
  EXPECT_EQ(ExpectPlacesInTheText(&ReadEbnf, {kEveryEbnf}), 1);
  EXPECT_GT(ExpectPlacesInTheText(&ReadEbnf, BrokenGrammars(kEveryEbnf, 2000)), 50);
}

struct RulesCase {
  const char* name;
  EbnfDialect dialect;
  std::string text;
  // What Definition::body spans: name, and kinds of the last expression, in order.
  std::vector<std::string> rules;
};
class EbnfRulesTest : public testing::TestWithParam<RulesCase> {};

TEST_P(EbnfRulesTest, AreReadInOrder) {
  TextInReading text(GetParam().text);
  const absl::Status status = EbnfReader(GetParam().dialect, &text.reading, &text.grammar).Read();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(text.Rest(), "");
  std::vector<std::string> rules;
  for (const Definition& rule : text.grammar.definitions) {
    const Expression& body = text.at(rule.body);
    rules.push_back(absl::StrCat(text.grammar.names[rule.symbol], " ", static_cast<int>(body.kind),
                                 " ", body.child_count, " ", text.reading.lines.Place(rule.at)));
    EXPECT_LE(rule.first, rule.body);
  }
  EXPECT_EQ(rules, GetParam().rules);
}

std::string Rule(absl::string_view name, ExprKind kind, int children, absl::string_view place) {
  return absl::StrCat(name, " ", static_cast<int>(kind), " ", children, " ", place);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, EbnfRulesTest,
    testing::ValuesIn(std::vector<RulesCase>{
        {"Nothing", kGbnf, " # c\n", {}},
        {"LineEndsTheRule",
         kGbnf,
         "a ::= \"x\" b\n b ::= .",
         {Rule("a", ExprKind::kSequence, 2, "1:1"), Rule("b", ExprKind::kCharacters, 0, "2:2")}},
        {"LineInAGroup",
         kGbnf,
         "a ::= (b\n b) |\n\n c\n",
         {Rule("a", ExprKind::kChoice, 2, "1:1")}},
        {"EmptyAlternatives", kGbnf, "a ::= ||\n", {Rule("a", ExprKind::kChoice, 3, "1:1")}},
        {"LineIsSpace",
         kEbnf,
         "a ::= b\n c\n\td::=e",
         {Rule("a", ExprKind::kSequence, 2, "1:1"), Rule("d", ExprKind::kName, 0, "3:2")}},
        {"NameBeforeTheNextRule",
         kEbnf,
         "a ::= b c\nd\n::= e",
         {Rule("a", ExprKind::kSequence, 2, "1:1"), Rule("d", ExprKind::kName, 0, "2:1")}},
        {"OptionsOfTheNextRule",
         kEbnf,
         "a ::= b\nc[lazy]\n ::= d",
         {Rule("a", ExprKind::kName, 0, "1:1"), Rule("c", ExprKind::kShortest, 1, "2:1")}},
        {"ClassBehindAName",
         kEbnf,
         "a ::= b[\"]c[lazy]\n\td ::= e",
         {Rule("a", ExprKind::kSequence, 4, "1:1"), Rule("d", ExprKind::kName, 0, "2:2")}},
        {"LookaheadIsNoPart",
         kEbnf,
         "a ::= b (= c)\nd ::= e",
         {Rule("a", ExprKind::kName, 0, "1:1"), Rule("d", ExprKind::kName, 0, "2:1")}},
    }),
    [](const auto& test) { return test.param.name; });

struct BadRules {
  const char* name;
  EbnfDialect dialect;
  std::string text;
  std::string message;  // its beginning
};
class BadEbnfRulesTest : public testing::TestWithParam<BadRules> {};

TEST_P(BadEbnfRulesTest, SayWhatAndWhere) {
  TextInReading text(GetParam().text);
  const absl::Status status = EbnfReader(GetParam().dialect, &text.reading, &text.grammar).Read();
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadEbnfRulesTest,
    testing::ValuesIn(std::vector<BadRules>{
        {"NoName", kGbnf, "::= a", "1:1: expected the name of a rule, found ':'"},
        {"DigitFirst", kEbnf, "1a ::= b", "1:1: expected the name of a rule, found '1'"},
        {"DotInAName", kGbnf, "a.b ::= c", "1:2: expected '::=', found '.'"},
        {"OptionsInGbnf", kGbnf, "a[lazy] ::= b", "1:2: expected '::=', found '['"},
        {"BarFirst", kGbnf, "a ::= b\n| c", "2:1: expected the name of a rule, found '|'"},
        {"Twice", kGbnf, "a ::= b\nc ::= d\na ::= e", "3:1: \"a\" is defined already, at 1:1"},
        {"RuleWithinALine", kEbnf, "a ::= b c ::= d", "1:9: a rule's name must begin its line"},
        {"EmptyAlternative", kEbnf, "a ::= b |", "1:10: expected a literal, a class, a name or a"},
        {"EmptyRule", kEbnf, "a ::=\nb ::= c", "2:1: expected a literal, a class"},
        {"Group", kGbnf, "a ::= (b\n", "1:7: the group has no end, expected ')'"},
        {"GroupBeforeARule", kEbnf, "a ::= (b\nc ::= d", "1:7: the group has no end"},
        {"GroupNotOpen", kGbnf, "a ::= b)", "1:8: no group is open here"},
        {"EmptyGroup", kEbnf, "a ::= (|b)", "1:8: expected a literal"},
        {"RepeatNothing", kGbnf, "a ::= b | * c", "1:11: there is nothing to repeat"},
        {"RepeatTwice", kEbnf, "a ::= b* +", "1:10: an operator stands before"},
        {"RepeatALookahead", kEbnf, "a ::= b (= c)+", "1:14: expected the end of the rule after a"},
        {"CountALookahead", kEbnf, "a ::= b (= c) {2}", "1:15: expected the end of the rule"},
        {"BarBehindALookahead", kEbnf, "a ::= b (= c) | d", "1:15: expected the end of the rule"},
        {"LookaheadOfNothing", kEbnf, "a ::= b (=)", "1:11: expected a literal"},
        {"LookaheadAlone", kEbnf, "a ::= (= b)", "1:7: a look-ahead stands at the end of its rule"},
        {"LookaheadInAGroup", kEbnf, "a ::= (b (= c))", "1:10: a look-ahead stands at the end"},
        {"LookaheadInGbnf", kGbnf, "a ::= b (= c)", "1:10: expected a literal, a class, a name"},
        {"CountsReversed", kGbnf, "a ::= b{2,1}", "1:8: 1 is less than 2"},
        {"CountsWithoutAFirst", kGbnf, "a ::= b{,1}", "1:9: expected a number, found ','"},
        {"CountsNegativeInGbnf", kGbnf, "a ::= b{1,-1}", "1:11: expected a number, found '-'"},
        {"CountsWithoutEnd", kEbnf, "a ::= b{1,2", "1:12: expected '}', found the end"},
        {"Token", kGbnf, "a ::= <>", "1:7: expected a token: <name> or <[id]>"},
        {"TokenWithoutEnd", kGbnf, "a ::= !<a", "1:8: expected a token"},
        {"TokenIds", kGbnf, "a ::= <[1,2]>", "1:10: expected ']>', found ','"},
        {"NotOfAName", kGbnf, "a ::= !b", "1:8: expected a token: <name> or <[id]>, found 'b'"},
        {"TokenInEbnf", kEbnf, "a ::= <[1]>", "1:7: expected a literal, a class, a name"},
        {"Depth", kGbnf, absl::StrCat("a ::= ", std::string(513, '(')),
         "1:519: limit source_depth is 512, 513 needed"},
        {"NotUtf8", kEbnf, "a ::= b # \xC3", "1:11: the grammar is not UTF-8 here"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(EbnfFrontEndTest, NamesAreCheckedAlsoWhereRootDoesNotReach) {
  Budget budget = Budget::Unlimited();
  EXPECT_EQ(ReadGbnf({"gbnf", "root ::= \"a\"\nb ::= c"}, Limits(), budget).status().message(),
            "2:7: \"c\" is not defined");
  EXPECT_EQ(ReadEbnf({"ebnf", "Root ::= \"a\""}, Limits(), budget).status().message(),
            "1:1: there is no rule \"root\", with which the text begins");
}

}  // namespace
}  // namespace maskd
