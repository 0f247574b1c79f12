// Of sources that hold others: which marker, which part of a pattern, which keyword of a schema
// speaks behind a text, and where in the whole source it stands. By hand.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "reasons/schema_rules.h"
#include "reasons/source_reason.h"

namespace maskd::reasons {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Json = nlohmann::ordered_json;

std::vector<std::string> Said(const std::string& kind, const std::string& source,
                              const std::string& taken) {
  std::vector<std::string> said;
  for (const PlacedRule& rule : Source(kind, source).ReasonBehind(taken).rules)
    said.push_back(absl::StrCat(rule.place, " ", rule.says));
  return said;
}

struct TagCase {
  std::string name;
  std::string kind;
  std::string source;
  std::string taken;
  std::vector<std::string> said;
};

class TagReasonTest : public testing::TestWithParam<TagCase> {};

TEST_P(TagReasonTest, NamesWhatSpeaks) {
  EXPECT_THAT(Said(GetParam().kind, GetParam().source, GetParam().taken),
              testing::ElementsAreArray(GetParam().said));
}

std::string Name(const testing::TestParamInfo<TagCase>& test) { return test.param.name; }

// A tag with a schema, one with a pattern, and free text between them.
constexpr char kTags[] = R"({"type": "structural_tag", "format": {"type": "triggered_tags",
  "triggers": ["<f", "<g"], "tags": [
    {"type": "tag", "begin": "<f=a>", "end": "</f>", "content":
      {"type": "json_schema", "json_schema": {"type": "object", "properties":
        {"n": {"type": "integer", "maximum": 9}, "s": {"enum": ["x", "y"]}}, "required": ["n"],
        "additionalProperties": false}}},
    {"type": "tag", "begin": "<g>", "end": ["</g>", "</G>"], "content":
      {"type": "regex", "pattern": "[a-c]{2}\\d"}}]}})";

constexpr char kFree[] = "/format free text";

