// Regular expressions by table: what is read, what is refused and how; searching.
#include "grammar_core/frontend/regex/regex.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

struct LanguageCase {
  std::string name;
  std::string pattern;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

class RegexLanguageTest : public testing::TestWithParam<LanguageCase> {};

TEST_P(RegexLanguageTest, HoldsByEveryRoute) {
  const LanguageCase& param = GetParam();
  const auto compiled = CompilePattern(param.pattern);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto read = ReadForTest("regex", param.pattern);
  ASSERT_TRUE(read.ok());
  IrRecognizer recognizer(read->ir);
  const auto check = [&](const std::string& text, bool expected) {
    EXPECT_EQ(recognizer.Accepts(text), expected) << text;
    EXPECT_EQ(*AcceptsByText(*compiled, text), expected) << text;
    EXPECT_EQ(*AcceptsByMasks(*compiled, text), expected) << text;
  };
  for (const std::string& text : param.accepts) check(text, true);
  for (const std::string& text : param.rejects) check(text, false);
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, RegexLanguageTest,
    testing::ValuesIn(std::vector<LanguageCase>{
        {"Empty", "", {""}, {"a"}},
        {"EmptyBranch", "a|", {"", "a"}, {"aa"}},
        {"Dot", ".", {"a", "é", "😀", "\u0085"}, {"\n", "\r", "\u2028", "\u2029", ""}},
        {"DotAll", "(?s).", {"a", "\n", "\u2028"}, {""}},
        {"DotAllEndsWithItsGroup", "(?s:.).", {"\na"}, {"a\n"}},
        {"WordIsAscii", "\\w", {"a", "Z", "0", "_"}, {"é", "-"}},
        {"NotWord", "\\W", {"é", "-"}, {"a"}},
        {"Space",
         "\\s",
         {" ", "\t", "\v", "\u00A0", "\uFEFF", "\u2003", "\u2028"},
         {"a", "\u0085"}},
        {"NotSpace", "\\S", {"a", "\u0085"}, {"\u00A0"}},
        {"DigitIsAscii", "\\d", {"7"}, {"\u0967"}},
        {"ClassOfClasses", "[\\d\\s-]+", {"1 -"}, {"a"}},
        {"NegatedClass", "[^a-c\\d]", {"d", "\n", "😀"}, {"b", "1", ""}},
        {"DashBehindAClass", "[\\w-.]+", {"a-.b"}, {","}},
        {"DashBehindARange", "[a-c-e]+", {"ace-"}, {"d"}},
        {"BracketFirst", "[]a]+", {"]a"}, {"b"}},
        {"BracketInside", "[[a]+", {"[a"}, {"b"}},
        {"Backspace", "[\\b]", {"\b"}, {"b"}},
        {"Posix", "[[:alpha:][:^ascii:]]+", {"aZé"}, {"1"}},
        {"ColonClassThatIsNone", "[[:a]+", {"[:a"}, {"]"}},
        {"BraceIsACharacter", "a{x}{", {"a{x}{"}, {"a"}},
        {"LoneClosers", "a]}", {"a]}"}, {"a"}},
        {"Hex", "\\x41\\u00e9\\u{1F600}\\x{1F600}", {"Aé😀😀"}, {"A"}},
        {"SurrogatePair", "[\\uD83D\\uDE00]", {"😀"}, {"a"}},
        {"Controls",
         "\\t\\n\\v\\f\\r\\a\\cJ\\0\\101",
         {std::string("\t\n\v\f\r\a\n\0A", 9)},
         {"t"}},
        {"Punctuation", "\\.\\/\\-\\@\\`", {"./-@`"}, {"a"}},
        {"EscapedSpace", "a\\ [\\ \\\t]\\\n", {"a  \n", "a \t\n"}, {"a \n", "a\\ \t\n"}},
        {"Category", "\\p{Lu}\\pN\\p{Letter}\\P{gc=L}", {"É1a-"}, {"é1a-", "É1aa"}},
        {"NegatedCategory", "\\p{^Lu}", {"a", "1"}, {"A"}},
        {"Script", "\\p{Greek}\\p{Script=Cyrillic}\\p{sc=Hani}", {"βж中"}, {"aж中"}},
        {"BinaryProperty", "\\p{Emoji_Presentation}\\p{White_Space}\\p{Any}", {"😀 \n"}, {"a a"}},
        {"NoSurrogateIsACharacter", "\\p{Cs}|a", {"a"}, {"\xED\xA0\x80"}},
        {"Fold", "(?i)straße", {"STRAßE", "straẞe"}, {"STRASSE"}},
        {"FoldKelvin", "(?i)k", {"k", "K", "\u212A"}, {"q"}},
        {"FoldSigma", "(?i:[σ])", {"σ", "ς", "Σ"}, {"s"}},
        {"FoldNegated", "(?i:[^k])", {"a"}, {"k", "K", "\u212A"}},
        {"FoldWord", "(?i:\\w)(?i:\\W)", {"\u017F-"}, {"a\u017F"}},
        {"FoldEnds", "a(?i)b(?-i)c(?i:d)e", {"aBcDe", "abcde"}, {"Abcde", "abCde", "abcdE"}},
        {"FoldOfAGroupAlone", "(?:(?i)a)b", {"Ab"}, {"aB"}},
        {"Names", "(?<x>a)(?P<y>b)(?:c)", {"abc"}, {"ab"}},
        {"Lazy", "a*?b+?c??d{1,2}?", {"bd", "aabbcdd"}, {"ad", "abddd"}},
        {"Counts", "a{2}b{1,}c{0,2}", {"aab", "aabbcc"}, {"ab", "aabccc"}},
        {"CountZero", "a{0}b{0,0}", {""}, {"a", "b"}},
        {"CountOfNullable", "(a?){3}", {"", "aaa"}, {"aaaa"}},
        {"HugeCounts", "(?:a{0,2147483647}b){1,2147483647}", {"b", "aab", "aabb"}, {"a", ""}},
        {"Lines", "a\nb", {"a\nb"}, {"ab"}},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Anchors, RegexLanguageTest,
    testing::ValuesIn(std::vector<LanguageCase>{
        {"Ends", "^^abc$$", {"abc"}, {"^abc$", "abc\n"}},
        {"TextAnchors", "\\Aabc\\z", {"abc"}, {"Aabcz"}},
        {"InGroups", "(^a)(b$)", {"ab"}, {"a", "b"}},
        {"OneBranch", "a(,|$)", {"a", "a,"}, {"a,b"}},
        {"BehindNullable", "a*^b", {"b"}, {"ab"}},
        {"BeforeNullable", "b$a*", {"b"}, {"ba"}},
        {"DeadBranch", "a$b|c", {"c"}, {"ab"}},
        {"RepeatedAnchor", "(?:^a|b)*", {"", "a", "ab", "bb"}, {"aa", "ba"}},
        {"CountedAnchor", "(?:^|a){3}", {"", "a", "aa", "aaa"}, {"aaaa"}},
        {"CountedEnd", "(?:a|b$){2}", {"aa", "ab"}, {"ba", "bb", "a", "aaa"}},
        {"CountedBeginAndEnd",
         "(?:^a|b|c$){2,3}",
         {"ab", "ac", "bc", "abc", "bb"},
         {"cb", "aa", "a"}},
        {"Words", "\\bfoo\\b bar", {"foo bar"}, {"foobar"}},
        {"WordsBetween", "\\w+\\b\\W*", {"a", "a-"}, {"-", ""}},
        {"NoBoundary", "a\\Bb", {"ab"}, {"a b"}},
        {"BoundaryInTheMiddle", "[a-]+\\b[a-]+", {"a-", "-a", "aa-"}, {"aa", "--", "a"}},
        {"NoBoundaryInTheMiddle", "[a-]{2}\\B[a-]{2}", {"aaaa", "a--a"}, {"aa--", "-a-a"}},
        {"OptionalBoundary", "a(?:\\b-)?b?", {"a", "a-", "a-b", "ab"}, {"-"}},
    }),
    [](const auto& test) { return test.param.name; });

struct ErrorCase {
  std::string name;
  std::string pattern;
  absl::StatusCode code;
  std::string message;  // its beginning
};

class RegexErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(RegexErrorTest, SaysWhereAndWhat) {
  const auto compiled = CompilePattern(GetParam().pattern);
  EXPECT_EQ(compiled.status().code(), GetParam().code);
  EXPECT_THAT(std::string(compiled.status().message()), testing::StartsWith(GetParam().message));
  EXPECT_LT(compiled.status().message().size(), 4096);
}

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kUnsupported = absl::StatusCode::kUnimplemented;
constexpr absl::StatusCode kLimit = absl::StatusCode::kResourceExhausted;

INSTANTIATE_TEST_SUITE_P(
    Invalid, RegexErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"OpenGroup", "a(b(c)", kInvalid, "1:2: the group has no end"},
        {"ClosedGroup", "ab)", kInvalid, "1:3: no group is open here"},
        {"OpenClass", "a[bc", kInvalid, "1:2: the class has no end"},
        {"EmptyClass", "[]", kInvalid, "1:1: the class has no end: the first ']'"},
        {"EitherClass", "[^]a[b]", kInvalid, "1:1: dialects differ"},
        {"ReversedRange", "a[z-a]", kInvalid, "1:3: the range is reversed"},
        {"RangeToAClass", "[a-\\d]", kInvalid, "1:2: a range ends with a character"},
        {"UnknownPosix", "[[:alphabet:]]", kInvalid, "1:4: there is no class"},
        {"LastBackslash", "ab\\", kInvalid, "1:3: a backslash ends the pattern"},
        {"UnknownEscape", "a\\h", kInvalid, "1:2: this is no escape"},
        {"EscapedNonAscii", "\\é", kInvalid, "1:1: this is no escape"},
        {"ShortHex", "\\x4", kInvalid, "1:4: expected 2 hexadecimal digits, found the end"},
        {"ShortUnicode", "\\u12g", kInvalid, "1:5: expected 4 hexadecimal digits, found 'g'"},
        {"BigHex", "\\x{110000}", kInvalid, "1:4: a code point is at most"},
        {"EmptyHex", "\\u{}", kInvalid, "1:4: expected hexadecimal digits"},
        {"Surrogate", "\\uD800", kInvalid, "1:3: a surrogate alone"},
        {"LowSurrogate", "\\u{DC00}", kInvalid, "1:3: a surrogate alone"},
        {"HighAndNoLow", "\\uD800\\u0041", kInvalid, "1:3: a surrogate alone"},
        {"NoControlLetter", "\\c1", kInvalid, "1:3: expected a letter after \\c"},
        {"UnknownProperty", "\\p{NoSuchScript}", kInvalid, "1:3: there is no property"},
        {"OpenProperty", "\\p{L", kInvalid, "1:4: expected the name of a property"},
        {"NoProperty", "\\p", kInvalid, "1:3: expected a property"},
        {"NothingToRepeat", "a|*", kInvalid, "1:3: there is nothing to repeat"},
        {"NothingToCount", "({2})", kInvalid, "1:2: there is nothing to repeat"},
        {"TwiceRepeated", "a**", kInvalid, "1:3: a quantifier stands before"},
        {"TwiceCounted", "a{2}{3}", kInvalid, "1:5: a quantifier stands before"},
        {"ReversedCount", "a{3,1}", kInvalid, "1:2: 1 is less than 3"},
        {"NoLeastCount", "a{,3}", kInvalid, "1:2: dialects differ on {,n}"},
        {"ShortGroup", "(?", kInvalid, "1:3: expected a kind of group"},
        {"ShortName", "(?P<n", kInvalid, "1:5: expected a group's name and '>'"},
        {"BadName", "(?<1>a)", kInvalid, "1:4: a group's name is"},
        {"SameName", "(?<n>a)(?<n>b)", kInvalid, "1:11: a second group has the name n"},
        {"UnknownFlag", "(?q)a", kInvalid, "1:3: expected a kind of group"},
        {"NoFlag", "(?-)a", kInvalid, "1:4: expected a kind of group"},
        {"NotUtf8", "a\xFF", kInvalid, "1:2: the pattern is not UTF-8"},
        {"SecondLine", "a\nb)", kInvalid, "2:2: no group is open here"},
        {"RepeatedLook", "a(?=b)*", kInvalid, "1:7: there is nothing to repeat"},
        {"OpenLook", "a(?=b", kInvalid, "1:2: the group has no end"},
        {"FailedLook", "(?!a)a", kInvalid, "1:1: no text satisfies"},
        {"NoText", "$a", kInvalid, "1:1: no text satisfies"},
        {"NoCharacter", "a[^\\s\\S]", kInvalid, "1:1: no text satisfies"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    NotSupported, RegexErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"RepeatedLookAhead", "(?:a(?=.*b))*a", kUnsupported, "1:13: endless repetition of look-"},
        {"RepeatedLookBehind", "a(?:(?<=b.*)a)+", kUnsupported,
         "1:15: endless repetition of look-"},
        {"LookAheadFirst", "a*(?=b*c)b*(?<=ab*)c*", kUnsupported,
         "1:3: look-ahead in or before a l"},
        {"LookBehindWithin", "(?=a(?<=b.))", kUnsupported, "1:5: look-behind in a look-ahead"},
        {"Atomic", "(?>a)", kUnsupported, "1:1: atomic group"},
        {"Possessive", "a++", kUnsupported, "1:3: possessive quantifier"},
        {"PossessiveCount", "a{2}+", kUnsupported, "1:5: possessive quantifier"},
        {"BackReference", "(a)\\1", kUnsupported, "1:4: back-reference"},
        {"NamedBackReference", "(?<q>a)\\k<q>", kUnsupported, "1:8: back-reference"},
        {"PythonBackReference", "(?P<q>a)(?P=q)", kUnsupported, "1:9: back-reference"},
        {"Conditional", "(a)?(?(1)b|c)", kUnsupported, "1:5: conditional group"},
        {"Comment", "(?#x)a", kUnsupported, "1:1: comment"},
        {"Lines", "(?m)^a", kUnsupported, "1:3: flag m"},
        {"FreeSpacing", "(?x) a", kUnsupported, "1:3: flag x"},
        {"Quoting", "\\Qa\\E", kUnsupported, "1:1: quoting"},
        {"PythonEnd", "a\\Z", kUnsupported, "1:2: \\Z"},
        {"PropertyWithoutTable", "\\p{Dash}", kUnsupported, "1:1: \\p{Dash}"},
        {"RepeatedBoundary", "(?:a\\b-?)*", kUnsupported, "1:10: repetition of a word boundary"},
        {"Depth", std::string(513, '(') + std::string(513, ')'), kLimit,
         "1:513: limit source_depth is 512, 513 needed"},
        {"Count", "a{2147483648}", kLimit, "1:3: limit repeat_count is 2147483647, 2147483648"},
        {"LookAroundRounds", "(?:ab|a(?=c)){1,9999}c", kLimit,
         "1:8: limit look_around_parts is 10"},
        {"CountPast64Bits", "a{1,99999999999999999999}", kLimit, "1:5: limit repeat_count"},
    }),
    [](const auto& test) { return test.param.name; });

