#include "grammar_core/frontend/json/json_document.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

using testing::HasSubstr;

std::string CompactOf(absl::string_view text) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text, Limits());
  return document.ok() ? document->root().Compact() : document.status().ToString();
}

TEST(JsonDocumentTest, CompactKeepsOrderAndNumbers) {
  EXPECT_EQ(CompactOf(" { \"b\" : [ 1.50 , -0 , 1e400 ] ,\n\"a\":{ } , \"c\" : [ ] } "),
            R"({"b":[1.50,-0,1e400],"a":{},"c":[]})");
  EXPECT_EQ(CompactOf("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(CompactOf(R"([true,false,null,[[],{}],{"a":[]}])"),
            R"([true,false,null,[[],{}],{"a":[]}])");
}

TEST(JsonDocumentTest, StringsAreDecodedAndEncodedAgain) {
  EXPECT_EQ(CompactOf(R"("\u0041\/\ud83d\ude00\u00e9\n\u0001\"")"), "\"A/😀é\\n\\u0001\\\"\"");
  const auto document = JsonDocument::Parse(R"({"\u0061":"b\tc"})", Limits());
  EXPECT_EQ(document->root().Find("a")->text(), "b\tc");
}

TEST(JsonDocumentTest, ContainersKnowTheirSource) {
  const auto document = JsonDocument::Parse(R"( {"a": [1, "]}" ,{ } ] , "b":"x"} )", Limits());
  const JsonValue root = document->root();
  EXPECT_EQ(root.source(), R"({"a": [1, "]}" ,{ } ] , "b":"x"})");
  EXPECT_EQ(root.Find("a")->source(), R"([1, "]}" ,{ } ])");
  EXPECT_EQ(root.Find("a")->Nth(2)->source(), "{ }");
  EXPECT_EQ(root.Find("a")->text(), "");
  EXPECT_EQ(root.Find("b")->source(), "");
}

TEST(JsonDocumentTest, FindsAndPoints) {
  auto parsed = JsonDocument::Parse(R"({"a/b":[0,{"~":true}],"":1})", Limits());
  ASSERT_TRUE(parsed.ok());
  const JsonDocument document = *std::move(parsed);
  const JsonValue list = *document.root().Find("a/b");
  EXPECT_EQ(list.size(), 2u);
  EXPECT_EQ(list.Nth(1)->Find("~")->Pointer(), "/a~1b/1/~0");
  EXPECT_FALSE(list.Nth(2).has_value());
  EXPECT_FALSE(list.Find("0").has_value());
  EXPECT_EQ(document.root().Find("")->Pointer(), "/");
  EXPECT_EQ(document.root().Pointer(), "");
  EXPECT_EQ(list.Nth(1)->parent()->id(), list.id());
}

struct ErrorCase {
  const char* name;
  std::string text;
  const char* place;
  const char* message;
};

class JsonErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(JsonErrorTest, NamesThePlace) {
  const absl::Status status = JsonDocument::Parse(GetParam().text, Limits()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(ErrorPlace(status), GetParam().place);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Broken, JsonErrorTest,
                         testing::ValuesIn(std::vector<ErrorCase>{
                             {"Empty", "", "1:1", "the text is empty"},
                             {"OnlySpace", " \n ", "2:2", "the text is empty"},
                             {"Truncated", "{\"a\":", "1:6", "the text ends"},
                             {"TruncatedString", "{\n\"ab", "2:4", "ends inside a string"},
                             {"TruncatedEscape", "\"\\u00", "1:2", "four hexadecimal digits"},
                             {"TrailingComma", "{\"a\":1,}", "1:8", "a key in double quotes"},
                             {"TrailingCommaInList", "[1,]", "1:4", "a JSON value is expected"},
                             {"LeadingComma", "[,1]", "1:2", "a JSON value is expected"},
                             {"MissingComma", "[1 2]", "1:4", "',' or ']'"},
                             {"MissingColon", "{\"a\" 1}", "1:6", "':' is expected"},
                             {"WrongBracket", "[1}", "1:3", "',' or ']'"},
                             {"ExtraBracket", "[1]]", "1:4", "nothing may follow"},
                             {"TwoValues", "1 2", "1:3", "nothing may follow"},
                             {"NulBehind", std::string("{}\0{}", 5), "1:3", "nothing may follow"},
                             {"Comment", "{/* c */}", "1:2", "a key in double quotes"},
                             {"SingleQuotes", "{'a':1}", "1:2", "a key in double quotes"},
                             {"Nan", "[NaN]", "1:2", "a JSON value is expected"},
                             {"Word", "[nul]", "1:2", "a JSON value is expected"},
                             {"LeadingZero", "007", "1:1", "no leading zeros"},
                             {"NegativeLeadingZero", "-01", "1:2", "no leading zeros"},
                             {"Hex", "0x10", "1:2", "nothing may follow"},
                             {"Plus", "+1", "1:1", "a JSON value is expected"},
                             {"OnlyMinus", "-", "1:2", "a digit is expected"},
                             {"NoFraction", "1.", "1:3", "after '.'"},
                             {"NoExponent", "1e+", "1:4", "an exponent"},
                             {"ControlCharacter", "\"a\nb\"", "1:3", "control character"},
                             {"BadEscape", R"("\x")", "1:2", "no such escape"},
                             {"BadHex", R"("\u00g0")", "1:2", "four hexadecimal digits"},
                             {"LoneHigh", R"("\ud800")", "1:2", "surrogate"},
                             {"LoneLow", R"("a\udc00")", "1:3", "surrogate"},
                             {"Swapped", R"("\udc00\ud800")", "1:2", "surrogate"},
                             {"HighThenOther", R"("\ud800\u0041")", "1:2", "surrogate"},
                             {"InvalidUtf8", "\"\xFF\"", "1:2", "not valid UTF-8"},
                             {"SurrogateInUtf8", "\"\xED\xA0\x80\"", "1:2", "not valid UTF-8"},
                             {"OverlongUtf8", "\"\xC0\xAF\"", "1:2", "not valid UTF-8"},
                             {"ByteOrderMark", "\xEF\xBB\xBF{}", "1:1", "a JSON value is expected"},
                             {"TwinKey", R"({"x":{"a":1,"b":2,"a":3}})", "/x/a", "occurs twice"},
                             {"TwinKeyByEscape", R"({"a":1,"\u0061":2})", "/a", "occurs twice"},
                         }),
                         [](const auto& test) { return test.param.name; });

// Few members are looked through, many are in a table; in each object stands another before the
// members that are asked for.
TEST(JsonDocumentTest, FindsMembersOfFewAndOfMany) {
  for (int count = 1; count <= 20; ++count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
      absl::StrAppend(&text, i > 0 ? "," : "", "\"k", i, R"(":{"k0":)", i, R"(,"x":[{}]})");
    const auto document = JsonDocument::Parse(text + "}", Limits());
    ASSERT_TRUE(document.ok()) << document.status();
    for (int i = 0; i < count; ++i) {
      const std::optional<JsonValue> member = document->root().Find(absl::StrCat("k", i));
      ASSERT_TRUE(member.has_value()) << i << " of " << count;
      EXPECT_EQ(member->Compact(), absl::StrCat(R"({"k0":)", i, R"(,"x":[{}]})"));
      const absl::Status twin =
          JsonDocument::Parse(absl::StrCat(text, ",\"k", i, "\":0}"), Limits()).status();
      EXPECT_EQ(ErrorPlace(twin), absl::StrCat("/k", i)) << twin;
    }
    EXPECT_FALSE(document->root().Find("x").has_value());
    EXPECT_FALSE(document->root().Find(absl::StrCat("k", count)).has_value());
  }
  const auto list = JsonDocument::Parse("[[],1]", Limits());
  EXPECT_FALSE(list->root().Find("").has_value());
}

TEST(JsonDocumentTest, DepthIsLimited) {
  Limits limits;
  limits.source_depth = 100;
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(JsonDocument::Parse(nested(100), limits).ok());
  const absl::Status status = JsonDocument::Parse(nested(101), limits).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "1:101: limit source_depth is 100, 101 needed");
}

TEST(JsonDocumentTest, MillionLevelsNeedNoStack) {
  Limits limits;
  limits.source_depth = 2'000'000;
  const std::string text = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const auto document = JsonDocument::Parse(text, limits);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->root().Compact(), text);
}

// 2^16 keys that collide under multiplicative hashes of 16 bit pairs: "Aa" and "BB".
TEST(JsonDocumentTest, CollidingKeysAreCheap) {
  std::string text = "{";
  for (int i = 0; i < (1 << 16); ++i) {
    std::string key;
    for (int bit = 0; bit < 16; ++bit) key += (i >> bit) & 1 ? "Aa" : "BB";
    absl::StrAppend(&text, i > 0 ? "," : "", "\"", key, "\":0");
  }
  const auto document = JsonDocument::Parse(text + "}", Limits());
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->root().size(), 1u << 16);
}

}  // namespace
}  // namespace maskd