INSTANTIATE_TEST_SUITE_P(
    StructuralTag, TagReasonTest,
    testing::ValuesIn(std::vector<TagCase>{
        {"Begin",
         "structural_tag",
         kTags,
         "",
         {kFree, R"(/format/tags/0/begin "<f=a>")", R"(/format/tags/1/begin "<g>")"}},
        {"FreeText",
         "structural_tag",
         kTags,
         "hello",
         {kFree, R"(/format/tags/0/begin "<f=a>")", R"(/format/tags/1/begin "<g>")"}},
        {"ATriggerBegins",
         "structural_tag",
         kTags,
         "hello <",
         {kFree, R"(/format/tags/0/begin "<f=a>")", R"(/format/tags/1/begin "<g>")"}},
        {"BehindATrigger",
         "structural_tag",
         kTags,
         "hello <f",
         {R"(/format/tags/0/begin "<f=a>")"}},
        {"InABegin", "structural_tag", kTags, "<f=", {R"(/format/tags/0/begin "<f=a>")"}},
        {"AValueBegins",
         "structural_tag",
         kTags,
         "<f=a>",
         {"/format/tags/0/content/json_schema/type type: \"object\""}},
        {"AName",
         "structural_tag",
         kTags,
         "<f=a>{",
         {"/format/tags/0/content/json_schema/properties properties: n, s",
          "/format/tags/0/content/json_schema/additionalProperties additionalProperties: false",
          "/format/tags/0/content/json_schema/required required: [\"n\"]"}},
        {"AMember",
         "structural_tag",
         kTags,
         R"(<f=a>{"n": )",
         {"/format/tags/0/content/json_schema/properties/n/type type: \"integer\""}},
        {"ANumber",
         "structural_tag",
         kTags,
         R"(<f=a>{"n": 1)",
         {"/format/tags/0/content/json_schema/properties/n/type type: \"integer\"",
          "/format/tags/0/content/json_schema/properties/n/maximum maximum: 9"}},
        {"AString",
         "structural_tag",
         kTags,
         R"(hello <f=a>{"n": 1, "s": "x)",
         {"/format/tags/0/content/json_schema/properties/s/enum enum: [\"x\",\"y\"]"}},
        {"BehindTheValue",
         "structural_tag",
         kTags,
         R"(<f=a>{"n": 1})",
         {R"(/format/tags/0/end "</f>")"}},
        {"InAnEnd",
         "structural_tag",
         kTags,
         R"(<f=a>{"n": 1}</)",
         {R"(/format/tags/0/end "</f>")"}},
        {"BehindATag",
         "structural_tag",
         kTags,
         R"(<f=a>{"n": 1}</f>)",
         {kFree, R"(/format/tags/0/begin "<f=a>")", R"(/format/tags/1/begin "<g>")"}},
        {"APattern",
         "structural_tag",
         kTags,
         "<g>",
         {"/format/tags/1/content/pattern [a-c], at 1:1 in it"}},
        {"ACount",
         "structural_tag",
         kTags,
         "<g>ab",
         {"/format/tags/1/content/pattern \\d, at 1:9 in it"}},
        {"SeveralEnds",
         "structural_tag",
         kTags,
         "<g>ab1",
         {R"(/format/tags/1/end "</G>")", R"(/format/tags/1/end "</g>")"}},
        {"SecondValue",
         "structural_tag",
         kTags,
         R"(<f=a>{"n": 1}</f> <f=a>{"s": ")",
         {"/format/tags/0/content/json_schema/properties/s/enum enum: [\"x\",\"y\"]"}},
        {"NotOfTheGrammar", "structural_tag", kTags, "<f=b", {}},
        {"ConstString",
         "structural_tag",
         R"({"type": "structural_tag", "format": {"type": "sequence", "elements": [
             {"type": "const_string", "value": "ab"}, {"type": "const_string", "value": "cd"}]}})",
         "abc",
         {R"(/format/elements/1/value "cd")"}},
        {"Or",
         "structural_tag",
         R"({"type": "structural_tag", "format": {"type": "or", "elements": [
             {"type": "const_string", "value": "ab"}, {"type": "const_string", "value": "ac"}]}})",
         "a",
         {R"(/format/elements/0/value "ab")", R"(/format/elements/1/value "ac")"}},
        {"Separator",
         "structural_tag",
         R"({"type": "structural_tag", "format": {"type": "tags_with_separator", "separator": ", ",
             "tags": [{"type": "tag", "begin": "<a>", "end": "</a>", "content":
               {"type": "any_text"}}]}})",
         "<a>x</a>",
         {R"(/format/separator ", ")"}},
        {"FreeTextInATag",
         "structural_tag",
         R"({"type": "structural_tag", "format": {"type": "tag", "begin": "<a>", "end": "</a>",
             "content": {"type": "any_text"}}})",
         "<a>x</",
         {"/format/content free text", R"(/format/end "</a>")"}},
        {"Grammar",
         "structural_tag",
         R"({"type": "structural_tag", "format": {"type": "grammar",
             "grammar": "root ::= \"a\" b\nb ::= \"x\" | [0-9]\n"}})",
         "a",
         {"/format/grammar b: \"x\", at 2:7 in it", "/format/grammar b: [0-9], at 2:13 in it"}},
        {"Repeat",
         "structural_tag",
         R"({"type": "structural_tag", "format": {"type": "sequence", "elements": [{"type": "repeat",
             "min": 2, "max": 2, "content": {"type": "const_string", "value": "a"}},
             {"type": "const_string", "value": "b"}]}})",
         "aa",
         {R"(/format/elements/1/value "b")"}},
        {"OlderForm",
         "structural_tag",
         R"({"structures": [{"begin": "<a>", "schema": {"properties": {"x": {"maxLength": 3}}},
             "end": "</a>"}], "triggers": ["<a"]})",
         R"(t <a>{"x": "abc)",
         {"/structures/0/schema/properties/x/maxLength maxLength: 3"}},
        {"Elements",
         "structural_tag",
         R"({"type": "structural_tag", "format": {"type": "tag", "begin": "<f>", "end": "</f>",
             "content": {"type": "qwen_xml_parameter", "json_schema": {"type": "object",
               "properties": {"city": {"enum": ["Oslo"]}}}}}})",
         "<f><parameter=city>Os",
         // Where an element ends is not followed: the end of the tag is named, too.
         {"/format/content/json_schema/properties/city/enum enum: [\"Oslo\"]",
          R"(/format/end "</f>")"}},
        {"NoTag", "structural_tag", R"({"type": "structural_tag"})", "", {}},
    }),
    Name);

constexpr char kChat[] = R"({"family": "qwen_3", "request": {"tools": [
  {"type": "function", "function": {"name": "zip", "parameters": {"type": "object",
    "properties": {"code": {"type": "string", "maxLength": 5}}}}},
  {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object",
    "properties": {"city": {"enum": ["Oslo", "Bergen"]}, "days": {"type": "integer"}},
    "required": ["city"], "additionalProperties": false}}}]}})";

