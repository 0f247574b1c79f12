// The kind response_format: each shape of the member, and errors at their places in it.
#include "grammar_core/frontend/response_format/response_format.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/read_result.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"

namespace maskd {
namespace {

struct ShapeCase {
  const char* name;
  const char* text;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
  std::vector<std::string> warnings = {};  // their places
};

class ResponseFormatTest : public testing::TestWithParam<ShapeCase> {};

TEST_P(ResponseFormatTest, IsItsGrammar) {
  const auto read = ReadForTest("response_format", GetParam().text);
  ASSERT_TRUE(read.ok()) << read.status();
  IrRecognizer recognizer(read->ir);
  for (const std::string& text : GetParam().accepts) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const std::string& text : GetParam().rejects) EXPECT_FALSE(recognizer.Accepts(text)) << text;
  std::vector<std::string> places;
  for (const Diagnostic& warning : read->warnings) places.push_back(warning.place);
  EXPECT_EQ(places, GetParam().warnings);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ResponseFormatTest,
    testing::ValuesIn(std::vector<ShapeCase>{
        {"Text", R"({"type":"text"})", {"", "any\nthing", "é"}, {"\xff"}},
        {"JsonObject", R"({"type":"json_object"})", {"{}", R"({"a":[1]})"}, {"[]", "1", ""}},
        {"Schema",
         R"({"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}})",
         {R"({"a":1})"},
         {"{}", R"({"a":"1"})", R"({"a":1,"b":2})"}},
        {"NotStrict",
         R"({"type":"json_schema","json_schema":{"name":"n","strict":null,"description":"d","schema":{"const":"x"}}})",
         {R"("x")"},
         {R"("y")"}},
        {"References",
         R"({"type":"json_schema","json_schema":{"name":"n","schema":{"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}}})",
         {"null"},
         {"1"}},
        {"NoSchema", R"({"type":"json_schema","json_schema":{"name":"n"}})", {"1", "{}"}, {"x"}},
        {"SchemaIsNull",
         R"({"type":"json_schema","json_schema":{"name":"n","schema":null}})",
         {"1", "{}"},
         {"x"}},
        {"SyntaxIsNull",
         R"({"type":"grammar","grammar":"root ::= \"a\"","syntax":null})",
         {"a"},
         {"b"}},
        {"Regex", R"({"type":"regex","pattern":"a+"})", {"a", "aa"}, {"", "b"}},
        {"RegexAsAValue", R"({"type":"regex","value":"a+"})", {"a"}, {"b"}},
        {"Grammar",
         R"({"type":"grammar","grammar":"root ::= \"a\" root | \"b\""})",
         {"b", "ab"},
         {"a"}},
        {"GrammarInLark",
         R"({"type":"grammar","syntax":"lark","definition":"start: \"a\"+","x":1})",
         {"a", "aa"},
         {""},
         {"/x"}},
        {"StructuralTag",
         R"({"type":"structural_tag","format":{"type":"const_string","value":"a"}})",
         {"a"},
         {"b"}},
        {"Warnings",
         R"({"type":"json_schema","json_schema":{"nam":"n","schema":{"type":"null","minimun":1}},"x":1})",
         {"null"},
         {"1"},
         {"/json_schema/schema/minimun", "/json_schema/nam", "/x"}},
    }),
    [](const auto& test) { return test.param.name; });

struct ErrorCase {
  const char* name;
  const char* text;
  const char* message;
};

class ResponseFormatErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(ResponseFormatErrorTest, IsAtItsPlace) {
  const absl::Status status = ReadForTest("response_format", GetParam().text).status();
  EXPECT_EQ(status.message(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ResponseFormatErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"NoObject", "[]", "a response format is a JSON object"},
        {"NoType", "{}", "/type: is missing"},
        {"OtherType", R"({"type":"yaml"})",
         R"(/type: must be "text", "json_object", "json_schema", "structural_tag", "regex" or "grammar")"},
        {"NoPattern", R"({"type":"regex"})", "/pattern: is missing"},
        {"TwoPatterns", R"({"type":"regex","regex":"a","pattern":"a"})",
         "/regex: is there twice, by another name"},
        {"ABadPattern", R"({"type":"regex","pattern":"(a"})",
         "/pattern: in the text here: 1:1: the group has no end, expected ')'"},
        {"OtherSyntax", R"({"type":"grammar","grammar":"a","syntax":"peg"})",
         R"(/syntax: must be "gbnf", "ebnf", "lark" or "regex")"},
        {"ABadTag", R"({"type":"structural_tag","format":{}})", "/format/type: is missing"},
        {"NoMember", R"({"type":"json_schema"})", "/json_schema: is missing"},
        {"MemberNoObject", R"({"type":"json_schema","json_schema":[]})",
         "/json_schema: must be an object"},
        {"Strict", R"({"type":"json_schema","json_schema":{"strict":1}})",
         "/json_schema/strict: must be a boolean"},
        {"Name", R"({"type":"json_schema","json_schema":{"name":1}})",
         "/json_schema/name: must be a string"},
        {"SchemaNoObject", R"({"type":"json_schema","json_schema":{"schema":1}})",
         "/json_schema/schema: a schema must be an object or a boolean"},
        {"Keyword", R"({"type":"json_schema","json_schema":{"schema":{"items":{"minimum":"1"}}}})",
         "/json_schema/schema/items/minimum: must be a number"},
        {"Unsatisfiable", R"({"type":"json_schema","json_schema":{"schema":{"enum":[]}}})",
         "/json_schema/schema/enum: must be a list with at least one value"},
    }),
    [](const auto& test) { return test.param.name; });

// A grammar's own places are not those of the request.
TEST(ResponseFormatPlaceTest, WhatAGrammarHoldsStandsAtItsMember) {
  const auto tokens = ReadForTest(
      "response_format", R"({"type":"grammar","grammar":"root ::= \"a\" <think> | <[1]>"})");
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  ASSERT_EQ(tokens->ir.token_specs.size(), 2U);
  for (const TokenSpec& spec : tokens->ir.token_specs) EXPECT_EQ(spec.place, "/grammar");
  const auto arrays = ReadForTest(
      "response_format",
      R"({"type":"grammar","syntax":"lark","grammar":"start: %json {\"uniqueItems\":true}"})");
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  ASSERT_FALSE(arrays->ir.distinct.empty());
  for (const DistinctSpec& array : arrays->ir.distinct) EXPECT_EQ(array.place, "/grammar");
}

TEST(ResponseFormatPlaceTest, ARemarkWithoutAPlaceHasNoneInItsMessage) {
  std::string grammar = "start: \\\"a\\\"";
  for (std::size_t i = 0; i <= kMaxWarnings; ++i)
    absl::StrAppend(&grammar, "\\na", i, "[capture]: \\\"a\\\"");
  const auto read =
      ReadForTest("response_format",
                  absl::StrCat(R"({"type":"grammar","syntax":"lark","grammar":")", grammar, "\"}"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->warnings.size(), kMaxWarnings + 1);
  EXPECT_EQ(read->warnings.front().message,
            "in the text here: 2:4: the attribute capture holds the text to nothing");
  EXPECT_EQ(read->warnings.back().message, "in the text here: more than 1000 of these");
}

}  // namespace
}  // namespace maskd
