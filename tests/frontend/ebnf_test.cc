// GBNF and EBNF by table: what is read, what is refused and how.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/grammar_case.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnsupported = absl::StatusCode::kUnimplemented;
constexpr auto kLimit = absl::StatusCode::kResourceExhausted;

class EbnfLanguageTest : public testing::TestWithParam<GrammarCase> {};

TEST_P(EbnfLanguageTest, HoldsByEveryRoute) { ExpectVerdicts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Gbnf, EbnfLanguageTest,
    testing::ValuesIn(std::vector<GrammarCase>{
        {"Escapes",
         "gbnf",
         R"(root ::= "\x41\u00e9\U0001F600\n\r\t\\\"\[\]\-")",
         {"Aé😀\n\r\t\\\"[]-"},
         {"A"}},
        {"LiteralOverTwoLines", "gbnf", "root ::= \"a\nb\"", {"a\nb"}, {"ab"}},
        {"ClassWithDashes", "gbnf", R"(root ::= [-a-c-] [\]\-x-z])", {"-]", "b-", "cy"}, {"d]"}},
        {"EmptyAlternatives", "gbnf", "root ::= | \"a\" (|\"b\"|)", {"", "a", "ab"}, {"b"}},
        {"EmptyBody", "gbnf", "root ::=\n", {""}, {"a"}},
        {"NewlineAfterBar", "gbnf", "root ::= \"a\" |\n # b\n \"b\"", {"a", "b"}, {""}},
        {"OperatorsInARow", "gbnf", "root ::= \"ab\"*+?", {"", "abab"}, {"a"}},
        {"SpacesInCounts", "gbnf", "root ::= [a] { 1 , 2 }", {"a", "aa"}, {"", "aaa"}},
        {"CountFromZeroToZero", "gbnf", "root ::= \"a\"{0,0} \"b\"", {"b"}, {"ab"}},
        {"NamesOfAllKinds",
         "gbnf",
         "root ::= 1-a b_C\n1-a ::= \"x\"\nb_C ::= \"y\"",
         {"xy"},
         {"x"}},
        {"LoneCarriageReturn", "gbnf", "root ::= a\ra ::= \"x\"", {"x"}, {""}},
        {"TokenById", "gbnf", "root ::= <[97]> !<[98]>", {"aa", "ac"}, {"ab", "ba", "a"}},
        {"Palindrome",
         "gbnf",
         "root ::= [ab] | \"a\" root \"a\" | \"b\" root \"b\"",
         {"a", "bab", "abbba"},
         {"ab", ""}},
        {"LongRuleIsCalled",
         "gbnf",
         absl::StrCat("root ::= long | \"y\" long\nlong ::= \"", std::string(2'000, 'x'), "\""),
         {std::string(2'000, 'x'), "y" + std::string(2'000, 'x')},
         {"y", std::string(1'999, 'x')}},
    }),
    CaseName<GrammarCase>);

INSTANTIATE_TEST_SUITE_P(
    Ebnf, EbnfLanguageTest,
    testing::ValuesIn(std::vector<GrammarCase>{
        {"Escapes",
         "ebnf",
         R"(root ::= "\"\\\/\'\?\0\a\b\e\f\n\r\t\v\x41" "\u00e9\U0001F600")",
         {std::string("\"\\/'?\0\a\b\033\f\n\r\t\vAé😀", 21)},
         {"\""}},
        {"ClassEscapes",
         "ebnf",
         R"(root ::= [\^\$\.\*\+\(\)\[\]\{\}\|\-]+)",
         {"^$.*+()[]{}|-"},
         {"a"}},
        {"AnyCharacter", "ebnf", "root ::= [^]", {"a", "\n", "é"}, {"", "ab"}},
        {"NoCharacter", "ebnf", "root ::= \"a\" | [] \"b\"", {"a"}, {"b"}},
        {"BodyOverLines", "ebnf", "root ::=\n\"a\"\n  |\n\"b\" c\nc ::= \"c\"", {"a", "bc"}, {"b"}},
        {"ClassThatLooksLikeOptions", "ebnf", "root ::= a[bc]\na ::= \"a\"", {"ab"}, {"a"}},
        {"PrintedCounts", "ebnf", "root ::= \"a\"{2, -1}", {"aa", "aaa"}, {"a"}},
        {"EmptyGroup", "ebnf", "root ::= \"a\" ( ) \"b\"", {"ab"}, {"a"}},
        {"Lookahead", "ebnf", "root ::= a \"c\"\na ::= \"b\" (= \"d\" | a)", {"bc"}, {"bd"}},
        // As xgrammar 0.2.8 has these two.
        {"OptionsWithABracketInQuotes",
         "ebnf",
         "root ::= a b\na[capture=\"x]\\\"]\"] ::= \"a\"\nb[capture=\"\\\\\"]::=\"b\"",
         {"ab"},
         {"a"}},
        {"CommentsInMacros",
         "ebnf",
         "root ::= Regex( # one )\n \"a#b\" # \", two\n, flags # three\n = \"i\" #\n)",
         {"A#b"},
         {"a"}},
        {"OptionsOverALineBeforeTheSign",
         "ebnf",
         "root[lazy]\n ::= a\na[max_chars=1] # x\n ::= \"x\"*",
         {""},
         {"x"}},
        {"QuoteInAClass", "ebnf", "root ::= a[\"]\na ::= \"x\"", {"x\""}, {"x"}},
        {"Lazy",
         "ebnf",
         "root ::= a [a-z]\na[lazy] ::= \"x\"* \"yy\" | b\nb ::= \"xxz\"",
         {"xxzq", "xyyq"},
         {"xxzqq", "yyyyq"}},
        {"LazyMayBeEmpty", "ebnf", "root ::= a \"b\"\na[lazy] ::= \"a\"*", {"b"}, {"ab"}},
        {"MaxChars", "ebnf", "root ::= a \"!\"\na[max_chars=2] ::= [^!]*", {"!", "éé!"}, {"ééé!"}},
        {"MaxCharsIsMetAtTheFirstEndBehindIt",
         "ebnf",
         "root ::= a\na[ max_chars = 2 ] ::= (\"abc\")+",
         {"abc"},
         {"abcabc", "ab"}},
        {"MaxTokens",
         "ebnf",
         "root ::= v \"!\"\nv[max_tokens=2] ::= [a-z]*",
         {"!", "a!", "ab!"},
         {"abc!", "ab"}},
        {"MaxTokensOfEach",
         "ebnf",
         "root ::= (v \",\")*\nv[max_tokens=2] ::= [a-z]+",
         {"", "a,", "ab,cd,e,"},
         {"ab,cde,", "abc,"}},
        {"MaxTokensThatIsNoEnd",
         "ebnf",
         "root ::= v \"!\"\nv[max_tokens=2] ::= \"abc\" ( \"d\" \"e\"?)*",
         {"abc!"},
         {"abcd!", "abcde!", "ab!"}},
        {"MaxTokensInMaxTokens",
         "ebnf",
         "root ::= v \"!\"\nv[max_tokens=3] ::= (w \"-\"?)*\nw[max_tokens=2] ::= [a-z]+",
         {"!", "ab-!", "abc!", "a-b!"},
         {"a-b-!", "abcd!"}},
        {"MaxTokensOfARecursion",
         "ebnf",
         "root ::= v \"!\"\nv[max_tokens=3] ::= \"(\" v \")\" | \"x\" \"y\"*",
         {"x!", "xyy!", "(xy)!", "((x))!"},
         {"xyyy!", "(xyy)!"}},
        {"MaxTokensOfNone", "ebnf", "root ::= v \"!\"\nv[max_tokens=0] ::= [a-z]*", {"!"}, {"a!"}},
        {"MaxTokensBesideMaxChars",
         "ebnf",
         "root ::= v \"!\"\nv[max_tokens=1, max_chars=2] ::= [^!]*",
         {"!", "a!", "é!"},
         {"ab!", "éa!"}},
        {"MaxTokensBesideLazy",
         "ebnf",
         "root ::= v\nv[max_tokens=2, lazy] ::= [^!]* \"!\"",
         {"!", "a!", "abc!"},
         {"abc", "a!a"}},
        {"MaxCharsOfNone", "ebnf", "root ::= a \"b\"\na[max_chars=0] ::= [a-z]*", {"b"}, {"ab"}},
        {"IdleOptions",
         "ebnf",
         "root[capture, temperature=0.5] ::= a\na[capture=\"x\", stop_capture=\"y\", "
         "capture_hidden_stop_bytes=3] ::= \"a\"",
         {"a"},
         {"b"}},
        {"RegexDotIsAll", "ebnf", R"(root ::= Regex("a.b"))", {"a\nb", "axb"}, {"ab"}},
        {"RegexFlags", "ebnf", R"(root ::= Regex("a.b", flags="iu"))", {"AxB"}, {"a\nb"}},
        {"RegexDotAll", "ebnf", R"(root ::= Regex("a.", flags="s"))", {"a\n"}, {"a"}},
        {"RegexIsAscii", "ebnf", R"(root ::= Regex("\\d\\w\\s"))", {"1a "}, {"1é ", "1a\u00a0"}},
        {"RegexInJson",
         "ebnf",
         R"(root ::= "\"" Regex("\\S+", json_string=true) "\"")",
         {"\"aé\""},
         {"\"a\\\"", "\"\"\"", "\"a b\""}},
        {"Substring",
         "ebnf",
         R"(root ::= Substring("ab", "", "c", "ab", "d"))",
         {"", "ab", "abc", "cab", "abcabd", "d"},
         {"a", "abab", "cd"}},
        {"SubstringOfNothing", "ebnf", "root ::= \"a\" Substring()", {"a"}, {""}},
        {"Tokens", "ebnf", "root ::= Token(97, 98) ExcludeToken(99)", {"aa", "bb"}, {"ca", "ac"}},
        {"DispatchOnce",
         "ebnf",
         "root ::= TagDispatch((\"<t>\", r), loop_after_dispatch=false)\nr ::= \"1\"",
         {"", "a<t", "a<t>1"},
         {"<t>", "<t>1b", "<t>1<t>1"}},
        {"DispatchOfOneTagToTwoRules",
         "ebnf",
         "root ::= TagDispatch((\"<t>\", r), (\"<t>\", s))\nr ::= \"1\"\ns ::= \"2\"",
         {"<t>1 <t>2"},
         {"<t>3"}},
        {"DispatchTagsThatOverlap",
         "ebnf",
         "root ::= TagDispatch((\"aab\", r), (\"bba\", s))\nr ::= \"1\"\ns ::= \"2\"",
         {"", "aab1", "bba2", "xaab1bba2y", "abab"},
         {"aab2", "aabba2", "bbaab1", "aab", "bba1"}},
        {"DispatchAnExcludeOverlaps",
         "ebnf",
         "root ::= TagDispatch((\"<t>\", r), excludes=(\"x<\",))\nr ::= \"1\"",
         {"<t>1", "x <t>1", "x"},
         {"x<t>1", "x<", "<t>2"}},
        {"DispatchWithoutTags", "ebnf", "root ::= TagDispatch() | \"x\"", {"", "abc"}, {}},
        {"DispatchToRecursion",
         "ebnf",
         "root ::= TagDispatch((\"<t>\", r))\nr ::= \"(\" r? \")\"",
         {"x<t>(())y<t>()"},
         {"<t>(()"}},
        {"TokenDispatch",
         "ebnf",
         "root ::= TokenTagDispatch((97, r), (98, s), excludes=(120,))\nr ::= \"1\"\ns ::= \"2\"",
         {"", "cd", "ca1eb2"},
         {"x", "a", "a2", "ca1x"}},
        {"TokenDispatchOnce",
         "ebnf",
         "root ::= TokenTagDispatch((97, r), loop_after_dispatch=false)\nr ::= \"1\"",
         {"", "cc", "ca1"},
         {"a1c", "a"}},
    }),
    CaseName<GrammarCase>);

class EbnfErrorTest : public testing::TestWithParam<FaultyGrammar> {};

TEST_P(EbnfErrorTest, SaysWhatAndWhere) { ExpectFault(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Both, EbnfErrorTest,
    testing::ValuesIn(std::vector<FaultyGrammar>{
        {"Empty", "gbnf", "", kInvalid, "1:1: there is no rule \"root\""},
        {"OnlyComments", "ebnf", "# a\n# b", kInvalid, "1:1: there is no rule \"root\""},
        {"NoAssignment", "gbnf", "root = \"a\"", kInvalid, "1:6: expected '::=', found '='"},
        {"NoName", "gbnf", "root ::= \"a\"\n| \"b\"", kInvalid,
         "2:1: expected the name of a rule, found '|'"},
        {"RuleInTheSameLine", "gbnf", "root ::= a a ::= \"b\"", kInvalid,
         "1:14: expected a literal, a class, a name, a group or the end of the rule, found ':'"},
        {"SecondDefinition", "gbnf", "root ::= \"a\"\n\n  root ::= \"b\"", kInvalid,
         "3:3: \"root\" is defined already, at 1:1"},
        {"Undefined", "gbnf", "root ::= \"a\"\nb ::= \"b\" c", kInvalid,
         "2:11: \"c\" is not defined"},
        {"LiteralWithoutEnd", "gbnf", "root ::= \"a", kInvalid,
         "1:10: the literal has no end, expected '\"' before the end of the grammar"},
        {"UnknownEscape", "gbnf", R"(root ::= "a\q")", kInvalid, "1:12: this is no escape here"},
        {"EbnfEscapeInGbnf", "gbnf", R"(root ::= "\/")", kInvalid, "1:11: this is no escape here"},
        {"BackslashAtTheEnd", "gbnf", "root ::= \"\\", kInvalid,
         "1:12: expected what the backslash escapes, found the end of the grammar"},
        {"TooFewDigits", "gbnf", R"(root ::= "\u12x4")", kInvalid,
         "1:15: expected 4 hexadecimal digits, found 'x'"},
        {"Surrogate", "gbnf", R"(root ::= "\uD83D\uDE00")", kInvalid,
         "1:11: a surrogate alone is no character"},
        {"PastUnicode", "gbnf", R"(root ::= "\U00110000")", kInvalid,
         "1:11: a code point is at most 10FFFF"},
        {"ClassWithoutEnd", "gbnf", "root ::= [a-b", kInvalid,
         "1:10: the class has no end, expected ']'"},
        {"EmptyClass", "gbnf", "root ::= []", kInvalid, "1:10: the class is empty"},
        {"EmptyNegatedClass", "gbnf", "root ::= [^]", kInvalid, "1:10: the class is empty"},
        {"ReversedRange", "gbnf", "root ::= [xz-a]", kInvalid, "1:12: the range is reversed"},
        {"GroupWithoutEnd", "gbnf", "root ::= (\"a\" (\"b\")\nb ::= \"c\"", kInvalid,
         "2:3: expected a literal, a class, a name, a group or the end of the rule, found ':'"},
        {"GroupWithoutEndAtTheEnd", "gbnf", "root ::= (\"a\" (\"b\")\n", kInvalid,
         "1:10: the group has no end, expected ')'"},
        {"GroupNotOpened", "gbnf", "root ::= \"a\") \"b\"", kInvalid,
         "1:13: no group is open here"},
        {"NothingToRepeat", "gbnf", "root ::= \"a\" | * \"b\"", kInvalid,
         "1:16: there is nothing to repeat"},
        {"ReversedCounts", "gbnf", "root ::= \"a\"{3,1}", kInvalid, "1:13: 1 is less than 3"},
        {"CountWithoutEnd", "gbnf", "root ::= \"a\"{3", kInvalid,
         "1:15: expected '}', found the end of the grammar"},
        {"CountsNoNumber", "gbnf", "root ::= \"a\"{,3}", kInvalid,
         "1:14: expected a number, found ','"},
        {"CountPast31Bits", "gbnf", "root ::= \"a\"{2147483648}", kLimit,
         "1:14: limit repeat_count is 2147483647, 2147483648 needed"},
        {"CountPast64Bits", "gbnf", "root ::= \"a\"{18446744073709551617}", kLimit,
         "1:14: limit repeat_count"},
        {"Depth", "gbnf", absl::StrCat("root ::= ", std::string(513, '(')), kLimit,
         "1:522: limit source_depth is 512, 513 needed"},
        {"TokenWithoutEnd", "gbnf", "root ::= <think", kInvalid,
         "1:10: expected a token: <name> or <[id]>"},
        {"TokenIdWithoutEnd", "gbnf", "root ::= <[12>", kInvalid, "1:14: expected ']>', found '>'"},
        {"TokenIdTooLarge", "gbnf", "root ::= <[4294967296]>", kInvalid,
         "1:12: the id of a token is at most 4294967295"},
        {"NegationOfNoToken", "gbnf", "root ::= !a", kInvalid,
         "1:11: expected a token: <name> or <[id]>, found 'a'"},
        {"NotUtf8", "gbnf", "root ::= \"\xff\"", kInvalid, "1:11: the grammar is not UTF-8 here"},
        {"EmptyLanguage", "gbnf", "root ::= root", kInvalid, "1:1: no text satisfies this grammar"},
        {"EmptyLanguageBelow", "gbnf", "root ::= \"a\" b\nb ::= \"b\" b", kInvalid,
         "2:1: no text satisfies this grammar"},
    }),
    CaseName<FaultyGrammar>);

INSTANTIATE_TEST_SUITE_P(
    EbnfAlone, EbnfErrorTest,
    testing::ValuesIn(std::vector<FaultyGrammar>{
        {"Dot", "ebnf", "root ::= \"a\" !", kInvalid, "1:14: expected a literal"},
        {"TokenInAngles", "ebnf", "root ::= <[1]>", kInvalid, "1:10: expected a literal"},
        {"EmptyBody", "ebnf", "root ::=", kInvalid,
         "1:9: expected a literal, a class, a name or a group (\"\" is the empty text)"},
        {"EmptyAlternative", "ebnf", "root ::= (\"a\" | )", kInvalid,
         "1:17: expected a literal, a class, a name or a group"},
        {"NameNotFirstInItsLine", "ebnf", "root ::= \"a\" b ::= \"b\"", kInvalid,
         "1:14: a rule's name must begin its line"},
        {"NameBeginsWithADigit", "ebnf", "root ::= 1a", kInvalid,
         "1:10: expected a name, which begins with no digit"},
        {"GroupEndsAtARule", "ebnf", "root ::= (\"a\"\nb ::= \"b\"", kInvalid,
         "1:10: the group has no end"},
        {"LiteralOverLines", "ebnf", "root ::= \"a\n\"", kInvalid,
         "1:10: the literal has no end, expected '\"' before the end of the line"},
        {"ClassOverLines", "ebnf", "root ::= [a\n]", kInvalid, "1:10: the class has no end"},
        {"ShorthandInAClass", "ebnf", R"(root ::= [\d])", kInvalid, "1:11: this is no escape here"},
        {"OperatorsInARow", "ebnf", "root ::= \"a\"+*", kInvalid,
         "1:14: an operator stands before; put a group around its operand"},
        {"LookaheadInside", "ebnf", "root ::= ((= \"a\") \"b\")", kInvalid,
         "1:11: a look-ahead stands at the end of its rule"},
        {"LookaheadRepeated", "ebnf", "root ::= \"a\" (= \"b\")*", kInvalid,
         "1:21: expected the end of the rule after a look-ahead, found '*'"},
        {"LookaheadNotLast", "ebnf", "root ::= \"a\" (= \"b\") \"c\"", kInvalid,
         "1:22: expected the end of the rule after a look-ahead, found '\"'"},
        {"UnknownOption", "ebnf", "root[foo=1] ::= \"a\"", kInvalid, "1:6: expected an option"},
        {"OptionTwice", "ebnf", "root[lazy, lazy] ::= \"a\"", kInvalid,
         "1:12: the option stands before"},
        {"OptionWithoutValue", "ebnf", "root[max_chars] ::= \"a\"", kInvalid,
         "1:15: expected '=', found ']'"},
        {"OptionsWithoutEnd", "ebnf", "root[lazy ::= \"a\"", kInvalid,
         "1:11: expected ',' or ']', found ':'"},
        {"BadTemperature", "ebnf", "root[temperature=-1] ::= \"a\"", kInvalid,
         "1:18: expected a temperature"},
        {"EmptyCaptureName", "ebnf", "root[capture=\"\"] ::= \"a\"", kInvalid,
         "1:14: the name is empty"},
        {"MaxTokensBelowMaxChars", "ebnf", "root[max_chars=3] ::= v\nv[max_tokens=2] ::= \"a\"",
         kUnsupported, "1:23: a rule that is recursive, holds tokens or has max_tokens, here"},
        {"MaxTokensWhereARuleBeginsWithItself", "ebnf",
         "root ::= v \"!\"\nv[max_tokens=2] ::= v \"a\" | \"b\"", kUnsupported,
         "2:1: max_tokens is not supported: where a rule begins with itself"},
        {"MaxTokensWithoutANumber", "ebnf", "root[max_tokens] ::= \"a\"", kInvalid,
         "1:16: expected '='"},
        {"MaxCharsBesideLazy", "ebnf", "root[lazy, max_chars=2] ::= \"a\"", kUnsupported,
         "1:5: max_chars beside lazy"},
        {"LazyRecursion", "ebnf", "root[lazy] ::= \"a\" root? ", kUnsupported,
         "1:20: a rule that is recursive, holds tokens or has max_tokens, here is not supported"},
        {"LazyToken", "ebnf", "root[lazy] ::= \"a\" Token(1)", kUnsupported, "1:5: "},
        {"MacroWithoutArguments", "ebnf", "root ::= Regex", kInvalid,
         "1:15: expected '(' and the arguments of the macro"},
        {"MacroWithoutEnd", "ebnf", "root ::= Regex(\"a\" \"b\")", kInvalid,
         "1:20: expected ',' or ')', found '\"'"},
        {"MacroUnknownOption", "ebnf", "root ::= Regex(\"a\", x=1)", kInvalid,
         "1:21: the macro has no argument of the name x"},
        {"MacroArgumentTwice", "ebnf", R"(root ::= Regex("a.", flags="i", flags="s"))", kInvalid,
         "1:33: the argument stands before"},
        {"MacroValue", "ebnf", "root ::= Token([a])", kInvalid, "1:16: expected a value"},
        {"RegexOfNoText", "ebnf", "root ::= Regex(1)", kInvalid,
         "1:10: Regex takes a pattern in quotes"},
        {"RegexBroken", "ebnf", "root ::= Regex(\"a(\")", kInvalid,
         "1:16: in the pattern, at 1:2: the group has no end"},
        {"RegexFlag", "ebnf", "root ::= Regex(\"a\", flags=\"m\")", kInvalid,
         "1:27: flags are of i, s and u"},
        {"TokenOfNothing", "ebnf", "root ::= Token()", kInvalid, "1:10: expected ids of tokens"},
        {"TokenOfText", "ebnf", "root ::= Token(\"a\")", kInvalid,
         "1:16: the id of a token is a number"},
        {"TupleInATuple", "ebnf", "root ::= TagDispatch(((\"a\", b), c))", kInvalid,
         "1:23: expected a value"},
        {"DispatchNoPair", "ebnf", "root ::= TagDispatch(\"a\")", kInvalid,
         "1:22: expected a pair: (tag, rule)"},
        {"DispatchEmptyTag", "ebnf", "root ::= TagDispatch((\"\", a))", kInvalid,
         "1:23: expected a text in quotes that is not empty"},
        {"DispatchUndefined", "ebnf", "root ::= TagDispatch((\"a\", b))", kInvalid,
         "1:28: \"b\" is not defined"},
        {"DispatchExcludeBeginsATag", "ebnf",
         "root ::= TagDispatch((\"<a>\", root), excludes=(\"<\",))", kInvalid,
         "1:47: what is excluded must not begin a tag"},
        {"DispatchTagInATag", "ebnf", "root ::= TagDispatch((\"ab\", root), (\"b\", root))",
         kUnsupported, "1:37: a tag or exclude within another"},
        {"DispatchLoopNoTruth", "ebnf", "root ::= TagDispatch(loop_after_dispatch=1)", kInvalid,
         "1:42: expected true or false"},
        {"TokenDispatchBoth", "ebnf", "root ::= TokenTagDispatch((1, root), excludes=(1,))",
         kInvalid, "1:48: the token is a tag and excluded"},
    }),
    CaseName<FaultyGrammar>);

TEST(EbnfWarningTest, WhatHoldsTheTextToNothingIsReported) {
  const auto read = ReadForTest("ebnf", "root[capture] ::= a\na ::= \"a\" (= \"b\")");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->warnings.size(), 2);
  EXPECT_EQ(read->warnings[0].place, "1:6");
  EXPECT_EQ(read->warnings[0].message, "the option capture holds the text to nothing");
  EXPECT_EQ(read->warnings[1].place, "2:11");
}

TEST(EbnfLimitTest, InlinedRulesDoNotGrow) {
  std::string grammar = "root ::= r0\nr60 ::= \"a\"\n";
  for (int i = 0; i < 60; ++i)
    absl::StrAppend(&grammar, "r", i, " ::= r", i + 1, " r", i + 1, "\n");
  const auto read = ReadForTest("gbnf", grammar);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_LT(read->ir.nodes.size(), 200);
}

// Each step ends: with an answer, or by its limit.
TEST(EbnfLimitTest, RulesThatMayBeEmptyCallEachOther) {
  constexpr int kRules = 20;
  std::string grammar = "root ::= r0\n";
  for (int i = 0; i < kRules; ++i) {
    absl::StrAppend(&grammar, "r", i, " ::= r", (i + 1) % kRules, " r", (i + 7) % kRules,
                    " | \"b\" | \"\"\n");
  }
  const auto compiled = CompileOverBytes("gbnf", grammar);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (const char* text : {"", "b", "bb", "bbbb"}) {
    const absl::StatusOr<bool> accepts = AcceptsByMasks(*compiled, text);
    EXPECT_TRUE(accepts.ok() ? *accepts : absl::IsResourceExhausted(accepts.status())) << text;
  }
}

TEST(EbnfLimitTest, ManyTagsStandBehindOneFreeText) {
  std::string grammar = "root ::= TagDispatch(";
  std::string rules;
  for (int i = 0; i < 3000; ++i) {
    absl::StrAppend(&grammar, i == 0 ? "" : ", ", "(\"<tool_", i, ">\", r", i, ")");
    absl::StrAppend(&rules, "\nr", i, " ::= \"", i, "\"");
  }
  const auto compiled = CompileOverBytes("ebnf", grammar + ")" + rules);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_TRUE(*AcceptsByMasks(*compiled, "x<tool_7>7<tool_2999>2999<tool_3000>"));
  EXPECT_FALSE(*AcceptsByMasks(*compiled, "x<tool_7>2"));
  EXPECT_LT((*compiled)->costs().held_bytes, 64 << 20);
}

TEST(EbnfNamedTokenTest, UnknownNamesAreErrorsAtTheirPlace) {
  const absl::Status status = CompileOverBytes("gbnf", "root ::= \"a\"\n  <think>").status();
  EXPECT_EQ(status.code(), kInvalid);
  const absl::Status unknown = CompileOverBytes("gbnf", "root ::= \"a\" | <think>").status();
  EXPECT_EQ(unknown.code(), kInvalid) << unknown;
  EXPECT_EQ(ErrorPlace(unknown), "1:16");
}

}  // namespace
}  // namespace maskd