const std::string kCall = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": ";
const std::string kWeather = "/request/tools/1/function/parameters";

INSTANTIATE_TEST_SUITE_P(
    Chat, TagReasonTest,
    testing::ValuesIn(std::vector<TagCase>{
        {"Arguments", "chat", kChat, kCall, {kWeather + "/type type: \"object\""}},
        {"ArgumentName",
         "chat",
         kChat,
         kCall + "{",
         {kWeather + "/properties properties: city, days",
          kWeather + "/additionalProperties additionalProperties: false",
          kWeather + "/required required: [\"city\"]"}},
        {"ArgumentValue",
         "chat",
         kChat,
         "Well. " + kCall + "{\"city\": \"O",
         {kWeather + "/properties/city/enum enum: [\"Oslo\",\"Bergen\"]"}},
        {"ArgumentNumber",
         "chat",
         kChat,
         kCall + "{\"city\": \"Oslo\", \"days\": 1",
         {kWeather + "/properties/days/type type: \"integer\""}},
        {"TheOtherTool",
         "chat",
         kChat,
         "<tool_call>\n{\"name\": \"zip\", \"arguments\": {\"code\": \"12345",
         {"/request/tools/0/function/parameters/properties/code/maxLength maxLength: 5",
          "/request/tools/0/function/parameters/properties/code/type type: \"string\""}},
        {"ToolName",
         "chat",
         kChat,
         "<tool_call>\n{\"name\": \"g",
         {"/request/tools/1/function/name "
          "\"<tool_call>\\n{\\\"name\\\": \\\"get_weather\\\", \\\"arguments\\\": \""}},
        {"BehindArguments",
         "chat",
         kChat,
         kCall + "{\"city\": \"Oslo\"}",
         {"/request/tools/1/function/name \"}\\n</tool_call>\""}},
        {"SecondCall",
         "chat",
         kChat,
         kCall + "{\"city\": \"Oslo\"}}\n</tool_call>\n" + kCall + "{\"city\": \"B",
         {kWeather + "/properties/city/enum enum: [\"Oslo\",\"Bergen\"]"}},
        {"ResponseFormat",
         "chat",
         R"({"family": "qwen_3", "request": {"response_format": {"type": "json_schema",
             "json_schema": {"name": "a", "schema": {"properties": {"n": {"maximum": 3}}}}}}})",
         "{\"n\": 1",
         {"/request/response_format/json_schema/schema/properties/n/maximum maximum: 3"}},
        {"ResponseFormatBesideTools",
         "chat",
         R"({"family": "qwen_3", "request": {"tools": [{"type": "function", "function": {"name":
             "f", "parameters": {"properties": {"m": {"maximum": 4}}}}}],
             "response_format": {"type": "json_schema",
             "json_schema": {"name": "a", "schema": {"properties": {"n": {"maximum": 3}}}}}}})",
         "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"m\": 1",
         {"/request/tools/0/function/parameters/properties/m/maximum maximum: 4"}},
        {"NoRequest", "chat", R"({"family": "qwen_3"})", "x", {}},
    }),
    Name);

INSTANTIATE_TEST_SUITE_P(
    ResponseFormat, TagReasonTest,
    testing::ValuesIn(std::vector<TagCase>{
        {"Schema",
         "response_format",
         R"({"type": "json_schema", "json_schema": {"schema": {"properties": {"n": {"maximum": 3}}}}})",
         "{\"n\": 1",
         {"/json_schema/schema/properties/n/maximum maximum: 3"}},
        {"JsonObject",
         "response_format",
         R"({"type": "json_object"})",
         "",
         {"/type \"json_object\""}},
        {"Regex",
         "response_format",
         R"({"type": "regex", "pattern": "a\\\\[bc]"})",
         "a\\",
         {"/pattern [bc], at 1:4 in it"}},
        {"RegexByValue",
         "response_format",
         R"({"type": "regex", "value": "ab"})",
         "a",
         {"/value b, at 1:2 in it"}},
        {"Gbnf",
         "response_format",
         R"({"type": "grammar", "grammar": "root ::= \"a\" \"b\"\n"})",
         "a",
         {"/grammar root: \"b\", at 1:14 in it"}},
        {"Lark",
         "response_format",
         R"({"type": "grammar", "syntax": "lark", "definition": "start: \"a\" B\nB: /x/\n"})",
         "a",
         {"/definition B: /x/, at 2:4 in it"}},
        {"GrammarThatIsAPattern",
         "response_format",
         R"({"type": "grammar", "syntax": "regex", "grammar": "ab"})",
         "a",
         {"/grammar b, at 1:2 in it"}},
        {"Tag",
         "response_format",
         R"({"type": "structural_tag", "format": {"type": "const_string", "value": "ab"}})",
         "a",
         {R"(/format/value "ab")"}},
        {"Text", "response_format", R"({"type": "text"})", "a", {}},
    }),
    Name);

