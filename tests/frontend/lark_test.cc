// Lark grammars by table: what is read, what is refused and how.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/frontend/grammar_case.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnsupported = absl::StatusCode::kUnimplemented;
constexpr auto kLimit = absl::StatusCode::kResourceExhausted;

class LarkLanguageTest : public testing::TestWithParam<GrammarCase> {};

TEST_P(LarkLanguageTest, HoldsByEveryRoute) { ExpectVerdicts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Values, LarkLanguageTest,
    testing::ValuesIn(std::vector<GrammarCase>{
        {"StringEscapes",
         "lark",
         R"(start: "\"\\\/\b\f\n\r\t\x41\u00e9\uD83D\uDE00\U0001F600")",
         {"\"\\/\b\f\n\r\tAé😀😀"},
         {"A"}},
        {"EmptyString", "lark", "start: \"\" \"a\"", {"a"}, {""}},
        {"FoldedString", "lark", "start: \"éK\"i", {"éK", "Ék", "É\u212a"}, {"e"}},
        {"FlagThenName", "lark", "start: \"a\"ix\nx: \"b\"", {"ab", "Ab"}, {"aB"}},
        {"Range", "lark", "start: \"a\" .. \"c\" \"0\"..\"0\"", {"a0", "c0"}, {"d0", "a"}},
        {"PatternFlags", "lark", "start: /a.b/is /c.d/", {"A\nBcxd"}, {"A\nBC\nd"}},
        {"PatternOverLines", "lark", "start: /a # one\n  b{2} # two\n/x \"c\"", {"abbc"}, {"ab"}},
        {"PatternWithSlash", "lark", "start: /a\\/b/", {"a/b"}, {"ab"}},
        {"PatternIsPythons", "lark", "start: /\\d\\w\\s./", {"\u0967é\u001c\u2028"}, {"1a \n"}},
        {"PatternsOwnEnds", "lark", "start: \"a\" /^b$/ \"c\"", {"abc"}, {"ac"}},
        {"Comments",
         "lark",
         "// one\nstart: \"a\" // two\n  # three\n  | \"b\" # four",
         {"a", "b"},
         {}},
        {"TokenIds", "lark", "start: <[97]> <[^97,99-101]> <[98-99,120]>", {"abx"}, {"aab", "adb"}},
        {"AnyToken", "lark", "start: <[*]> \"!\"", {"a!", "!!"}, {"!"}},
        {"SubstringChunks",
         "lark",
         R"(start: %regex {"substring_chunks": ["ab", "c"]})",
         {"", "abc", "c"},
         {"b"}},
        {"SubstringWords",
         "lark",
         "start: %regex {\n \"substring_words\": \"foo bar_1, é!\"\n}",
         {"", "foo bar_1", "bar_1, é", "!", " "},
         {"bar", "oo", "foo ,"}},
        {"SubstringCharsInATerminal",
         "lark",
         "start: A \"!\"\nA: \"<\" %regex {\"substring_chars\": \"aéb\"} \">\"",
         {"<é>!", "<>!"},
         {"<ab>!"}},
        {"Json",
         "lark",
         "start: \"x\" j | j\nj: %json {\n  \"type\": \"object\", \"properties\": {\"a}\": "
         "{\"type\": \"integer\"}},\n \"required\": [\"a}\"], \"additionalProperties\": false}\n",
         {"x{\"a}\": 1}", "{\"a}\":1}"},
         {"x{}", "x"}},
    }),
    CaseName<GrammarCase>);