// The texts of `pattern`, read with `options`, as a grammar.
absl::StatusOr<GrammarIr> IrOf(absl::string_view pattern, const RegexOptions& options) {
  const Limits limits;
  Budget budget = Budget::Unlimited();
  IrBuilder builder(limits);
  const auto node = ReadRegex(pattern, options, limits, budget, builder);
  if (!node.ok()) return node.status();
  const RuleId start = builder.DeclareRule("search", "");
  builder.DefineRule(start, builder.Encode(Spelling::kUtf8, *node));
  return std::move(builder).Build(start);
}

// The texts of `pattern` searched for, as a grammar.
absl::StatusOr<GrammarIr> SearchIr(absl::string_view pattern, const std::string& place = "") {
  return IrOf(pattern, {.search = true, .place = place});
}

struct SearchCase {
  std::string name;
  std::string pattern;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

class RegexSearchTest : public testing::TestWithParam<SearchCase> {};

TEST_P(RegexSearchTest, MatchesSomePart) {
  const absl::StatusOr<GrammarIr> ir = SearchIr(GetParam().pattern);
  ASSERT_TRUE(ir.ok()) << ir.status();
  IrRecognizer recognizer(*ir);
  for (const std::string& text : GetParam().accepts) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const std::string& text : GetParam().rejects) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(Patterns, RegexSearchTest,
                         testing::ValuesIn(std::vector<SearchCase>{
                             {"Plain", "b", {"b", "abc", "\nb\n"}, {"", "ac"}},
                             {"Empty", "", {"", "a"}, {}},
                             {"Begin", "^b", {"b", "bc"}, {"ab"}},
                             {"End", "b$", {"b", "ab"}, {"bc"}},
                             {"Both", "^b*$", {"", "bb"}, {"ab"}},
                             {"LookAhead", "a(?=b)", {"ab", "cabc"}, {"a", "ba", "ac"}},
                             {"LookBehind", "(?<=a)b", {"ab", "cabc"}, {"b", "cb"}},
                             {"NoLookBehind", "(?<!a)b", {"b", "cb", "abb"}, {"ab", "a"}},
                             {"LookAround", "^(?=.*1).*(?<!-)$", {"1", "-1b"}, {"1-", "b", ""}},
                             {"UpToAnEnd", "^<((?!-->).)*-->$", {"<-->", "<--->"}, {"<-->-->"}},
                             {"UpToAnEndThatOverlaps", "^((?!aa).)*aa$", {"aa", "baa"}, {"aaa"}},
                             {"Tempered", "^((?!ab).)*$", {"", "ba", "aa"}, {"ab", "aab", "caba"}},
                             {"OneBranchAnchored", "^a|b", {"a", "cb"}, {"ca"}},
                             {"Word", "\\bfoo\\b", {"foo", "a foo!", "-foo-"}, {"food", "a_foo"}},
                             {"NoWord", "\\Bo", {"foo"}, {"o", "-o"}},
                             {"BoundaryAlone", "\\b", {"a", "- a"}, {"", "--"}},
                             {"NoBoundaryAlone", "\\B", {"", "aa", "--"}, {"a"}},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(RegexPlaceTest, ErrorsPointAtTheCallersOwnPlace) {
  const absl::Status status = SearchIr("a(", "/properties/x/pattern").status();
  EXPECT_EQ(ErrorPlace(status), "/properties/x/pattern");
  EXPECT_EQ(status.message(),
            "/properties/x/pattern: in the pattern, at 1:2: the group has no end, expected ')'");
}

TEST(RegexIrTest, AnchorsAndBoundariesAtTheEndsVanish) {
  const auto plain = ReadForTest("regex", "a*foo");
  const auto anchored = ReadForTest("regex", "^a*foo\\b$");
  ASSERT_TRUE(plain.ok() && anchored.ok());
  EXPECT_EQ(PrintIr(anchored->ir), PrintIr(plain->ir));
}

struct OptionsCase {
  std::string name;
  std::string pattern;
  RegexOptions options;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

class RegexOptionsTest : public testing::TestWithParam<OptionsCase> {};

TEST_P(RegexOptionsTest, ChangeTheLanguage) {
  const OptionsCase& param = GetParam();
  const absl::StatusOr<GrammarIr> ir = IrOf(param.pattern, param.options);
  ASSERT_TRUE(ir.ok()) << ir.status();
  IrRecognizer recognizer(*ir);
  for (const std::string& text : param.accepts) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const std::string& text : param.rejects) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(Options, RegexOptionsTest,
                         testing::ValuesIn(std::vector<OptionsCase>{
                             {"Fold", "aé(?-i:b)", {.fold = true}, {"AÉb", "aéb"}, {"aéB"}},
                             {"DotAll", ".", {.dot_all = true}, {"\n", "a"}, {""}},
                             {"FreeSpacing",
                              "a # one\n (  b | c ) * [ #] \\ ",
                              {.free_spacing = true},
                              {"abc  ", "a# "},
                              {"ab", "a #"}},
                             {"PythonShorthands",
                              "\\d\\w\\s.",
                              {.shorthands = PythonShorthands()},
                              {"\u0967é\u001c\u2028"},
                              {"1a\uFEFFx", "1a \n", "1- x"}},
                             {"AsciiShorthands",
                              "\\d\\w\\s.",
                              {.shorthands = AsciiShorthands()},
                              {"1a\v\u2028"},
                              {"\u0967a x", "1é x", "1a\u00A0x", "1a \n"}},
                             {"BeginsLater", "xx\na|b", {.begin = 3}, {"a", "b"}, {"xx\na"}},
                         }),
                         [](const auto& test) { return test.param.name; });

// Masks tell the tokens with spaces beyond ASCII from others, so that of `.` and \S they need not
// try each token beyond ASCII.
TEST(ShorthandsTest, WhatDotsAndNonSpacesLeaveOutBeyondAsciiIsOneSet) {
  const CharSet beyond({{0x80, kMaxCodePoint}});
  for (const Shorthands& sets : {EcmaShorthands(), PythonShorthands(), AsciiShorthands()}) {
    const CharSet left_out = sets.spaces.Union(sets.dot.Complement()).Intersect(beyond);
    EXPECT_EQ(left_out.Intersect(SpacesBeyondAscii()), left_out);
  }
  EXPECT_EQ(PythonShorthands().spaces.Union(EcmaShorthands().spaces).Intersect(beyond),
            SpacesBeyondAscii());
}

TEST(RegexPartTest, ErrorsOfAPartAreAtThePlaceInTheWhole) {
  EXPECT_EQ(ErrorPlace(IrOf("xx\n a)", {.begin = 4}).status()), "2:3");
}

TEST(RegexPartTest, WordBoundariesNeedAsciiWords) {
  const absl::Status status = IrOf("a\\b-", {.shorthands = PythonShorthands()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_EQ(ErrorPlace(status), "1:2");
}

}  // namespace
}  // namespace maskd
