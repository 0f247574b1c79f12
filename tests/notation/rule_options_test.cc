// Options of EBNF's rules: as they are read, what they make of a body, and where lists of them end.
#include "grammar_core/frontend/ebnf/rule_options.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

using absl::StatusCode;

// The cursor stands behind the '['.
absl::StatusOr<RuleOptions> ReadOptionsOf(TextInReading& text) {
  EXPECT_TRUE(text.reading.cursor.Take("["));
  return ReadRuleOptions(text.reading);
}

TEST(EbnfRuleOptionsTest, AreThoseThatAreWritten) {
  TextInReading text(
      "[ max_chars = 3,max_tokens=0, temperature=1e+0 ,capture, stop_capture=\"]\"] :");
  const absl::StatusOr<RuleOptions> options = ReadOptionsOf(text);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(text.Rest(), " :");
  EXPECT_EQ(options->at, 0U);
  EXPECT_FALSE(options->lazy);
  EXPECT_EQ(options->max_chars, 3U);
  EXPECT_EQ(options->max_tokens, 0U);
  EXPECT_EQ(options->temperature, 1.0F);
  EXPECT_TRUE(options->needs_characters());
  ASSERT_EQ(text.reading.warnings.size(), 2U);
  EXPECT_EQ(text.reading.warnings[0].place, "1:49");
  EXPECT_EQ(text.reading.warnings[1].message, "the option stop_capture holds the text to nothing");
}

TEST(EbnfRuleOptionsTest, AbsentOnesChangeNothing) {
  TextInReading text("[capture_hidden_body_rule_id=7, capture=\"a\"]");
  const absl::StatusOr<RuleOptions> options = ReadOptionsOf(text);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_FALSE(options->needs_characters());
  const ExprId body = text.grammar.Add({.kind = ExprKind::kSequence});
  EXPECT_EQ(options->Applied(body, text.grammar), body);
}

TEST(EbnfRuleOptionsTest, TokensAreCountedAroundTheRest) {
  TextInReading text("[max_tokens=2, lazy]");
  const absl::StatusOr<RuleOptions> options = ReadOptionsOf(text);
  ASSERT_TRUE(options.ok()) << options.status();
  const ExprId body = text.grammar.Add({.kind = ExprKind::kSequence});
  const Expression& limited = text.at(options->Applied(body, text.grammar));
  EXPECT_EQ(limited.kind, ExprKind::kLimited);
  EXPECT_EQ(limited.a, 2U);
  const Expression& shortest = text.at(text.grammar.children[limited.first_child]);
  EXPECT_EQ(shortest.kind, ExprKind::kShortest);
  EXPECT_EQ(text.grammar.children[shortest.first_child], body);
}

struct BadOptions {
  const char* name;
  std::string text;
  StatusCode code;
  std::string message;  // its beginning
};
class BadRuleOptionsTest : public testing::TestWithParam<BadOptions> {};

TEST_P(BadRuleOptionsTest, SayWhatAndWhere) {
  TextInReading text(GetParam().text);
  const absl::Status status = ReadOptionsOf(text).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

constexpr auto kNotRight = StatusCode::kInvalidArgument;

INSTANTIATE_TEST_SUITE_P(
    Texts, BadRuleOptionsTest,
    testing::ValuesIn(std::vector<BadOptions>{
        {"None", "[]", kNotRight, "1:2: expected an option: lazy, max_chars, "},
        {"CommaLast", "[lazy,]", kNotRight, "1:7: expected an option"},
        {"Name", "[Lazy]", kNotRight, "1:2: expected an option"},
        {"Twice", "[lazy, lazy]", kNotRight, "1:8: the option stands before"},
        {"LazyWithAValue", "[lazy=1]", kNotRight, "1:6: expected ',' or ']', found '='"},
        {"NoEnd", "[lazy", kNotRight, "1:6: expected ',' or ']', found the end"},
        {"LineEnds", "[lazy\n]", kNotRight, "1:6: expected ',' or ']', found the end of the line"},
        {"CharsBesideLazy", "[lazy, max_chars=1]", StatusCode::kUnimplemented,
         "1:1: max_chars beside lazy"},
        {"Chars", "[max_chars=x]", kNotRight, "1:12: expected a number, found 'x'"},
        {"CharsWithoutANumber", "[max_chars]", kNotRight, "1:11: expected '=', found ']'"},
        {"CharsPastAll", "[max_chars=2147483648]", StatusCode::kResourceExhausted,
         "1:12: limit max_chars is 2147483647, 2147483648 needed"},
        {"Temperature", "[temperature=hot]", kNotRight, "1:14: expected a temperature"},
        {"Capture", "[capture=a]", kNotRight, "1:10: expected a name in quotes, found 'a'"},
        {"CaptureOfNoName", "[capture=\"\"]", kNotRight, "1:10: the name is empty"},
        {"StopCapture", "[stop_capture]", kNotRight, "1:14: expected '=', found ']'"},
        {"HiddenBytes", "[capture_hidden_stop_bytes=\"1\"]", kNotRight, "1:28: expected a number"},
    }),
    [](const auto& test) { return test.param.name; });

struct PassCase {
  const char* name;
  std::string text;
  bool is_list;
  std::string rest = "";
};
class PassRuleOptionsTest : public testing::TestWithParam<PassCase> {};

TEST_P(PassRuleOptionsTest, EndsWithTheListInItsLine) {
  PatternCursor cursor(GetParam().text, "", "grammar");
  EXPECT_EQ(PassRuleOptions(cursor), GetParam().is_list);
  if (GetParam().is_list) EXPECT_EQ(GetParam().text.substr(cursor.at()), GetParam().rest);
}

INSTANTIATE_TEST_SUITE_P(Texts, PassRuleOptionsTest,
                         testing::ValuesIn(std::vector<PassCase>{
                             {"List", "[lazy] ::=", true, " ::="},
                             {"BracketInQuotes", "[capture=\"]\"]x", true, "x"},
                             {"QuoteInQuotes", "[capture=\"\\\"]\\\\\"]x", true, "x"},
                             {"EscapedBracket", "[\\]]x", true, "x"},
                             {"NoEnd", "[lazy", false},
                             {"LineEnds", "[lazy\n]", false},
                             {"CarriageReturn", "[lazy\r]", false},
                             {"BackslashLast", "[\\", false},
                             {"QuoteOpen", "[\"]", false},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