INSTANTIATE_TEST_SUITE_P(
    Structure, LarkLanguageTest,
    testing::ValuesIn(std::vector<GrammarCase>{
        {"Repetition",
         "lark",
         "start: \"a\"~2 \"b\"~0..1 \"c\"{1} \"d\"{,2} \"e\"{2,} \"f\"~1 .. 2",
         {"aaceef", "aabcddeeeff"},
         {"aaceff f", "aacdddeef", "aacef"}},
        {"Maybe", "lark", "start: [\"a\" | \"b\" \"c\"] \"d\"", {"d", "ad", "bcd"}, {"bd"}},
        {"EmptyAlternatives",
         "lark",
         "start:\n  | \"a\" (|\"b\"|)\n\n  | \"c\"",
         {"", "a", "ab", "c"},
         {"b"}},
        {"Aliases", "lark", "start: a->x\n  | \"b\" -> y\na: \"a\" -> z", {"a", "b"}, {"x"}},
        {"Modifiers",
         "lark",
         "?!start: a b _c\n!?a: \"a\"\n!b: \"b\"\n?_c: \"c\"",
         {"abc"},
         {"ab"}},
        {"ContinuedLines", "lark", "start: \\\n  \"a\" \\  \r\n\"b\"\n", {"ab"}, {"a"}},
        {"NamesWithHyphens", "lark", "start: a-b A-B\na-b: \"x\"\nA-B: \"y\"", {"xy"}, {"x"}},
        {"Priorities", "lark", "start.-2: A | \"a\"\nA.10: \"b\"", {"a", "b"}, {"c"}},
        {"TerminalsOverlap", "lark", "start: A B\nA: /a+/\nB: /a*b?/", {"a", "aab", "aaa"}, {"b"}},
        {"And", "lark", "start: A\nA: /[a-z]+/ & ~/.*x.*/ | \"X\"", {"abc", "X"}, {"axb", ""}},
        {"NotBindsTighterThanCounts",
         "lark",
         "start: A\nA: ~\"b\"+ & /[ab]{0,2}/",
         {"", "a", "bb"},
         {"b"}},
        {"NotOfAGroup", "lark", "start: ~(\"a\" | \"b\") \"!\"", {"!", "ab!", "c!"}, {"a!", "b!"}},
        {"Templates",
         "lark",
         "start: sep{pair{A, \"=\"}, \",\"}\nsep{x, s}: x (s x)*\npair{k, v}: k v k\nA: "
         "\"a\"..\"c\"",
         {"a=b", "a=b,c=c"},
         {"a=", "a=b,"}},
        {"TemplatesOfTerminals",
         "lark",
         "start: LIST{A, \",\"}\nLIST{X, S}: X (S X)*\nA: /[a-c]/\n%ignore \" \"",
         {"a,b", "a "},
         {"a, b"}},
        {"RecursiveTemplate",
         "lark",
         "start: t{\"a\"}\nt{x}: x [t{x}] \"b\"",
         {"ab", "aabb"},
         {"aab"}},
        {"Override", "lark", "start: a\na: \"x\"\n%override a: \"y\" | \"z\"", {"y", "z"}, {"x"}},
        {"Extend",
         "lark",
         "start: A b\nA: \"x\"\nb: \"p\"\n%extend A: \"y\"\n%extend b: b \"q\"",
         {"xp", "yp", "ypqq"},
         {"zp", "xq"}},
        {"ExtendAnImport",
         "lark",
         "%import common.INT\n%extend INT: \"inf\"\nstart: INT",
         {"12", "inf"},
         {"in"}},
        {"SameImportTwice",
         "lark",
         "%import common.INT\n%import common (INT, WORD)\nstart: INT WORD",
         {"1a"},
         {"a"}},
        {"NestedGrammar",
         "lark",
         "start: \"[\" %lark {\n  %import common.WS\n  %ignore WS\n  start: a \":\" a // }\n"
         "  a: \"x\" | \"}\"\n} \"]\" a\na: \"y\"",
         {"[x:x]y", "[x : } ]y"},
         {"[ x:x]y", "[x:x] y", "[y:x]y"}},
        {"NestedGrammarInOneLine",
         "lark",
         "start: %lark { start: \"a\"{2} } | \"b\"",
         {"aa", "b"},
         {"a"}},
        {"UnusedDefinitions", "lark", "start: \"a\"\nb: \"b\"\nC: \"c\"", {"a"}, {"b"}},
        {"LeftRecursion", "lark", "start: start \"+\" start | /[0-9]/", {"1+2+3"}, {"1+"}},
    }),
    CaseName<GrammarCase>);

INSTANTIATE_TEST_SUITE_P(
    Ignored, LarkLanguageTest,
    testing::ValuesIn(std::vector<GrammarCase>{
        {"NotFirst",
         "lark",
         "start: \"a\" B\nB: \"b\" \"c\"\n%ignore \" \"",
         {"a bc  "},
         {" abc", "ab c"}},
        {"First",
         "lark",
         "%llguidance {\"allow_initial_skip\": true}\nstart: \"a\"\n%ignore \" \"",
         {"  a ", "a"},
         {" "}},
        {"FirstWhereTheStartMayBeEmpty",
         "lark",
         "%grammar_options {\"allow_initial_skip\": true}\nstart: \"a\"?\n%ignore \" \"",
         {"", " ", " a "},
         {"b"}},
        {"NotBehindTheEmptyText",
         "lark",
         "start: \"\" \"a\" \"\"i \"b\"\n%ignore \" \"",
         {"ab", "a b "},
         {" ab"}},
        {"Once",
         "lark",
         "%llguidance {\"ignore_once\": true}\nstart: \"a\" \"b\"\n%ignore / {1,2}/",
         {"ab", "a b", "a  b  "},
         {"a   b"}},
        {"SeveralAndNullable",
         "lark",
         "start: \"a\" \"b\"\n%ignore /x*/\n%ignore \"-\" | \"+\"",
         {"ab", "ax-+xb-"},
         {"a b"}},
        {"BehindJsonAndTokens",
         "lark",
         "start: %json {\"type\": \"null\"} <[97]> \"b\"\n%ignore \" \"",
         {"null a b ", "nullab"},
         {"n ull"}},
        {"NotWithinLazyRules",
         "lark",
         "start: a \"c\"\na[lazy]: \"a\" \"b\"\n%ignore \" \"",
         {"ab c"},
         {"a bc"}},
    }),
    CaseName<GrammarCase>);

