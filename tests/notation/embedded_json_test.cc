// JSON in a Lark grammar: where it ends, what it means, and that all is told at its own place.
#include "grammar_core/frontend/lark/embedded_json.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

using absl::StatusCode;

TEST(EmbeddedJsonTest, EndsWithItsBracket) {
  const std::string rest = " } \"x\"";
  for (const char* object :
       {"{}", R"({"type":"string","pattern":"^[}\"\\]]{1,2}$"})",
        "{ \"const\"\n\n: {\"a\": [\"]\"]\n}\r\n}", R"({"const":"\u007d\\"})"}) {
    // Space and comments of the grammar may stand before it.
    TextInReading text(absl::StrCat(" # {\n  // }\n", object, rest));
    const absl::StatusOr<ExprId> read = ReadEmbeddedSchema({}, text.reading, text.grammar);
    ASSERT_TRUE(read.ok()) << object << read.status();
    EXPECT_EQ(text.Rest(), rest);
    EXPECT_EQ(text.at(*read).kind, ExprKind::kBytes);
    EXPECT_EQ(text.reading.lines.Place(text.at(*read).at), "3:1");
  }
}

TEST(EmbeddedJsonTest, NothingThatIsKeptHasAPlaceInTheJson) {
  TextInReading text(R"(  {"items":{"type":"integer","foo":1,"minimum":1},"uniqueItems":true})");
  const absl::StatusOr<ExprId> read = ReadEmbeddedSchema({}, text.reading, text.grammar);
  ASSERT_TRUE(read.ok()) << read.status();
  for (const IrRule& rule : text.reading.builder.ir().rules) EXPECT_EQ(rule.place, "1:3");
  ASSERT_FALSE(text.reading.builder.ir().distinct.empty());
  for (const DistinctSpec& array : text.reading.builder.ir().distinct)
    EXPECT_EQ(array.place, "1:3");
  ASSERT_EQ(text.reading.warnings.size(), 1U);
  EXPECT_EQ(text.reading.warnings[0].place, "1:3");
  EXPECT_THAT(text.reading.warnings[0].message,
              testing::StartsWith("in the JSON here: /items/foo: "));
}

TEST(EmbeddedJsonTest, ARemarkOfTheWholeSchemaHasNoPlaceInTheMessage) {
  std::string schema = "{";
  for (std::size_t i = 0; i <= kMaxWarnings; ++i)
    absl::StrAppend(&schema, i == 0 ? "" : ",", "\"no", i, "\":1");
  TextInReading text(schema + "}");
  ASSERT_TRUE(ReadEmbeddedSchema({}, text.reading, text.grammar).ok());
  ASSERT_EQ(text.reading.warnings.size(), kMaxWarnings + 1);
  EXPECT_FALSE(absl::StrContains(text.reading.warnings.back().message, ": :"))
      << text.reading.warnings.back().message;
}

TEST(EmbeddedJsonTest, WhyNothingSatisfiesItIsKept) {
  TextInReading text(R"( {"type":"string","minLength":2,"maxLength":1})");
  ASSERT_TRUE(ReadEmbeddedSchema({}, text.reading, text.grammar).ok());
  ASSERT_FALSE(text.reading.faults.empty());
  for (const auto& [rule, fault] : text.reading.faults) {
    EXPECT_LT(rule, text.reading.builder.ir().rules.size());
    EXPECT_EQ(ErrorPlace(fault), "1:2") << fault;
  }
}

struct ChunksCase {
  const char* name;
  std::string text;
  std::set<std::string> runs;
  std::vector<std::string> others;
};
class StructuredPatternTest : public testing::TestWithParam<ChunksCase> {};

TEST_P(StructuredPatternTest, MatchesTheRuns) {
  TextInReading text(GetParam().text);
  const absl::StatusOr<ExprId> read = ReadStructuredPattern(text.reading, text.grammar);
  ASSERT_TRUE(read.ok()) << read.status();
  std::vector<std::string> candidates = GetParam().others;
  candidates.insert(candidates.end(), GetParam().runs.begin(), GetParam().runs.end());
  EXPECT_EQ(text.TextsOf(*read, candidates), GetParam().runs);
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, StructuredPatternTest,
    testing::ValuesIn(std::vector<ChunksCase>{
        {"Chunks", R"({"substring_chunks":["ab","","c"]})", {"", "ab", "c", "abc"}, {"a", "b"}},
        {"NoChunks", R"({"substring_chunks":[]})", {""}, {"a"}},
        {"Characters",
         R"({"substring_chars":"a\u00e9\ud83d\ude00"})",
         {"", "a", "é", "😀", "aé", "é😀", "aé😀"},
         {"a😀"}},
        {"NoCharacters", R"({"substring_chars":""})", {""}, {"a"}},
        // As llguidance 1.9.1 cuts them.
        {"Words",
         R"({"substring_words":"foo bar-baz  q"})",
         {"", "foo", "bar", "-", "bar-", "  ", " ", "foo bar", "  q"},
         {"fo", "ba", "- "}},
        {"WordsOfAllScripts",
         R"({"substring_words":"é1_\u0663\u2003!?x"})",
         {"é1_٣", "\u2003", "!?", "!?x"},
         {"é", "!", "1"}},
    }),
    [](const auto& test) { return test.param.name; });

