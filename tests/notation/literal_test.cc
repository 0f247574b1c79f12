// Escapes, quoted texts and numbers of grammars.
#include "grammar_core/frontend/notation/literal.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

using absl::StatusCode;

// The control characters of every letter that there is.
const LiteralStyle kAll = {.plain = "\"\\/", .controls = "0abefnrtv"};

struct QuotedCase {
  std::string name;
  std::string text;  // behind the opening quote, which is put before it
  std::string expected;
  LiteralStyle style = kAll;
};
class QuotedLiteralTest : public testing::TestWithParam<QuotedCase> {};

TEST_P(QuotedLiteralTest, IsTheText) {
  const std::string text = "\"" + GetParam().text;
  PatternCursor cursor(text, "", "grammar");
  ASSERT_TRUE(cursor.Take("\""));
  Budget budget = Budget::Unlimited();
  const absl::StatusOr<std::string> read = ReadQuoted(cursor, GetParam().style, budget);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, GetParam().expected);
  EXPECT_TRUE(cursor.Take("rest") || cursor.done());
}

const LiteralStyle kPairs = {.plain = "", .controls = "", .surrogate_pairs = true};
const LiteralStyle kLongHex = {.plain = "", .controls = "", .hex_digits = 0};

INSTANTIATE_TEST_SUITE_P(Texts, QuotedLiteralTest,
                         testing::ValuesIn(std::vector<QuotedCase>{
                             {"Empty", "\"rest", ""},
                             {"Characters", "aé😀'\"", "aé😀'"},
                             {"Controls", R"(\0\a\b\e\f\n\r\t\v")",
                              std::string("\0\a\b\x1B\f\n\r\t\v", 9)},
                             {"ForThemselves", R"(\"\\\/"rest)", "\"\\/"},
                             {"TwoHexDigits", R"(\x414\xe9")", "A4é"},
                             {"FourDigits", R"(\u00E91")", "é1"},
                             {"EightDigits", R"(\U0001F6001")", "😀1"},
                             {"Greatest", R"(\U0010FFFF")", "\U0010FFFF"},
                             {"Pair", R"(\uD83D\uDE00")", "😀", kPairs},
                             {"AllHexDigits", R"(\x1F600 \x41z\x0000000042")", "😀 AzB", kLongHex},
                             {"LinesWhereTheyMayEnd",
                              "a\n\r\"",
                              "a\n\r",
                              {.plain = "", .controls = "", .newlines = true}},
                         }),
                         [](const auto& test) { return test.param.name; });

struct ErrorCase {
  std::string name;
  std::string text;
  std::string message;  // its beginning
  LiteralStyle style = kAll;
};
class QuotedErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(QuotedErrorTest, SaysWhereAndWhat) {
  const std::string text = "\"" + GetParam().text;
  PatternCursor cursor(text, "", "grammar");
  ASSERT_TRUE(cursor.Take("\""));
  Budget budget = Budget::Unlimited();
  const absl::Status status = ReadQuoted(cursor, GetParam().style, budget).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().substr(0, GetParam().message.size()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Literals, QuotedErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"NoEnd", "ab", "1:1: the literal has no end, expected '\"' before the end of the grammar"},
        {"LineEnds", "ab\n\"",
         "1:1: the literal has no end, expected '\"' before the end of the l"},
        {"CarriageReturn", "ab\r\"", "1:1: the literal has no end"},
        {"EscapedEnd", "ab\\", "1:5: expected what the backslash escapes"},
        {"UnknownEscape", "ab\\q\"", "1:4: this is no escape here"},
        {"EscapeOfAnotherStyle",
         "\\n\"",
         "1:2: this is no escape here",
         {.plain = "", .controls = "t"}},
        {"EscapedNonAscii", "\\é\"", "1:2: this is no escape here"},
        {"ShortHex", "\\x4\"", "1:5: expected 2 hexadecimal digits"},
        {"NoHex", "\\xg\"", "1:4: expected 1 hexadecimal digits", kLongHex},
        {"BigHex", "\\x110000\"", "1:2: a code point is at most 10FFFF", kLongHex},
        {"LongHex", "\\xFFFFFFFFFFFFFFFF\"", "1:2: a code point is at most 10FFFF", kLongHex},
        {"BigEight", "\\UFFFFFFFF\"", "1:2: a code point is at most 10FFFF"},
        {"HighAlone", "\\uD83D\"", "1:2: a surrogate alone", kPairs},
        {"LowAlone", "\\uDE00\"", "1:2: a surrogate alone", kPairs},
        {"PairOfAnotherStyle", "\\uD83D\\uDE00\"", "1:2: a surrogate alone"},
        {"EightOfASurrogate", "\\U0000DFFF\"", "1:2: a surrogate alone"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LiteralCharacterTest, IsOneEscapedOrNot) {
  PatternCursor cursor("é\\n\"", "", "grammar");
  EXPECT_EQ(*ReadLiteralCharacter(cursor, kAll), 0xE9U);
  EXPECT_EQ(*ReadLiteralCharacter(cursor, kAll), '\n');
  EXPECT_EQ(*ReadLiteralCharacter(cursor, kAll), '"');
}

TEST(LiteralNumberTest, IsDecimalWithinItsLimit) {
  PatternCursor cursor("0042x", "", "grammar");
  EXPECT_EQ(*ReadNumber(cursor, "a number", "most", 42), 42U);
  EXPECT_EQ(ReadNumber(cursor, "a number", "most", 42).status().message(),
            "1:5: expected a number, found 'x'");
  PatternCursor over("x43", "", "grammar");
  over.Next();
  const absl::Status status = ReadNumber(over, "a number", "most", 42).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "1:2: limit most is 42, 43 needed");
}

TEST(LiteralNumberTest, TokensAndCountsHaveTheirOwnEnds) {
  const auto token = [](absl::string_view text) {
    PatternCursor cursor(text, "", "grammar");
    return ReadTokenId(cursor);
  };
  const auto count = [](absl::string_view text) {
    PatternCursor cursor(text, "", "grammar");
    return ReadRepeatCount(cursor);
  };
  EXPECT_EQ(*token("4294967295"), 0xFFFFFFFFU);
  EXPECT_EQ(*token("0"), 0U);
  EXPECT_EQ(token("4294967296").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(token("18446744073709551616").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(token("-1").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*count("2147483647"), 2147483647U);
  EXPECT_EQ(count("2147483648").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(count("99999999999999999999999").status().code(), StatusCode::kResourceExhausted);
}

TEST(LiteralNumberTest, ATemperatureIsNotNegative) {
  const auto temperature = [](absl::string_view text) {
    PatternCursor cursor(text, "", "grammar");
    return ReadTemperature(cursor);
  };
  EXPECT_EQ(*temperature("0.5,"), 0.5F);
  EXPECT_EQ(*temperature("0"), 0.0F);
  EXPECT_EQ(*temperature("2e-1)"), 0.2F);
  EXPECT_EQ(*temperature("1e+5]"), 1e5F);
  EXPECT_EQ(*temperature("+.5E+0"), 0.5F);
  EXPECT_EQ(*temperature("1e-99"), 0.0F);
  EXPECT_FALSE(std::signbit(*temperature("-0")));
  for (const absl::string_view text :
       {"", "x", "-0.1", "1e99", "1-2", "1+2", ".", "1.2.3", "e+", "++1"})
    EXPECT_EQ(temperature(text).status().code(), StatusCode::kInvalidArgument) << text;
}

}  // namespace
}  // namespace maskd