INSTANTIATE_TEST_SUITE_P(
    Attributes, LarkLanguageTest,
    testing::ValuesIn(std::vector<GrammarCase>{
        // Of its 2^18 states a text meets few, and that it can end is found without the others.
        {"SuffixOfManyStates",
         "lark",
         "start: a \"!\"\na[suffix=/[ab]*a[ab]{18}/]: /(.|\\n)*/",
         {"xabbbbbbbbbbbbbbbbbb!", "bbabababababababababa!"},
         {"abbbbbbbbbbbbbbbbbb", "abbbbbbbbbbbbbbbbbbb!", "x!"}},
        {"LazyOfManyStates",
         "lark",
         "start: a \"!\"\na[lazy]: /[ab]*a[ab]{18}/",
         {"abbbbbbbbbbbbbbbbbb!", "bbabababababababababa!"},
         {"abbbbbbbbbbbbbbbbbbb!", "abb!"}},
        {"Lazy",
         "lark",
         "start: a \"!\"\na[lazy]: /.*/ \"<end>\"",
         {"x<end>!", "<end>!"},
         {"<end><end>!", "x!"}},
        // As llguidance's guide to tool calls has it: text may not hold a call's head.
        {"LazyComesBeforeOthers",
         "lark",
         "start: (foo | bar)* end\nend: TEXT\nfoo_hd[lazy]: TEXT \"<f\"\nfoo: foo_hd \"=1>\" "
         "%json {\"type\": \"null\"} \"</f>\"\nbar_hd[lazy]: TEXT \"<f\"\n"
         "bar: bar_hd \"=2>\" /[0-9]+/ \"</f>\"\nTEXT: /(\\n|.)*/",
         {"", "hi", "a <g", "x <f=1>null</f>", "<f=2>12</f>y<f=1>null</f> z"},
         {"hi <f=3>", "<f", "x <f=1>nul", "<f=2>1</f> <f"}},
        {"LazyComesBeforeALongerLazyOne",
         "lark",
         "start: (a \"1\" | b \"2\")*\na[lazy]: \"x\"+\nb[lazy]: \"xy\"",
         {"", "x1x1"},
         {"xy2", "xx1"}},
        {"LazyComesFirstBehindEqualTerminals",
         "lark",
         "start: \"a\" b \"!\" | \"a\" /[bc]*/\nb[lazy]: \"b\"",
         {"ab!", "a", "ac", "acb"},
         {"ab", "abc"}},
        {"LazyWithWhatIsIgnored",
         "lark",
         "start: (a \"!\" | B)*\na[lazy]: \"b\"\nB: /[bc]+/\n%ignore \" \"",
         {"b !", "c b! c", "cb"},
         {"b", "bc"}},
        // As llguidance 1.9.1 has these; it has no %extend.
        {"LazyBesideWhatStandsThereNoTimes",
         "lark",
         "start: (a \"1\")~0 c t\na[lazy]: \"x\"\nc[max_tokens=0]: a\nt: /x+y/",
         {"xy", "xxy"},
         {"y", "x1xy"}},
        {"LazyBesideAnAlternativeWithACondition",
         "lark",
         "start: r::1 | b \"!\"\nb[lazy]: \"x\"\nr::_: p::_ \"xz\" | \"w\"\n"
         "p::_: \"y\" %if is_ones([0:1])",
         {"yxz", "x!", "w"},
         {"xz"}},
        {"LazyRuleInTwoPlaces",
         "lark",
         "start: l \"a\" l \"a\" T\nT: /[a-z]+/\nl[lazy]: \"x\"",
         {"xaxax", "xaxaxy", "xaxay"},
         {"xaxa", "xxaa"}},
        {"LazyBehindTheSameRuleInOnePlace",
         "lark",
         "start: r \"1\" T | \"0\" r l \"!\"\nr: \"a\"\nT: /[a-z1]+/\nl[lazy]: \"x\"",
         {"a1xy", "0ax!"},
         {"0axy"}},
        {"LazyBesideAnExtendedRule",
         "lark",
         "start: (a \"!\" | t)*\na[lazy]: \"x\"\nt: /[xy]+/\n%extend t: /z/\n%extend t: /xw?/",
         {"x!", "z", "yx", "yzx!"},
         {"x", "xy", "xw"}},
        {"LazyBesideATokenOfTheVocabulary",
         "lark",
         "start: (a \"!\" | <[98]> \"?\")*\na[lazy]: \"b\"",
         {"b!", "b?"},
         {"b"}},
        {"Suffix",
         "lark",
         "start: a \"!\"\na[capture, suffix=\"<end>\"]: /.*/",
         {"x<end>!"},
         {"<end>x<end>!"}},
        {"StopPattern",
         "lark",
         "start: a \"!\"\na[stop=/[;.]/, stop_capture=\"s\"]: /[^!]*/",
         {"x;!", ".!"},
         {"x;y.!"}},
        {"SuffixTerminal",
         "lark",
         "start: a\na[suffix=E]: /[a-z]*/\nE: \"end\"i",
         {"xEND", "yend"},
         {"endend", "x"}},
        {"MaxChars",
         "lark",
         "start: a \"!\"\na[max_chars=2]: b*\nb: \"é\" | \"xyz\"",
         {"!", "éé!", "éxyz!"},
         {"ééé!", "xyzé!"}},
        {"MaxTokens",
         "lark",
         "start: a \"!\"\na[max_tokens=3]: /[a-z]*/",
         {"!", "abc!"},
         {"abcd!"}},
        {"MaxTokensOfNone", "lark", "start: a \"!\"\na[max_tokens=0]: /[a-z]*/", {"!"}, {"a!"}},
        {"Temperature",
         "lark",
         "start: a b\na[temperature=0.5]: \"x\" \"y\"\n"
         "b[temperature=1]: %json {\"const\": 1}\n%ignore \" \"",
         {"xy 1"},
         {"x y1"}},
        {"Index",
         "lark",
         "start: perm::0x0\nperm::_ : \"\" %if is_ones([0:2])\n | \"a\" perm::set_bit(0) %if "
         "bit_clear(0)\n | \"b\" perm::set_bit(1) %if not(bit_set(1))",
         {"ab", "ba"},
         {"a", "aab", ""}},
        {"IndexCounts",
         "lark",
         "start: r::0\nr::_ : \"a\" r::incr([0:2]) %if lt([0:2], 3)\n | \"b\" r::incr([2:4]) -> x "
         "%if and(le([2:4], 0), true())\n | \"c\" %if or(ge(_, 5), eq([2:4], 1))",
         {"abc", "bc", "aaabc"},
         {"aaaabc", "abbc", "ac"}},
        {"IndexSteps",
         "lark",
         "start: r::3\nr::_ : \"d\" r::decr([0:4]) %if gt(_, 0)\n | \"z\" s::bit_and(0x4) %if "
         "is_zeros(_)\n | \"o\" s::bit_or(0xf0) %if ne(_, 3)\ns::_ : \"4\" %if bit_count_eq(_, 4)\n"
         " | \"5\" %if bit_count_gt(_, 4)\n | \"0\" %if bit_count_lt(_, 1)",
         {"dddz0", "do5"},
         {"ddo4", "z0", "ddo0"}},
        {"IndexWithSpaces",
         "lark",
         "start: r ::0\nr :: _ : \"a\" r:: incr(_) %if lt(_, 2) | \"b\"",
         {"b", "aab"},
         {"aaab"}},
        {"IndexStops",
         "lark",
         "start: r::0\nr::_: \"a\" r::clear_bit(63) | \"b\"",
         {"b", "aab"},
         {"a"}},
    }),
    CaseName<GrammarCase>);