TEST(TagReasonTest, ASpanIsThePlaceInTheSource) {
  const Source source("structural_tag", kTags);
  const auto text_at = [&](const std::string& taken) {
    const SourceSpan span = source.ReasonBehind(taken).rules.front().span;
    return source.text().substr(span.begin, span.end - span.begin);
  };
  EXPECT_EQ(text_at("<f="), "\"<f=a>\"");
  EXPECT_EQ(text_at("<g>"), "[a-c]");
  EXPECT_EQ(text_at("<g>ab"), "\\\\d");
  EXPECT_EQ(text_at("<f=a>{\"n\": 1"), "\"integer\"");
  EXPECT_EQ(source.ReasonBehind("<g>").rules.front().span.line, 8);
  EXPECT_EQ(source.ReasonBehind("<f=a>{\"n\": 1").where,
            "in the number or word /n, of the value for /format/tags/0/content/json_schema");
}

TEST(TagReasonTest, WhatMayNotFollowIsLeftOutWhereTheCallerCanSay) {
  const std::string source = R"({"type": "structural_tag", "format": {"type": "tag", "begin": "<f>",
      "end": "</f>", "content": {"type": "qwen_xml_parameter", "json_schema": {"type": "object",
      "properties": {"city": {"enum": ["Oslo"]}}}}}})";
  const std::string whole = "<f><parameter=city>Oslo</parameter></f>";
  const auto viable = [&](absl::string_view text) { return absl::StartsWith(whole, text); };
  std::vector<std::string> places;
  for (const PlacedRule& rule :
       Source("structural_tag", source).ReasonBehind("<f><parameter=city>Os", viable).rules)
    places.push_back(rule.place);
  EXPECT_THAT(places, ElementsAre("/format/content/json_schema/properties/city/enum"));
}

TEST(TagReasonTest, ThousandsOfTagsAreBounded) {
  Json tags = Json::array();
  for (int i = 0; i < 2000; ++i)
    tags.push_back({{"type", "tag"},
                    {"begin", absl::StrCat("<f=", i, ">")},
                    {"content", {{"type", "json_schema"}, {"json_schema", true}}},
                    {"end", "</f>"}});
  const Json source = {
      {"type", "structural_tag"},
      {"format", {{"type", "triggered_tags"}, {"triggers", {"<f"}}, {"tags", tags}}}};
  const Reason reason = Source("structural_tag", source.dump()).ReasonBehind("<f=1");
  EXPECT_EQ(reason.rules.size(), kMostRules);
  EXPECT_EQ(reason.left_out, 1111 - kMostRules);
}

TEST(TagReasonTest, LongJsonIsPassedInOneStep) {
  const std::string value = "{\"n\": 1, \"s\": \"x\", \"t\": \"" + std::string(1 << 20, 'a');
  EXPECT_THAT(Said("structural_tag", kTags, "<f=a>" + value), Contains(HasSubstr("/json_schema")));
}

// Each question walks the text once more.
TEST(TagReason, OfALongTextFewQuestionsAreAsked) {
  const std::string source = R"({"type": "structural_tag", "format": {"type": "sequence",
    "elements": [{"type": "json_schema", "json_schema": {"type": "string"}},
                 {"type": "regex", "pattern": "(?!ab)[a-c]{2}"}]}})";
  const auto questions = [&](std::size_t size) {
    std::size_t asked = 0;
    const auto viable = [&](absl::string_view) {
      ++asked;
      return true;
    };
    const std::string taken = absl::StrCat("\"", std::string(size, 'x'), "\"");
    EXPECT_FALSE(Source("structural_tag", source).ReasonBehind(taken, viable).rules.empty());
    return asked;
  };
  EXPECT_GE(questions(10), 2U);
  EXPECT_EQ(questions(600'000), 1U);
}

}  // namespace
}  // namespace maskd::reasons