struct BadEmbedded {
  const char* name;
  char what;  // 's': a schema, 'p': a structured pattern, 'o': options
  std::string text;
  StatusCode code;
  std::string message;  // its beginning
};
class BadEmbeddedTest : public testing::TestWithParam<BadEmbedded> {};

TEST_P(BadEmbeddedTest, IsToldWhereTheJsonBegins) {
  TextInReading text(GetParam().text);
  absl::Status status;
  if (GetParam().what == 's')
    status = ReadEmbeddedSchema({}, text.reading, text.grammar).status();
  else if (GetParam().what == 'p')
    status = ReadStructuredPattern(text.reading, text.grammar).status();
  else
    status = ReadLarkOptions(text.reading, text.grammar);
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

constexpr auto kIsBad = StatusCode::kInvalidArgument;

INSTANTIATE_TEST_SUITE_P(
    Json, BadEmbeddedTest,
    testing::ValuesIn(std::vector<BadEmbedded>{
        {"None", 's', " ", kIsBad, "1:2: expected '{' and a JSON object, found the end"},
        {"List", 's', "\n [1]", kIsBad, "2:2: expected '{' and a JSON object, found '['"},
        {"NoEnd", 's', " {\"a\":{}", kIsBad, "1:2: the JSON object has no end, expected '}'"},
        {"StringWithoutEnd", 's', "{\"}", kIsBad, "1:1: the JSON object has no end"},
        {"BackslashAtTheEnd", 's', "{\"\\", kIsBad, "1:1: the JSON object has no end"},
        {"WrongBracket", 's', "{\"a\":1]", kIsBad, "1:1: in the JSON here: 1:7: ',' or '}'"},
        {"Syntax", 's', "\n {\n\"a\" 1}", kIsBad, "2:2: in the JSON here: 2:5: ':' is expected"},
        {"KeyTwice", 's', "{\"a\":1,\"a\":1}", kIsBad, "1:1: in the JSON here: /a: the key occurs"},
        {"Schema", 's', "{\"items\":{\"minimum\":\"1\"}}", kIsBad,
         "1:1: in the JSON here: /items/minimum: must be a number"},
        {"Keyword", 's', "{\"unevaluatedItems\":false,\"$dynamicRef\":\"#a\"}", kIsBad,
         "1:1: in the JSON here: "},
        {"NoMember", 'p', "{}", kIsBad, "1:1: expected one member"},
        {"TwoMembers", 'p', " {\"substring_chars\":\"\",\"a\":1}", kIsBad,
         "1:2: expected one member"},
        {"OtherMember", 'p', "{\"substring\":\"a\"}", kIsBad,
         "1:1: in the JSON here: /substring: expected substring_chunks"},
        {"ChunksAsText", 'p', "{\"substring_chunks\":\"a\"}", kIsBad,
         "1:1: in the JSON here: /substring_chunks: expected substring_chunks (a list)"},
        {"WordsAsAList", 'p', "{\"substring_words\":[]}", kIsBad,
         "1:1: in the JSON here: /substring_words: expected substring_chunks"},
        {"ChunkOfAnotherType", 'p', "{\"substring_chunks\":[\"a\",1]}", kIsBad,
         "1:1: in the JSON here: /substring_chunks/1: a chunk is a string"},
        {"Option", 'o', "{\"skip\":true}", kIsBad,
         "1:1: in the JSON here: /skip: expected allow_i"},
        {"OptionOfAnotherNameAndType", 'o', "{\"skip\":1}", kIsBad,
         "1:1: in the JSON here: /skip: expected allow_initial_skip"},
        {"OptionType", 'o', "{\"ignore_once\":null}", kIsBad,
         "1:1: in the JSON here: /ignore_once: expected true or false"},
        {"InvalidUtf8", 'o', "{\"allow_invalid_utf8\":true}", StatusCode::kUnimplemented,
         "1:1: in the JSON here: /allow_invalid_utf8: allow_invalid_utf8 is not supported"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(LarkOptionsReaderTest, TheyChangeTheGrammar) {
  TextInReading text(R"({"ignore_once":true,"allow_initial_skip":true,"no_forcing":true,
    "allow_invalid_utf8":false})");
  ASSERT_TRUE(ReadLarkOptions(text.reading, text.grammar).ok());
  EXPECT_TRUE(text.grammar.ignore_once);
  EXPECT_TRUE(text.grammar.ignore_first);
  TextInReading again(R"({"ignore_once":false})");
  again.grammar.ignore_once = true;
  ASSERT_TRUE(ReadLarkOptions(again.reading, again.grammar).ok());
  EXPECT_FALSE(again.grammar.ignore_once);
}

}  // namespace
}  // namespace maskd