class LarkErrorTest : public testing::TestWithParam<FaultyGrammar> {};

TEST_P(LarkErrorTest, SaysWhatAndWhere) { ExpectFault(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Syntax, LarkErrorTest,
    testing::ValuesIn(std::vector<FaultyGrammar>{
        {"Empty", "lark", "", kInvalid, "1:1: there is no rule \"start\""},
        {"NoColon", "lark", "start \"a\"", kInvalid, "1:7: expected ':', found '\"'"},
        {"NoItem", "lark", "start: \"a\"\n\"b\"", kInvalid,
         "2:1: expected a rule, a terminal or a directive, found '\"'"},
        {"MixedCase", "lark", "start: fooBar", kInvalid, "1:8: a name begins with a letter"},
        {"NameOfDigits", "lark", "start: 1a", kInvalid, "1:8: a name begins with a letter"},
        {"ModifiedTerminal", "lark", "start: A\n?A: \"a\"", kInvalid,
         "2:1: '!' and '?' stand before rules only"},
        {"Undefined", "lark", "start: \"a\"\nb: c", kInvalid, "2:4: \"c\" is not defined"},
        {"SecondDefinition", "lark", "start: \"a\"\nstart: \"b\"", kInvalid,
         "2:1: \"start\" is defined already, at 1:1"},
        {"ImportOfADefined", "lark", "start: INT\nINT: \"1\"\n%import common.INT", kInvalid,
         "3:16: \"INT\" is defined already, at 2:1"},
        {"BracketWithoutEnd", "lark", "start: (\"a\" [\"b\"", kInvalid,
         "1:13: the bracket has no end"},
        {"BracketOverLines", "lark", "start: (\"a\"\n\"b\")", kInvalid,
         "1:12: expected ')', found the end of the line"},
        {"WrongBracket", "lark", "start: (\"a\"]", kInvalid, "1:12: no such bracket is open here"},
        {"BracketNotOpened", "lark", "start: \"a\")", kInvalid,
         "1:11: no such bracket is open here"},
        {"BraceNotOpened", "lark", "start: \"a\" }", kInvalid,
         "1:12: expected the end of the line, found '}'"},
        {"NothingToRepeat", "lark", "start: * \"a\"", kInvalid, "1:8: there is nothing to repeat"},
        {"OperatorsInARow", "lark", "start: \"a\"+?", kInvalid, "1:12: an operator stands before"},
        {"ReversedCounts", "lark", "start: \"a\"~4..2", kInvalid, "1:11: 2 is less than 4"},
        {"CountPastAll", "lark", "start: \"a\"{99999999999}", kLimit,
         "1:12: limit repeat_count is 2147483647"},
        {"CountsWithoutEnd", "lark", "start: \"a\"{2,3", kInvalid, "1:15: expected '}'"},
        {"UnknownCharacter", "lark", "start: \"a\" $", kInvalid, "1:12: expected a string"},
        {"StringWithoutEnd", "lark", "start: \"a\nb: \"b\"", kInvalid,
         "1:8: the literal has no end"},
        {"StringEscape", "lark", "start: \"\\d\"", kInvalid, "1:9: this is no escape here"},
        {"LoneSurrogate", "lark", "start: \"\\uD83D\"", kInvalid,
         "1:9: a surrogate alone is no character"},
        {"ReversedRange", "lark", "start: \"b\"..\"a\"", kInvalid, "1:8: the range is reversed"},
        {"RangeOfTexts", "lark", "start: \"ab\"..\"c\"", kInvalid,
         "1:8: each end of a range is one character"},
        {"RangeWithAFlag", "lark", "start: \"a\"i..\"c\"", kInvalid, "1:11: a range takes no flag"},
        {"PatternWithoutEnd", "lark", "start: /ab\\/", kInvalid, "1:8: the pattern has no end"},
        {"PatternOverLines", "lark", "start: /a\nb/", kInvalid, "1:8: a pattern ends in its line"},
        {"BrokenPattern", "lark", "start: \"a\"\nA: /b(c/", kInvalid, "2:6: the group has no end"},
        {"PatternFlag", "lark", "start: /a/im", kUnsupported, "1:12: flag m (lines)"},
        {"PatternLookahead", "lark", "start: /a(?=b)/", kUnsupported, "1:10: look-ahead"},
        {"PatternWordBoundary", "lark", "start: /a\\b/", kUnsupported, "1:10: word boundary"},
        {"Depth", "lark", absl::StrCat("start: ", std::string(513, '(')), kLimit,
         "1:520: limit source_depth is 512, 513 needed"},
        {"NotUtf8", "lark", "start: \"a\"\n#\xff", kInvalid, "2:2: the grammar is not UTF-8 here"},
        {"EmptyLanguage", "lark", "start: a\na: \"x\" a", kInvalid,
         "2:1: no text satisfies this grammar"},
        {"AliasInUpperCase", "lark", "start: \"a\" -> A", kInvalid,
         "1:15: an alias is in lower case"},
        {"AliasNotLast", "lark", "start: \"a\" -> b \"c\"", kInvalid,
         "1:17: an alternative ends with its alias or condition"},
        {"AliasInATerminal", "lark", "start: A\nA: \"a\" -> b", kInvalid, "2:8: an alias stands"},
        {"Dash", "lark", "start: \"a\" - \"b\"", kInvalid, "1:12: expected a value or '->'"},
        {"TokenWithoutEnd", "lark", "start: <|a b|>", kInvalid, "1:8: expected a token"},
        {"TokenOfNoName", "lark", "start: <>", kInvalid, "1:8: expected a token"},
        {"TokenIds", "lark", "start: <[1,a]>", kInvalid, "1:12: expected the id of a token"},
        {"TokenIdTooLarge", "lark", "start: <[4294967296]>", kInvalid,
         "1:10: the id of a token is at most 4294967295"},
        {"TokenRangeReversed", "lark", "start: <[5-3]>", kInvalid, "1:10: the range is reversed"},
        {"TokenStarAndMore", "lark", "start: <[*,1]>", kInvalid, "1:11: expected ']>'"},
        {"NamedGrammar", "lark", "start: @other", kUnsupported, "1:8: a named grammar (@)"},
        {"UnknownPercent", "lark", "start: %foo {}", kInvalid,
         "1:8: expected %json, %regex, %lark or %if"},
    }),
    CaseName<FaultyGrammar>);

INSTANTIATE_TEST_SUITE_P(
    Meaning, LarkErrorTest,
    testing::ValuesIn(std::vector<FaultyGrammar>{
        {"RecursiveTerminal", "lark", "start: A\nA: \"x\" B | \"y\"\nB: A", kInvalid,
         "3:4: the terminal \"A\" contains itself"},
        {"RuleInATerminal", "lark", "start: A\nA: b\nb: \"b\"", kInvalid,
         "2:4: a terminal cannot hold the rule \"b\""},
        {"TokenInATerminal", "lark", "start: A\nA: \"a\" <[1]>", kInvalid,
         "2:8: a terminal holds characters only"},
        {"JsonInATerminal", "lark", "start: A\nA: %json {}", kInvalid,
         "2:4: a terminal holds characters only"},
        {"AndInARule", "lark", "start: \"a\" & \"b\"", kInvalid,
         "1:12: '&' stands in terminals only"},
        {"NotOfNothing", "lark", "start: \"a\" ~", kInvalid, "1:13: expected a value behind '~'"},
        {"NotOfARule", "lark", "start: ~a\na: \"a\"", kInvalid,
         "1:9: a terminal cannot hold the rule \"a\""},
        {"NotTwice", "lark", "start: ~~\"a\"", kInvalid, "1:9: put a bracket around"},
        {"TerminalsThatGrow", "lark",
         "start: A\nA: B B B B B B B B B B\nB: C C C C C C C C C C\nC: D D D D D D D D D D\n"
         "D: E E E E E E E E E E\nE: F F F F F F F F F F\nF: G G G G G G G G G G\n"
         "G: \"abcdefghij\"",
         kLimit, "2:4: limit ir_nodes is 1000000"},
        {"IgnoredRule", "lark", "start: \"a\"\n%ignore b\nb: \"b\"", kInvalid,
         "2:9: a terminal cannot hold the rule \"b\""},
        {"TemplateArguments", "lark", "start: t{\"a\"}\nt{x, y}: x y", kInvalid,
         "1:8: \"t\" takes 2 arguments, not 1"},
        {"TemplateWithoutArguments", "lark", "start: t\nt{x}: x", kInvalid,
         "1:8: \"t\" takes 1 arguments, not 0"},
        {"ArgumentOfManyValues", "lark", "start: t{\"a\" \"b\"}\nt{x}: x", kInvalid,
         "1:14: an argument is one value"},
        {"ArgumentWithOperator", "lark", "start: t{\"a\"+}\nt{x}: x", kInvalid,
         "1:13: expected ',' or '}'"},
        {"EmptyArgument", "lark", "start: t{\"a\",}\nt{x}: x", kInvalid,
         "1:14: expected an argument: a value, found '}'"},
        {"ArgumentsWithoutEnd", "lark", "start: t{\"a\"\nt{x}: x", kInvalid, "1:13: expected '}'"},
        {"ParameterTwice", "lark", "start: t{\"a\"}\nt{x, x}: x", kInvalid,
         "2:6: the parameter stands before"},
        {"ParameterCase", "lark", "start: t{\"a\"}\nt{X}: X", kInvalid,
         "2:3: a parameter is in the case of its template's name"},
        {"StartWithParameters", "lark", "start{x}: x", kInvalid,
         "1:1: the rule \"start\" takes no parameters"},
        {"TemplatesWithoutEnd", "lark", "start: t{\"a\"}\nt{x}: x t{t{x}}", kLimit,
         "2:9: limit rule_instances is 100000, 100001 needed"},
        {"UnknownDirective", "lark", "start: \"a\"\n%foo", kInvalid, "2:1: expected %ignore"},
        {"Declare", "lark", "%declare A\nstart: A", kUnsupported, "1:1: %declare"},
        {"OverrideOfNothing", "lark", "start: \"a\"\n%override b: \"b\"", kInvalid,
         "2:11: \"b\" is not defined before"},
        {"ExtendOfATemplate", "lark", "start: t{\"a\"}\nt{x}: x\n%extend t{x}: \"b\"", kUnsupported,
         "3:9: %extend with parameters or attributes"},
        {"ImportOfNothing", "lark", "%import common.FOO\nstart: FOO", kInvalid,
         "1:16: common has no terminal \"FOO\"; it has DIGIT, "},
        {"ImportFromAnotherModule", "lark", "%import python.NAME\nstart: NAME", kUnsupported,
         "1:9: %import from python"},
        {"ImportFromAnUnknownModule", "lark", "%import foo.A\nstart: A", kInvalid,
         "1:9: there is no module \"foo\""},
        {"ImportFromAFile", "lark", "%import .terminals.A\nstart: A", kUnsupported,
         "1:9: %import from files"},
        {"ImportAliasOfARule", "lark", "%import common.INT -> int\nstart: int", kInvalid,
         "1:23: a terminal's name is in upper case"},
        {"UnknownOption", "lark", "%llguidance {\"foo\": true}\nstart: \"a\"", kInvalid,
         "1:13: in the JSON here: /foo: expected allow_initial_skip"},
        {"OptionThatIsNoTruth", "lark", "%llguidance {\"no_forcing\": 1}\nstart: \"a\"", kInvalid,
         "1:13: in the JSON here: /no_forcing: expected true or false"},
        {"InvalidUtf8", "lark", "%llguidance {\"allow_invalid_utf8\": true}\nstart: \"a\"",
         kUnsupported, "1:13: in the JSON here: /allow_invalid_utf8: allow_invalid_utf8"},
        {"UnknownAttribute", "lark", "start[foo]: \"a\"", kInvalid, "1:7: expected an attribute"},
        {"AttributeTwice", "lark", "start[lazy, lazy]: \"a\"", kInvalid,
         "1:13: the attribute stands before"},
        {"SuffixAndStop", "lark", "start[suffix=\"a\", stop=\"b\"]: \"c\"", kInvalid,
         "1:19: suffix and stop exclude each other"},
        {"StopAtTheEnd", "lark", "start[stop=\"\"]: /a*/", kUnsupported, "1:7: stop=\"\""},
        {"SuffixOfARule", "lark", "start[suffix=b]: /a*/\nb: \"b\"", kInvalid,
         "1:14: expected a terminal, not a rule"},
        {"MaxTokensBesideStop", "lark", "start[max_tokens=3, stop=\"b\"]: /a*/", kUnsupported,
         "1:6: max_tokens beside suffix or stop"},
        {"MaxCharsBesideLazy", "lark", "start[max_chars=3, lazy]: /a*/", kUnsupported,
         "1:6: max_chars beside lazy, suffix or stop"},
        {"MaxCharsOfARecursion", "lark", "start[max_chars=3]: \"a\" start?", kUnsupported,
         "1:25: a rule that is recursive, holds tokens or has max_tokens, here"},
        {"LazyBesideJson", "lark", "start: a \"1\" | %json {}\na[lazy]: /x/", kUnsupported,
         "1:16: beside a lazy rule, what is no terminal"},
        {"LazyHereAndNotThere", "lark", "start: (a \"1\" | t) \"2\" t\na[lazy]: /x/\nt: /[a-z]*/",
         kUnsupported, "3:4: beside lazy rules, a terminal that stands elsewhere beside others,"},
        {"TemplatesBesideLazy", "lark", "start: l{a}\nl{x}: x*\na[lazy]: /x/", kUnsupported,
         "1:8: a template of rules in a grammar with lazy rules"},
        {"LazyRule", "lark", "start[lazy]: b\nb: \"b\"", kInvalid,
         "1:14: a terminal cannot hold the rule \"b\""},
        {"AttributesOfATerminal", "lark", "start: A\nA[lazy]: \"a\"", kInvalid,
         "2:2: expected ':', found '['"},
        {"BadTemperature", "lark", "start[temperature=x]: \"a\"", kInvalid,
         "1:19: expected a temperature"},
        {"IndexMissing", "lark", "start: r\nr::_: \"a\" r::incr(_)", kInvalid,
         "1:8: \"r\" needs an index"},
        {"IndexOfNone", "lark", "start: r::1\nr: \"a\"", kInvalid, "1:8: \"r\" has no index"},
        {"IndexToGoOnFrom", "lark", "start: r::_\nr::_: \"a\"", kInvalid,
         "1:11: this rule has no index to go on from"},
        {"IndexPast64Bits", "lark", "start: r::18446744073709551616\nr::_: \"a\"", kInvalid,
         "1:11: expected a number of up to 64 bits"},
        {"IndexHexTwice", "lark", "start: r::0x0x1\nr::_: \"a\"", kInvalid,
         "1:11: expected a number of up to 64 bits"},
        {"IndexBits", "lark", "start: r::0\nr::_: \"a\" r::incr([5:3])", kInvalid,
         "2:19: the bits end before they begin"},
        {"IndexBit", "lark", "start: r::0\nr::_: \"a\" r::set_bit(64)", kInvalid,
         "2:22: an index has 64 bits"},
        {"IndexFunction", "lark", "start: r::0\nr::_: \"a\" r::foo(1)", kInvalid,
         "2:14: expected an index"},
        {"ConditionWithoutIndex", "lark", "start: \"a\" %if true", kInvalid,
         "1:12: a condition needs a rule with an index"},
        {"ConditionFunction", "lark", "start: r::0\nr::_: \"a\" %if foo(1)", kInvalid,
         "2:15: expected a condition"},
        {"ConditionWithoutEnd", "lark", "start: r::0\nr::_: \"a\" %if and(true, true", kInvalid,
         "2:29: expected ')'"},
        {"IndicesWithoutEnd", "lark", "start: r::0\nr::_: \"a\" r::incr(_)", kLimit,
         "2:11: limit rule_instances is 100000, 100001 needed"},
        {"JsonNoObject", "lark", "start: %json 1", kInvalid,
         "1:14: expected '{' and a JSON object"},
        {"JsonWithoutEnd", "lark", "start: %json {\"a\": [}", kInvalid,
         "1:14: the JSON object has no end"},
        {"JsonBroken", "lark", "start: \"a\" %json {\n \"type\" 1}", kInvalid,
         "1:18: in the JSON here: 2:9: "},
        {"JsonUnsatisfiable", "lark",
         "start: %json {\"type\": \"array\", \"items\": false, "
         "\"minItems\": 1}",
         kInvalid, "1:14: in the JSON here: "},
        {"StructuredPattern", "lark", "start: %regex {\"foo\": 1}", kInvalid,
         "1:15: in the JSON here: /foo: expected substring_chunks"},
        {"StructuredPatternOfMany", "lark",
         "start: %regex {\"substring_chars\": \"a\", \"substring_words\": \"b\"}", kInvalid,
         "1:15: expected one member"},
        {"NestedWithoutEnd", "lark", "start: %lark { start: \"a\"\n", kInvalid,
         "1:14: the grammar has no end, expected '}'"},
        {"NestedWithoutStart", "lark", "start: %lark { a: \"a\" }", kInvalid,
         "1:15: there is no rule \"start\""},
        {"NestedUndefined", "lark", "start: \"b\" %lark { start: a }\na: \"a\"", kInvalid,
         "1:27: \"a\" is not defined"},
        {"EmptyIntersection", "lark", "start: A\nA: \"b\" & /a/", kInvalid,
         "1:1: no text satisfies"},
        {"EmptyIntersectionWithTheEmptyText", "lark", "\nstart: A \"b\"\nA: & /a/", kInvalid,
         "2:1: no text satisfies"},
        {"EmptyIntersectionBehindText", "lark", "start: \"x\" A \"c\"\nA: /a+/ & ~/a*/", kInvalid,
         "1:1: no text satisfies"},
        {"EmptyIntersectionInARule", "lark",
         "start: \"x\" r\nr: \"(\" r \")\" | A\nA: /ab*a/ & /a+b/", kInvalid,
         "2:1: no text satisfies"},
    }),
    CaseName<FaultyGrammar>);

TEST(LarkEmptyTest, WhatLeadsToAnEmptyIntersectionIsNotEntered) {
  const auto grammar = CompileOverBytes(
      "lark", "start: \"x\" r \"c\" | \"y\" A? \"d\"\nr: \"z\" A | \"z\" \"z\" r\nA: \"b\" & /a/");
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  const auto mask = Matcher(*grammar).Mask();
  ASSERT_TRUE(mask.ok()) << mask.status();
  EXPECT_EQ((*mask)->CountAllowed(), 1);
  const auto accepts = AcceptsByMasks(*grammar, "yd");
  EXPECT_TRUE(accepts.ok() && *accepts);
}

TEST(LarkWarningTest, WhatHoldsTheTextToNothingIsReported) {
  const auto read = ReadForTest("lark",
                                "start[capture=\"x\", temperature=1]: \"a\"\n"
                                "b: %json {\"type\": \"string\", \"foo\": 1}");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->warnings.size(), 2);
  EXPECT_EQ(read->warnings[0].place, "1:7");
  EXPECT_EQ(read->warnings[0].message, "the attribute capture holds the text to nothing");
  EXPECT_EQ(read->warnings[1].place, "2:10");
  EXPECT_THAT(read->warnings[1].message, testing::StartsWith("in the JSON here: /foo: "));
}

