// The place in a text, and the errors that point at one.
#include "grammar_core/frontend/regex/pattern_cursor.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

using absl::StatusCode;

struct PlaceCase {
  std::string name;
  std::string text;
  std::size_t at;
  std::string expected;
};
class LineAndColumnTest : public testing::TestWithParam<PlaceCase> {};

TEST_P(LineAndColumnTest, CountFromOneInBytes) {
  EXPECT_EQ(LineAndColumn(GetParam().text, GetParam().at), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Places, LineAndColumnTest,
                         testing::ValuesIn(std::vector<PlaceCase>{
                             {"Empty", "", 0, "1:1"},
                             {"BehindTheLast", "ab", 2, "1:3"},
                             {"BehindTwoBytes", "éb", 2, "1:3"},
                             {"AtALineFeed", "a\nb", 1, "1:2"},
                             {"BehindALineFeed", "a\nb", 2, "2:1"},
                             {"EmptyLines", "\n\n\nx", 3, "4:1"},
                             {"EndOfALastLine", "a\nbc\n", 5, "3:1"},
                             {"CarriageReturnIsNoLine", "a\rb\r\nc", 3, "1:4"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(PatternCursorTest, GoesByCharacters) {
  PatternCursor cursor("aé\U0001F600", "");
  EXPECT_EQ(cursor.Next(), 'a');
  EXPECT_EQ(cursor.Peek(), 0xE9U);
  EXPECT_EQ(cursor.Next(), 0xE9U);
  EXPECT_EQ(cursor.at(), 3U);
  EXPECT_EQ(cursor.Next(), 0x1F600U);
  EXPECT_TRUE(cursor.done());
  EXPECT_EQ(cursor.Peek(), PatternCursor::kEnd);
  EXPECT_EQ(cursor.Next(), PatternCursor::kEnd);
  EXPECT_EQ(cursor.at(), 7U);
  cursor.MoveTo(1);
  EXPECT_FALSE(cursor.done());
  EXPECT_EQ(cursor.Peek(), 0xE9U);
}

// As the end is no character, a NUL is one.
TEST(PatternCursorTest, ANulIsACharacter) {
  PatternCursor cursor(absl::string_view("\0b", 2), "");
  EXPECT_EQ(cursor.Next(), 0U);
  EXPECT_FALSE(cursor.done());
}

TEST(PatternCursorTest, TakesTheWholeOfWhatIsExpectedOrNothing) {
  PatternCursor cursor("(?<n>", "");
  EXPECT_FALSE(cursor.Take("(?="));
  EXPECT_EQ(cursor.at(), 0U);
  EXPECT_TRUE(cursor.Take("(?"));
  EXPECT_EQ(cursor.at(), 2U);
  EXPECT_FALSE(cursor.Take("<n>a"));
  EXPECT_TRUE(cursor.Take("<n>"));
  EXPECT_FALSE(cursor.Take("a"));
}

TEST(PatternCursorTest, TakesAllThatStandsBeforeTheNextEnd) {
  PatternCursor cursor("}ab}}c", "");
  absl::string_view before = "untouched";
  EXPECT_FALSE(cursor.TakeUntil(">", &before));
  EXPECT_EQ(cursor.at(), 0U);
  EXPECT_EQ(before, "untouched");
  EXPECT_TRUE(cursor.TakeUntil("}", &before));
  EXPECT_EQ(before, "");
  EXPECT_TRUE(cursor.TakeUntil("}}", &before));
  EXPECT_EQ(before, "ab");
  EXPECT_EQ(cursor.Peek(), 'c');
  EXPECT_FALSE(cursor.TakeUntil("}", &before));
  EXPECT_EQ(cursor.Peek(), 'c');
}

struct Utf8Case {
  std::string name;
  std::string text;
  std::string place;  // of the first byte that is not UTF-8; empty: there is none
};
class CheckUtf8Test : public testing::TestWithParam<Utf8Case> {};

TEST_P(CheckUtf8Test, PointsAtTheFirstByte) {
  const absl::Status status = PatternCursor(GetParam().text, "").CheckUtf8();
  if (GetParam().place.empty()) {
    EXPECT_TRUE(status.ok()) << status;
    return;
  }
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), GetParam().place + ": the pattern is not UTF-8 here");
}

// RFC 3629, section 4.
INSTANTIATE_TEST_SUITE_P(Texts, CheckUtf8Test,
                         testing::ValuesIn(std::vector<Utf8Case>{
                             {"Empty", "", ""},
                             {"EveryLength", "aé€😀", ""},
                             {"Greatest", "\xF4\x8F\xBF\xBF", ""},
                             {"PastTheGreatest", "a\xF4\x90\x80\x80", "1:2"},
                             {"Continuation", "é\x80", "1:3"},
                             {"CutShort", "a\n\xE2\x82", "2:1"},
                             {"Overlong", "\xC0\x80", "1:1"},
                             {"OverlongOfThree", "\xE0\x9F\xBF", "1:1"},
                             {"Surrogate", "ab\xED\xA0\x80", "1:3"},
                             {"Ff", "\xFF", "1:1"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(PatternCursorTest, ChecksUtf8FromHereOn) {
  PatternCursor cursor("\xFFok", "", "grammar");
  EXPECT_EQ(cursor.CheckUtf8().message(), "1:1: the grammar is not UTF-8 here");
  cursor.MoveTo(1);
  EXPECT_TRUE(cursor.CheckUtf8().ok());
}

TEST(PatternCursorTest, SaysWhatItFound) {
  PatternCursor cursor("é\n\r", "", "grammar");
  EXPECT_EQ(cursor.Found(), "'é'");
  cursor.Next();
  EXPECT_EQ(cursor.Found(), "the end of the line");
  cursor.Next();
  EXPECT_EQ(cursor.Found(), "the end of the line");
  cursor.Next();
  EXPECT_EQ(cursor.Found(), "the end of the grammar");
  EXPECT_EQ(PatternCursor("", "").Found(), "the end of the pattern");
}

TEST(PatternCursorTest, ErrorsArePlacedInTheText) {
  PatternCursor cursor("a\nbc", "");
  cursor.MoveTo(3);
  EXPECT_EQ(cursor.Invalid(2, "no").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(cursor.Invalid(2, "no").message(), "2:1: no");
  EXPECT_EQ(cursor.Expected("a digit").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(cursor.Expected("a digit").message(), "2:2: expected a digit, found 'c'");
  EXPECT_EQ(cursor.Unsupported(0, "quoting").code(), StatusCode::kUnimplemented);
  EXPECT_EQ(cursor.Unsupported(0, "quoting").message().substr(0, 12), "1:1: quoting");
  const absl::Status limit = cursor.Limit(1, "repeat_count", 5, 6);
  EXPECT_EQ(limit.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(limit.message(), "1:2: limit repeat_count is 5, 6 needed");
}

TEST(PatternCursorTest, ErrorsOfAPatternElsewhereAreAtItsPlace) {
  const PatternCursor cursor("a\nbc", "/pattern");
  EXPECT_EQ(cursor.Invalid(3, "no").message(), "/pattern: in the pattern, at 2:2: no");
  EXPECT_EQ(cursor.Expected("x").message(),
            "/pattern: in the pattern, at 1:1: expected x, found 'a'");
  EXPECT_EQ(cursor.Limit(3, "repeat_count", 5, 6).message(),
            "/pattern: limit repeat_count is 5, 6 needed");
}

}  // namespace
}  // namespace maskd
