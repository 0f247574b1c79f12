// Attributes of Lark's rules: as they are read, what they make of a body, and what is refused.
#include "grammar_core/frontend/lark/rule_attributes.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

using absl::StatusCode;

// The cursor stands behind the '['.
absl::StatusOr<RuleAttributes> ReadAttributesOf(TextInReading& text) {
  EXPECT_TRUE(text.reading.cursor.Take("["));
  return ReadRuleAttributes(text.reading, text.grammar);
}

TEST(RuleAttributesTest, AreThoseThatAreWritten) {
  TextInReading text("[ max_tokens = 12 ,lazy, temperature=1e+1, capture ,stop_capture=\"é\"]:");
  const absl::StatusOr<RuleAttributes> read = ReadAttributesOf(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(text.Rest(), ":");
  EXPECT_EQ(read->at, 0U);
  EXPECT_TRUE(read->lazy);
  EXPECT_TRUE(read->is_terminal());
  EXPECT_EQ(read->max_tokens, 12U);
  EXPECT_EQ(read->max_chars, std::nullopt);
  EXPECT_EQ(read->temperature, 10.0F);
  EXPECT_FALSE(read->end.has_value());
  ASSERT_EQ(text.reading.warnings.size(), 2U);
  EXPECT_EQ(text.reading.warnings[0].place, "1:44");
  EXPECT_EQ(text.reading.warnings[1].place, "1:53");
}

TEST(RuleAttributesTest, AbsentOnesChangeNothing) {
  TextInReading text("[capture=\"x\"]");
  const absl::StatusOr<RuleAttributes> read = ReadAttributesOf(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->is_terminal());
  const ExprId body = text.grammar.Add({.kind = ExprKind::kSequence});
  EXPECT_EQ(read->Applied(body, text.grammar), body);
}

struct EndCase {
  const char* name;
  std::string text;
  ExprKind kind;
};
class RuleEndTest : public testing::TestWithParam<EndCase> {};

TEST_P(RuleEndTest, StandsBehindTheBody) {
  TextInReading text(GetParam().text);
  const absl::StatusOr<RuleAttributes> read = ReadAttributesOf(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->is_terminal());
  ASSERT_TRUE(read->end.has_value());
  EXPECT_EQ(text.at(*read->end).kind, GetParam().kind);
  const ExprId body = text.grammar.Add({.kind = ExprKind::kSequence});
  // A lexeme of the shortest texts of the body and the end.
  const auto child = [&](ExprId id, std::uint32_t i) {
    return text.grammar.children[text.at(id).first_child + i];
  };
  const ExprId lexeme = read->Applied(body, text.grammar);
  ASSERT_EQ(text.at(lexeme).kind, ExprKind::kLexeme);
  const ExprId shortest = child(lexeme, 0);
  ASSERT_EQ(text.at(shortest).kind, ExprKind::kShortest);
  const ExprId both = child(shortest, 0);
  ASSERT_EQ(text.at(both).kind, ExprKind::kSequence);
  EXPECT_EQ(child(both, 0), body);
  EXPECT_EQ(child(both, 1), *read->end);
}

INSTANTIATE_TEST_SUITE_P(Ends, RuleEndTest,
                         testing::ValuesIn(std::vector<EndCase>{
                             {"Suffix", "[suffix=\"x\"i]", ExprKind::kCharacters},
                             {"Stop", "[lazy, stop = /x|y/s]", ExprKind::kCharacters},
                             {"Terminal", "[suffix=END-1]", ExprKind::kName},
                             {"Range", "[stop=\"a\"..\"c\"]", ExprKind::kCharacters},
                         }),
                         [](const auto& test) { return test.param.name; });

struct BadAttribute {
  const char* name;
  std::string text;
  StatusCode code;
  std::string message;  // its beginning
};
class BadAttributeTest : public testing::TestWithParam<BadAttribute> {};

TEST_P(BadAttributeTest, SaysWhatAndWhere) {
  TextInReading text(GetParam().text);
  const absl::Status status = ReadAttributesOf(text).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

constexpr auto kInvalidThen = StatusCode::kInvalidArgument;
constexpr auto kUnsupportedThen = StatusCode::kUnimplemented;

INSTANTIATE_TEST_SUITE_P(
    Attributes, BadAttributeTest,
    testing::ValuesIn(std::vector<BadAttribute>{
        {"None", "[]", kInvalidThen, "1:2: expected an attribute: lazy, "},
        {"OnlyAComma", "[lazy,]", kInvalidThen, "1:7: expected an attribute"},
        {"OfAnotherName", "[lazily]", kInvalidThen, "1:2: expected an attribute"},
        {"Twice", "[lazy, max_chars=1, lazy]", kInvalidThen, "1:21: the attribute stands before"},
        {"SuffixTwice", "[suffix=\"a\",suffix=\"a\"]", kInvalidThen, "1:13: the attribute stands"},
        {"SuffixAndStop", "[stop=A, suffix=\"a\"]", kInvalidThen, "1:10: suffix and stop exclude"},
        {"LazyWithAValue", "[lazy=true]", kInvalidThen, "1:6: expected ',' or ']', found '='"},
        {"WithoutAnEnd", "[lazy", kInvalidThen, "1:6: expected ',' or ']', found the end of"},
        {"LineEnds", "[lazy,\nmax_chars=1]", kInvalidThen, "1:7: expected an attribute"},
        {"SuffixOfNothing", "[suffix]", kInvalidThen, "1:8: expected '=', found ']'"},
        {"SuffixOfARule", "[suffix=a]", kInvalidThen, "1:9: expected a terminal, not a rule"},
        {"SuffixThatIsEmpty", "[suffix=\"\"]", kUnsupportedThen, "1:2: suffix=\"\""},
        {"SuffixThatIsNone", "[suffix=,]", kInvalidThen, "1:9: expected a string, a pattern or a"},
        {"Chars", "[max_chars=-1]", kInvalidThen, "1:12: expected a number, found '-'"},
        {"CharsPastAll", "[max_chars=2147483648]", StatusCode::kResourceExhausted,
         "1:12: limit max_chars is 2147483647, 2147483648 needed"},
        {"Tokens", "[max_tokens=]", kInvalidThen, "1:13: expected a number, found ']'"},
        {"CharsBesideLazy", "[max_chars=1, lazy]", kUnsupportedThen, "1:1: max_chars beside lazy"},
        {"TokensBesideAnEnd", "[max_tokens=1, stop=A]", kUnsupportedThen, "1:1: max_tokens beside"},
        {"Temperature", "[temperature=-1]", kInvalidThen, "1:14: expected a temperature"},
        {"Capture", "[capture=x]", kInvalidThen, "1:10: expected a string, found 'x'"},
        {"StopCapture", "[stop_capture]", kInvalidThen, "1:14: expected '=', found ']'"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