TEST(LarkTemperatureTest, IsTheTextsAtItsFirstRuleOnly) {
  const auto whole = ReadForTest("lark", "start[temperature=0.75]: /a+/\n");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->temperature, 0.75F);
  EXPECT_TRUE(whole->warnings.empty());
  const auto part = ReadForTest("lark", "start: a\na[temperature=0.75]: /a+/\n");
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(part->temperature, std::nullopt);
  ASSERT_EQ(part->warnings.size(), 1);
  EXPECT_EQ(part->warnings[0].place, "2:2");
  EXPECT_THAT(part->warnings[0].message, testing::StartsWith("a temperature is given to"));
}

TEST(LarkOptionsTest, EmbeddedSchemasTakeTheGrammarsOptions) {
  GrammarOptions compact;
  compact.white_space = WhiteSpace::kCompact;
  const char grammar[] = "start: %json {\"type\": \"array\", \"items\": {\"type\": \"null\"}}";
  const auto spaced = ReadForTest("lark", grammar);
  const auto tight = ReadForTest("lark", grammar, compact);
  ASSERT_TRUE(spaced.ok() && tight.ok());
  EXPECT_TRUE(IrRecognizer(spaced->ir).Accepts("[ null]"));
  EXPECT_FALSE(IrRecognizer(tight->ir).Accepts("[ null]"));
}

TEST(LarkLimitTest, GrammarsInGrammarsAreBounded) {
  std::string grammar = "start: \"a\"";
  for (int i = 0; i < 65; ++i) grammar = absl::StrCat("start: %lark { ", grammar, " }");
  const absl::Status status = ReadForTest("lark", grammar).status();
  EXPECT_EQ(status.code(), kLimit) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("limit source_depth is 512"));
}

}  // namespace
}  // namespace maskd
