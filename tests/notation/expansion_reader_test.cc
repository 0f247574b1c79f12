// Right-hand sides of Lark: where they end, how operators bind, and where errors are.
#include "grammar_core/frontend/lark/expansion_reader.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "tests/notation/lark_definitions.h"

namespace maskd {
namespace {

using absl::StatusCode;

// An expression with all brackets, as "(a|b)*": names and texts as they stand in the source.
std::string Shown(const TextInReading& text, ExprId id) {
  const Expression& e = text.at(id);
  std::vector<std::string> parts;
  for (std::uint32_t i = 0; i < e.child_count; ++i)
    parts.push_back(Shown(text, text.grammar.children[e.first_child + i]));
  const auto joined = [&](absl::string_view between) {
    return absl::StrCat("(", absl::StrJoin(parts, between), ")");
  };
  switch (e.kind) {
    case ExprKind::kBytes:
      return text.text.substr(e.at, text.text.find('>', e.at) + 1 - e.at);
    case ExprKind::kCharacters:
      return text.text.substr(e.at, text.text.find_first_of(" )]}+*?|&,~{\n", e.at) - e.at);
    case ExprKind::kName:
      return absl::StrCat(text.grammar.names[e.a], e.use == ExprUse::kLexeme ? "^" : "",
                          e.use == ExprUse::kCharacters ? "'" : "",
                          parts.empty() ? "" : joined(","));
    case ExprKind::kIndexed:
      return absl::StrCat(text.grammar.names[e.a], "::", e.b);
    case ExprKind::kParameter:
      return absl::StrCat("$", e.a);
    case ExprKind::kSequence:
      return joined(" ");
    case ExprKind::kChoice:
      return joined("|");
    case ExprKind::kRepeat:
      return absl::StrCat(parts[0], "{", e.a, ",", e.b == kUnbounded ? "" : absl::StrCat(e.b), "}");
    case ExprKind::kIf:
      return absl::StrCat("if", e.a, joined(""));
    case ExprKind::kLexeme:
      return parts[0] + "^";
    case ExprKind::kBoth:
      return joined("&");
    case ExprKind::kNot:
      return "~" + parts[0];
    default:
      return "?";
  }
}

absl::StatusOr<ExprId> ReadExpansionOf(TextInReading& text, const ExpansionContext& context) {
  const GrammarOptions options;
  return ExpansionReader(context, options, NoNestedGrammar, &text.reading, &text.grammar).Read();
}

struct ShownCase {
  const char* name;
  std::string text;
  std::string shown;
  std::string rest = "";
  ExpansionContext context = {};
};
class ExpansionTest : public testing::TestWithParam<ShownCase> {};

TEST_P(ExpansionTest, IsRead) {
  TextInReading text(GetParam().text);
  const absl::StatusOr<ExprId> body = ReadExpansionOf(text, GetParam().context);
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_EQ(Shown(text, *body), GetParam().shown);
  EXPECT_EQ(text.Rest(), GetParam().rest);
}

const ExpansionContext kTerminal = {.terminal = true};
const ExpansionContext kIndexed = {.indexed = true};

INSTANTIATE_TEST_SUITE_P(
    Rules, ExpansionTest,
    testing::ValuesIn(std::vector<ShownCase>{
        {"Empty", "", "()"},
        {"EmptyLine", " # c\nb: c", "()", "\nb: c"},
        {"Names", " a B", "(a B^)"},
        {"Values", R"("x" /y/ <[1]> "")", R"(("x"^ /y/^ <[1]>^ ""))"},
        {"OperatorsBindToOneValue", "a b* C+ \"d\"? e", "(a b{0,} C^{1,} \"d\"^{0,1} e)"},
        {"Counts", "a~2 b ~ 1..3 C{2,} d{,4} e { 5 }", "(a{2,2} b{1,3} C^{2,} d{0,4} e{5,5})"},
        {"CountsBeforeARange", "a~2 .. 3 b", "(a{2,3} b)"},
        {"CountsWithoutARange", "a~2 \"b\"..\"c\"", "(a{2,2} \"b\"..\"c\"^)"},
        {"GroupsAndMaybe", "(a | b) [c d] ([e])", "((a|b) (c d){0,1} e{0,1})"},
        {"EmptyAlternatives", "| a |", "(()|a|())"},
        {"BarOnTheNextLine", "a # one\n\n  # two\n | b\nc: d", "(a|b)", "\nc: d"},
        {"BarOnTheNextLineInABracket", "(a\n|b) c", "((a|b) c)"},
        {"LineEnds", "a \r\n b", "a", "\r\n b"},
        {"LineContinued", "a \\\n b", "(a b)"},
        {"BraceEndsIt", "a b } c", "(a b)", "} c"},
        {"Aliases", "a -> x | b->y\n | c", "(a|b|c)"},
        {"NamesWithHyphens", "a-b->c", "a-b"},
        {"NameBeforeAnArrow", "a -> b", "a"},
        {"Arguments", "t{a, B, \"c\", (d e), u{f}}", "t(a,B^,\"c\"^,(d e),u(f))"},
        {"ArgumentsOfATerminal", "T{A, \"b\"} c", "(T^(A',\"b\") c)"},
        {"CountsAreNoArguments", "t{2} u{ ,3}", "(t{2,2} u{0,3})"},
        {"NotInARule", "~\"a\" ~A* ~(\"a\" B) c", "(~\"a\"^ ~A'^{0,} ~(\"a\" B')^ c)"},
        {"NotOfAMaybe", "~[\"a\"]", "~\"a\"{0,1}^"},
        {"Parameters", "x a x*", "($0 a $0{0,})", "", {.parameters = {"x"}}},
        {"RulesThatMustBeCharacters", "a B", "(a' B^)", "", {.needs_characters = true}},
        {"TerminalBinding", "A \"b\" & ~\"c\"+ | D", "(((A' \"b\")&~\"c\"{1,})|D')", "", kTerminal},
        {"TerminalAndOfNothing", "& A &", "(()&A'&())", "", kTerminal},
        {"TerminalNotTwice", "~(~A)", "~~A'", "", kTerminal},
        {"TerminalParameters",
         "X \"a\"",
         "($0 \"a\")",
         "",
         {.terminal = true, .parameters = {"X"}}},
        {"Indexed", "r::_ A s :: incr(_)", "(r::0 A^ s::1)", "", kIndexed},
        {"IndexedByANumber", "r::5 a", "(r::0 a)"},
        {"Conditions", "a %if true | b -> x %if bit_set(1)\n| c", "(if0(a)|if1(b)|c)", "",
         kIndexed},
        {"ConditionsInBrackets", "(a %if true | b) [c %if true]", "((if0(a)|b) if1(c){0,1})", "",
         kIndexed},
        {"ConditionOfNothing", "%if true", "if0(())", "", kIndexed},
    }),
    [](const auto& test) { return test.param.name; });

struct BadExpansion {
  const char* name;
  std::string text;
  StatusCode code;
  std::string message;  // its beginning
  ExpansionContext context = {};
};
class BadExpansionTest : public testing::TestWithParam<BadExpansion> {};

TEST_P(BadExpansionTest, SaysWhatAndWhere) {
  TextInReading text(GetParam().text);
  const absl::Status status = ReadExpansionOf(text, GetParam().context).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

constexpr auto kWrong = StatusCode::kInvalidArgument;

INSTANTIATE_TEST_SUITE_P(
    Rules, BadExpansionTest,
    testing::ValuesIn(std::vector<BadExpansion>{
        {"Group", "a (b", kWrong, "1:3: the bracket has no end"},
        {"GroupAndALine", "(a\nb)", kWrong, "1:3: expected ')', found the end of the line"},
        {"MaybeAndALine", "[a\n]", kWrong, "1:3: expected ']', found the end of the line"},
        {"ArgumentsAndALine", "t{a,\nb}", kWrong, "1:5: expected '}', found the end of the line"},
        {"Closing", "a ]", kWrong, "1:3: no such bracket is open here"},
        {"ClosingAnother", "[a)", kWrong, "1:3: no such bracket is open here"},
        {"ClosingArguments", "t{a)", kWrong, "1:4: no such bracket is open here"},
        {"BraceInAGroup", "(a }", kWrong, "1:4: expected a value or the end of the definition"},
        {"CommaAlone", "a, b", kWrong, "1:2: expected a value or the end of the definition"},
        {"RepeatNothing", "(* a)", kWrong, "1:2: there is nothing to repeat"},
        {"RepeatAfterABar", "a | +", kWrong, "1:5: there is nothing to repeat"},
        {"RepeatTwice", "a*~2", kWrong, "1:3: an operator stands before"},
        {"RepeatAnAlias", "a -> b*", kWrong, "1:7: an operator stands before"},
        {"RepeatANot", "~*a", kWrong, "1:2: there is nothing to repeat"},
        {"CountsReversed", "a{3,2}", kWrong, "1:2: 2 is less than 3"},
        {"CountPastAll", "a~2147483648", StatusCode::kResourceExhausted,
         "1:3: limit repeat_count is 2147483647, 2147483648 needed"},
        {"CountThatIsNone", "\"a\"{b}", kWrong, "1:5: expected a number, found 'b'"},
        {"RangeWithoutEnd", "a~2..", kWrong, "1:6: expected a number, found the end"},
        {"NotOfNothing", "a ~", kWrong, "1:4: expected a value behind '~', found the end"},
        {"NotOfABracketsEnd", "(a ~)", kWrong, "1:5: expected a value behind '~', found ')'"},
        {"NotOfABar", "~ | a", kWrong, "1:3: expected a value behind '~', found '|'"},
        {"NotOfAnArgument", "t{~}", kWrong, "1:4: expected an argument: a value, found '}'"},
        {"NotTwice", "~ ~A", kWrong, "1:3: put a bracket around"},
        {"NotOfARule", "~(A b)", kWrong, "1:5: a terminal cannot hold the rule \"b\""},
        {"NotOfAToken", "~<[1]>", kWrong, "1:2: a terminal holds characters only"},
        {"NotOfAParameter",
         "~x",
         StatusCode::kUnimplemented,
         "1:2: a parameter of a rule within a terminal",
         {.parameters = {"x"}}},
        {"AndInARule", "A & B", kWrong, "1:3: '&' stands in terminals only"},
        {"AndBehindNot", "~ & A", kWrong, "1:3: expected a value behind '~'", kTerminal},
        {"AliasInATerminal", "A -> b", kWrong, "1:3: an alias stands", kTerminal},
        {"AliasInArguments", "t{a -> b}", kWrong, "1:5: an alias stands"},
        {"AliasTwice", "a -> b -> c", kWrong, "1:8: an alias stands"},
        {"AliasOfNothing", "a ->", kWrong, "1:5: expected the name of an alias, found the end"},
        {"ValueBehindAnAlias", "a -> b c", kWrong, "1:8: an alternative ends with its alias"},
        {"EmptyArgument", "t{}", kWrong, "1:3: expected an argument: a value, found '}'"},
        {"BarInArguments", "t{a | b}", kWrong, "1:5: expected ',' or '}', found '|'"},
        {"RepeatInArguments", "t{a*}", kWrong, "1:4: expected ',' or '}'"},
        {"TwoValuesInArguments", "t{a b}", kWrong, "1:5: an argument is one value"},
        {"RuleInArgumentsOfATerminal", "T{a}", kWrong, "1:3: a terminal cannot hold the rule"},
        {"IndexWithoutOne", "r::_", kWrong, "1:4: this rule has no index to go on from"},
        {"ConditionWithoutAnIndex", "a %if true", kWrong, "1:3: a condition needs a rule with an"},
        {"ConditionTwice", "a %if true %if true", kWrong, "1:12: a condition stands once",
         kIndexed},
        {"ConditionInArguments", "t{%if true}", kWrong, "1:3: a condition stands once", kIndexed},
        {"ValueBehindACondition", "%if true a", kWrong, "1:10: an alternative ends", kIndexed},
        {"Percent", "%foo", kWrong, "1:1: expected %json, %regex, %lark or %if"},
        {"NamedGrammar", "a @b", StatusCode::kUnimplemented, "1:3: a named grammar (@)"},
        {"Sign", "a $", kWrong, "1:3: expected a string, a pattern, a name, a bracket or the end"},
        {"Letter", "é", kWrong, "1:1: expected a string"},
        {"NestedWithoutABrace", "%lark start", kWrong, "1:7: expected '{' and a grammar"},
        {"NestedTooDeep",
         "((%lark {",
         StatusCode::kResourceExhausted,
         "1:3: limit source_depth is 512, 513 needed",
         {.depth = 502}},
        {"Deep",
         "((",
         StatusCode::kResourceExhausted,
         "1:2: limit source_depth is 512, 513 needed",
         {.depth = 511}},
        {"DeepArguments",
         "t{t{a}}",
         StatusCode::kResourceExhausted,
         "1:3: limit source_depth is 512, 513 needed",
         {.depth = 511}},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
