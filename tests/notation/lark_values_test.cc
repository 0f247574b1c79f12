// Strings, ranges, patterns and tokens of Lark, one at a time.
#include "grammar_core/frontend/lark/lark_values.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

using absl::StatusCode;

absl::StatusOr<ExprId> ReadValueOf(TextInReading& text) {
  switch (text.text[0]) {
    case '/':
      return ReadLarkPattern(text.reading, text.grammar);
    case '<':
      return ReadLarkToken(text.reading, text.grammar);
    default:
      return ReadLarkString(text.reading, text.grammar);
  }
}

struct ValueCase {
  std::string name;
  std::string text;
  std::set<std::string> matched;
  std::vector<std::string> refused;
  std::string rest = "";
};
class LarkValueTest : public testing::TestWithParam<ValueCase> {};

TEST_P(LarkValueTest, IsItsTexts) {
  TextInReading text(GetParam().text);
  const absl::StatusOr<ExprId> value = ReadValueOf(text);
  ASSERT_TRUE(value.ok()) << value.status();
  std::vector<std::string> candidates = GetParam().refused;
  candidates.insert(candidates.end(), GetParam().matched.begin(), GetParam().matched.end());
  EXPECT_EQ(text.TextsOf(*value, candidates), GetParam().matched);
  EXPECT_EQ(text.Rest(), GetParam().rest);
  EXPECT_EQ(text.at(*value).at, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Values, LarkValueTest,
    testing::ValuesIn(std::vector<ValueCase>{
        {"String", R"("a\n\u00e9\ud83d\ude00\\")", {"a\né😀\\"}, {"a", ""}},
        {"Empty", "\"\"", {""}, {"\"", "a"}},
        {"SlashesInAString", "\"//#\" # comment", {"//#"}, {""}, " # comment"},
        {"Folded", "\"aß\"i", {"aß", "Aß", "aẞ", "Aẞ"}, {"ass", "aSS"}},
        {"FoldedKelvin", "\"k\"i ", {"k", "K", "\u212a"}, {"c"}, " "},
        {"FlagIsOneLetter", "\"a\"ii", {"a", "A"}, {"ai"}, "i"},
        {"RangeBehindAComment", "\"a\" # to\\\n .. \"c\"", {"a"}, {"b"}, " # to\\\n .. \"c\""},
        {"RangeOnALine", "\"a\" \\\n .. \t\"c\"x", {"a", "b", "c"}, {"d", "ab", ""}, "x"},
        {"RangeOfOne", "\"é\"..\"é\"", {"é"}, {"e"}},
        {"RangeOverSurrogates",
         "\"\\uD7FF\"..\"\\uE000\"",
         {"\xED\x9F\xBF", "\xEE\x80\x80"},
         {"\xEE\x80\x81"}},
        {"RangeOfAll", "\"\\x00\"..\"\\U0010FFFF\"", {"a", "\n", "😀"}, {"", "aa"}},
        {"NoRange", "\"a\" . \"c\"", {"a"}, {"b"}, " . \"c\""},
        {"Pattern", "/a|bc*/x", {"a", "b", "bcc"}, {"ac", ""}},
        {"PatternWithASlash", "/a\\/b/ /c/", {"a/b"}, {"a"}, " /c/"},
        {"PatternWithTwoBackslashes", "/a\\\\/", {"a\\"}, {"a"}},
        {"PatternHasOwnEnds", "/^a$/", {"a"}, {"^a$"}},
        {"PatternWithAllFlags", "/A .#x\n/xsui ", {"a\n", "Ab"}, {"a", "a ."}, " "},
        {"PatternThatIsEmpty", "/()/", {""}, {"a"}},
    }),
    [](const auto& test) { return test.param.name; });

struct BadValue {
  std::string name;
  std::string text;
  StatusCode code;
  std::string message;  // its beginning
};
class BadLarkValueTest : public testing::TestWithParam<BadValue> {};

TEST_P(BadLarkValueTest, SaysWhatAndWhere) {
  TextInReading text(GetParam().text);
  const absl::Status status = ReadValueOf(text).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

constexpr auto kBad = StatusCode::kInvalidArgument;
constexpr auto kNotHere = StatusCode::kUnimplemented;

INSTANTIATE_TEST_SUITE_P(
    Values, BadLarkValueTest,
    testing::ValuesIn(std::vector<BadValue>{
        {"LineInAString", "\"a\nb\"", kBad, "1:1: the literal has no end"},
        {"EscapeOfAQuote", "\"\\'\"", kBad, "1:2: this is no escape here"},
        {"RangeWithoutAnEnd", "\"a\"..", kBad, "1:6: expected a string, found the end"},
        {"RangeOfTwo", "\"a\"..\"bc\"", kBad, "1:1: each end of a range is one character"},
        {"RangeOfNone", "\"\"..\"b\"", kBad, "1:1: each end of a range is one character"},
        {"RangeReversed", "\"é\"..\"e\"", kBad, "1:1: the range is reversed"},
        {"RangeFolded", "\"a\"i .. \"b\"", kBad, "1:4: a range takes no flag"},
        {"PatternWithoutEnd", "/a\\", kBad, "1:1: the pattern has no end"},
        {"PatternOnTwoLines", "/a\n(/", kBad, "1:1: a pattern ends in its line"},
        {"PatternOnTwoLinesInside", "/é(\n/x", kBad, "1:4: the group has no end"},
        {"PatternOfLines", "/a/sm", kNotHere, "1:5: flag m (lines)"},
        {"PatternOfALocale", "/a/l", kNotHere, "1:4: flag l (locale)"},
        {"PatternThatLooksBehind", "/(?<=a)b/", kNotHere, "1:2: look-behind"},
        {"TokenOfNoName", "<>", kBad, "1:1: expected a token: <name> or <[ids]>"},
        {"TokenWithSpace", "<a b>", kBad, "1:1: expected a token"},
        {"TokenInAToken", "<a<b>", kBad, "1:1: expected a token"},
        {"TokenWithoutEnd", "<a", kBad, "1:1: expected a token"},
        {"TokensOfNoIds", "<[]>", kBad, "1:3: expected the id of a token, found ']'"},
        {"TokensOfNoOthers", "<[^]>", kBad, "1:4: expected the id of a token, found ']'"},
        {"TokensBehindAComma", "<[1,]>", kBad, "1:5: expected the id of a token, found ']'"},
        {"TokenRange", "<[1-]>", kBad, "1:5: expected the id of a token, found ']'"},
        {"TokenRangeReversed", "<[1,9-8]>", kBad, "1:5: the range is reversed"},
        {"TokenId", "<[4294967296]>", kBad, "1:3: the id of a token is at most 4294967295"},
        {"TokensWithoutEnd", "<[1", kBad, "1:4: expected ',' or ']>', found the end"},
    }),
    [](const auto& test) { return test.param.name; });

struct TokensCase {
  std::string name;
  std::string text;
  TokenSpec expected;
};
class LarkTokenTest : public testing::TestWithParam<TokensCase> {};

TEST_P(LarkTokenTest, IsItsTokens) {
  TextInReading text(GetParam().text + " x");
  const absl::StatusOr<ExprId> value = ReadLarkToken(text.reading, text.grammar);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(text.Rest(), " x");
  ASSERT_EQ(text.at(*value).kind, ExprKind::kBytes);
  TokenSpec expected = GetParam().expected;
  expected.place = "1:1";
  EXPECT_EQ(text.reading.builder.ir().token_specs, std::vector<TokenSpec>{expected});
}

INSTANTIATE_TEST_SUITE_P(
    Tokens, LarkTokenTest,
    testing::ValuesIn(std::vector<TokensCase>{
        {"Name", "<|é[1]|>", {.names = {"<|é[1]|>"}}},
        {"Ids", "<[7,1-3]>", {.ids = {{7, 7}, {1, 3}}}},
        {"Others", "<[^0-4294967295]>", {.ids = {{0, 4294967295}}, .negated = true}},
        {"Any", "<[*]>", {.negated = true}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LarkPlainStringTest, TakesNoFlag) {
  TextInReading text("\"a\\u0041\"i");
  EXPECT_EQ(*ReadPlainString(text.reading), "aA");
  EXPECT_EQ(text.Rest(), "i");
  TextInReading other("'a'");
  EXPECT_EQ(ReadPlainString(other.reading).status().message(), "1:1: expected a string, found '''");
}

}  // namespace
}  // namespace maskd
