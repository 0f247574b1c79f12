// Which texts a schema's grammar takes, by the slow recogniser.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/texts_case.h"

namespace maskd {
namespace {

GrammarOptions Compact() {
  GrammarOptions options;
  options.white_space = WhiteSpace::kCompact;
  return options;
}

GrammarOptions Closed() {
  GrammarOptions options;
  options.additional_properties = false;
  return options;
}

GrammarOptions Relaxed() {
  GrammarOptions options;
  options.strictness = Strictness::kRelax;
  return options;
}

GrammarOptions FewSpaces() {
  GrammarOptions options;
  options.max_whitespace = 2;
  return options;
}

GrammarOptions FewDigits() {
  GrammarOptions options;
  options.max_number_digits = 3;
  return options;
}

class JsonSchemaTextsTest : public testing::TestWithParam<TextsCase> {};

TEST_P(JsonSchemaTextsTest, TakesExactlyThese) { ExpectTexts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Types, JsonSchemaTextsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Any",
         "true",
         {"null", "true", "0", "-1.5e+3", "\"\"", "[]", "{}", R"({"a":[1,{"b":null}]})"},
         {"", "nul", "01", "+1", "1.", ".5", "[1,]", "{\"a\"}", "'a'", "NaN", " 1", "1 "}},
        {"EmptySchema", "{}", {"null", "[[]]"}, {"", "x"}},
        {"Null", R"({"type":"null"})", {"null"}, {"0", "\"null\""}},
        {"Boolean", R"({"type":"boolean"})", {"true", "false"}, {"1", "null"}},
        {"Integer",
         R"({"type":"integer"})",
         {"0", "-0", "12", "-9007199254740993", "1.0", "1e2"},
         {"1.5", "01", "-", "--1"}},
        {"Number",
         R"({"type":"number"})",
         {"0", "-0.0", "1.50", "2E-10", "1e0007"},
         {"1.", "e1", "1e", "1e00007", "Infinity"}},
        {"NumberDigitsAreBounded",
         R"({"type":"number"})",
         {"123", "-123.456e7"},
         {"1234", "1.2345"},
         FewDigits()},
        {"String",
         R"({"type":"string"})",
         {"\"\"", "\"a\\u0000\"", "\"\x7F\""},
         {"\"\x01\"", "\"", "a", "\"\\ud800\""}},
        {"TypeList", R"({"type":["string","null"]})", {"null", "\"a\""}, {"1", "{}"}},
        {"IntegerAndNumberIsNumber", R"({"type":["integer","number"]})", {"1.5", "1"}, {"null"}},
        {"Lengths",
         R"({"type":"string","minLength":2,"maxLength":3})",
         {"\"ab\"", "\"abc\"", "\"😀é\"", R"("\ud83d\ude00\n")"},
         {"\"a\"", "\"😀\"", "\"abcd\"", R"("\ud83d\ude00")"}},
        {"LengthsWithoutType", R"({"minLength":2})", {"\"ab\"", "1", "[]", "{}"}, {"\"a\""}},
        {"LengthAsDecimal",
         R"({"type":"string","minLength":1.0,"maxLength":2e0})",
         {"\"a\"", "\"ab\""},
         {"\"\"", "\"abc\""}},
        {"HugeMaximumIsNone",
         R"({"type":"string","maxLength":99999999999999999999})",
         {"\"abc\""},
         {"1"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Literals, JsonSchemaTextsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"EnumMixed",
         R"({"enum":["a",1,null,true,[1,2],{"x":1}]})",
         {"\"a\"", R"("\u0061")", "1", "null", "true", "[1,2]", "[ 1 , 2 ]", R"({ "x" : 1 })"},
         {"\"b\"", "2", "false", "[2,1]", "[1]", "{}", R"({"x":2})"}},
        {"ConstString",
         R"({"const":"x\" | [a-z]* | \""})",
         {R"("x\" | [a-z]* | \"")"},
         {"\"x\"", "abc"}},
        {"ConstTrueIsNotOne", R"({"const":true})", {"true"}, {"1"}},
        {"ConstNumber", R"({"const":1.50})", {"1.50", "1.5", "15e-1"}, {"1.501", "1"}},
        {"ConstObjectKeepsOrder",
         R"({"const":{"b":1,"a":[]}})",
         {R"({"b":1,"a":[]})"},
         {R"({"a":[],"b":1})", R"({"b":1})"}},
        {"ConstObjectAnyOrder",
         R"({"const":{"b":1,"a":[]}})",
         {R"({"b":1,"a":[]})", R"({"a":[],"b":1})"},
         {R"({"b":1})", R"({"a":[],"b":1,"c":1})"},
         AnyOrder()},
        {"EnumUnderType", R"({"type":"string","enum":["a",1,null]})", {"\"a\""}, {"1", "null"}},
        {"EnumUnderIntegers",
         R"({"type":"integer","enum":[1.0,1.5,2]})",
         {"1", "1.0", "2"},
         {"1.5"}},
        {"EnumUnderLength", R"({"enum":["a","bb",7],"minLength":2})", {"\"bb\"", "7"}, {"\"a\""}},
        {"EnumAndConst", R"({"const":2,"enum":[1,2.0]})", {"2"}, {"1"}},
        {"EnumsOfAllOf",
         R"({"allOf":[{"enum":[1,2,"x"]},{"enum":[2.0,"x",3]}]})",
         {"2", "\"x\""},
         {"1", "3"}},
        {"EnumUnderAnyOf",
         R"({"enum":[1,"a","bbb"],"anyOf":[{"type":"integer"},{"minLength":2}]})",
         {"1", "\"bbb\""},
         {"\"a\""}},
        {"EnumObjectsUnderProperties",
         R"({"enum":[{"a":1},{"a":"x"},{}],"properties":{"a":{"type":"integer"}},"required":["a"]})",
         {R"({"a":1})"},
         {R"({"a":"x"})", "{}"}},
        {"EnumArraysUnderItems",
         R"({"enum":[[1],[1,"x"],["x",2]],"prefixItems":[{"type":"integer"}],"items":false})",
         {"[1]"},
         {"[1,\"x\"]", "[\"x\",2]"}},
        {"BigNumbers",
         R"({"enum":[1e400,123456789012345678901234567890]})",
         {"1e400", "123456789012345678901234567890"},
         {"1", "1e4"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Arrays, JsonSchemaTextsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Items",
         R"({"type":"array","items":{"type":"integer"}})",
         {"[]", "[1]", "[ 1 ,\n2 ]"},
         {"[1,]", "[,1]", "[\"a\"]", "[1 2]"}},
        {"ItemCount",
         R"({"type":"array","items":{"type":"null"},"minItems":2,"maxItems":3})",
         {"[null,null]", "[null,null,null]"},
         {"[]", "[null]", "[null,null,null,null]"}},
        {"NoItems", R"({"type":"array","maxItems":0})", {"[]", "[ ]"}, {"[1]"}},
        {"MinItemsOnly", R"({"type":"array","minItems":1})", {"[1]", "[1,\"a\",{}]"}, {"[]"}},
        {"Prefix",
         R"({"type":"array","prefixItems":[{"const":1},{"const":2}]})",
         {"[]", "[1]", "[1,2]", "[1,2,\"more\"]"},
         {"[2]", "[1,1]"}},
        {"ClosedPrefix",
         R"({"type":"array","prefixItems":[{"const":1},{"const":2}],"items":false,"minItems":1})",
         {"[1]", "[1,2]"},
         {"[]", "[1,2,3]", "[2]"}},
        {"PrefixThenItems",
         R"({"type":"array","prefixItems":[{"const":1}],"items":{"const":2},"minItems":2,"maxItems":3})",
         {"[1,2]", "[1,2,2]"},
         {"[1]", "[1,1]", "[1,2,2,2]"}},
        {"PrefixCutByMaximum",
         R"({"type":"array","prefixItems":[{"const":1},{"const":2},{"const":3}],"maxItems":2})",
         {"[]", "[1,2]"},
         {"[1,2,3]"}},
        {"FalseInPrefix",
         R"({"type":"array","prefixItems":[{"const":1},false]})",
         {"[]", "[1]"},
         {"[1,1]"}},
        {"FalseItems", R"({"type":"array","items":false})", {"[]"}, {"[1]"}},
        {"ListInItems",
         R"({"type":"array","items":[{"const":1}],"additionalItems":{"const":2}})",
         {"[]", "[1,2,2]"},
         {"[2]", "[1,1]"}},
        {"AdditionalItemsAlone",
         R"({"$schema":"http://json-schema.org/draft-07/schema#","items":{"const":1},"additionalItems":false})",
         {"[1,1]"},
         {"[2]"}},
        {"ItemsOfAllOf",
         R"({"type":"array","allOf":[{"items":{"enum":[1,2]}},{"prefixItems":[{"enum":[2,3]}]}]})",
         {"[]", "[2]", "[2,1]"},
         {"[1]", "[3]", "[2,3]"}},
        {"CompactHasNoSpace",
         R"({"type":"array","items":{"type":"integer"}})",
         {"[1,2]"},
         {"[1, 2]", "[ ]"},
         Compact()},
        {"SpaceIsBounded",
         R"({"type":"array"})",
         {"[  ]", "[ 1\t\n,\r 2 ]"},
         {"[   ]", "[1,   2]"},
         FewSpaces()},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Objects, JsonSchemaTextsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Declared",
         R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"null"}},"required":["b"]})",
         {R"({"a":1,"b":null})", R"({"b":null})", R"({"b":null,"x":[1]})"},
         {R"({"a":1})", R"({"b":null,"a":1})", R"({"a":"x","b":null})", R"({"b":null,"b":null})"}},
        {"AnyOrder",
         R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"null"}},"required":["b"]})",
         {R"({"b":null,"a":1})", R"({"x":1,"b":null})"},
         {R"({"a":1})", R"({"b":null,"b":null})", R"({"b":null,"a":"x"})"},
         AnyOrder()},
        {"ClosedObject",
         R"({"type":"object","properties":{"a":{}},"additionalProperties":false})",
         {"{}", R"({"a":[]})"},
         {R"({"b":1})", R"({"a":1,"b":1})"}},
        {"AdditionalSchema",
         R"({"type":"object","properties":{"a":{}},"additionalProperties":{"type":"integer"}})",
         {R"({"a":"x","b":1,"c":2})"},
         {R"({"b":"x"})"}},
        {"RequiredUndeclared",
         R"({"type":"object","required":["z"],"additionalProperties":{"type":"integer"}})",
         {R"({"z":1})", R"({"z":1,"y":2})"},
         {"{}", R"({"y":2})", R"({"z":"x"})"}},
        {"FalseProperty",
         R"({"type":"object","properties":{"a":false}})",
         {"{}", R"({"b":1})"},
         {R"({"a":1})", R"({"\u0061":1})"}},
        {"EscapedName",
         R"({"type":"object","properties":{"a\"b":{"type":"null"}},"required":["a\"b"]})",
         {R"({"a\"b":null})", R"({"a\u0022b":null})"},
         {R"({"a":null})"}},
        {"EmptyName",
         R"({"type":"object","properties":{"":{"type":"null"}},"required":[""],"additionalProperties":false})",
         {R"({"":null})"},
         {"{}"}},
        {"WithoutType",
         R"({"properties":{"a":{"type":"integer"}}})",
         {"1", "[]", "\"a\"", R"({"a":1})"},
         {R"({"a":"x"})"}},
        {"ClosedByOption",
         R"({"type":"object","properties":{"a":{"type":"object"}}})",
         {"{}", R"({"a":{}})"},
         {R"({"b":1})", R"({"a":{"x":1}})"},
         Closed()},
        {"OptionLeavesAnyValueOpen",
         R"({"type":"object","properties":{"a":{}}})",
         {R"({"a":{"x":1}})"},
         {R"({"b":1})"},
         Closed()},
        {"OptionYieldsToTheSchema",
         R"({"type":"object","additionalProperties":true})",
         {R"({"b":1})"},
         {"1"},
         Closed()},
        {"PropertiesOfAllOf",
         R"({"type":"object","properties":{"a":{"type":"integer"}},"allOf":[{"properties":{"a":{"enum":[1,"x"]},"b":{}},"required":["b"]}]})",
         {R"({"a":1,"b":0})", R"({"b":0})"},
         {R"({"a":2,"b":0})", R"({"a":"x","b":0})", R"({"a":1})"}},
        {"ClosedAllOfKnowsOnlyItsOwn",
         R"({"type":"object","properties":{"a":{}},"allOf":[{"properties":{"b":{}},"additionalProperties":false}]})",
         {"{}", R"({"b":1})"},
         {R"({"a":1})", R"({"c":1})"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Combined, JsonSchemaTextsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"AnyOf",
         R"({"anyOf":[{"type":"integer"},{"type":"string","maxLength":1}]})",
         {"1", "\"a\""},
         {"\"ab\"", "null"}},
        {"AnyOfWithSiblings",
         R"({"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]})",
         {R"({"a":1})", R"({"b":1})", R"({"a":1,"b":1})"},
         {"{}", R"({"c":1})", "1"}},
        {"AnyOfUnderType",
         R"({"type":"string","anyOf":[{"minLength":2},{"type":"integer"}]})",
         {"\"ab\""},
         {"\"a\"", "1"}},
        {"TwoAnyOfs",
         R"({"allOf":[{"anyOf":[{"const":1},{"const":2}]},{"anyOf":[{"const":2},{"const":3}]}]})",
         {"2"},
         {"1", "3"}},
        {"DeadBranch",
         R"({"anyOf":[{"type":"string","minLength":2,"maxLength":1},{"type":"integer"}]})",
         {"12"},
         {"\"a\""}},
        {"AllOf",
         R"({"allOf":[{"type":["string","null"]},{"minLength":2},{"maxLength":2}]})",
         {"null", "\"ab\""},
         {"\"a\"", "\"abc\"", "1"}},
        {"OneOfOne", R"({"oneOf":[{"type":"null"}]})", {"null"}, {"1"}},
        {"Ref", R"({"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}})", {"null"}, {"1"}},
        {"RefWithSiblings",
         R"({"$ref":"#/$defs/a","maxLength":2,"$defs":{"a":{"type":"string","minLength":2}}})",
         {"\"ab\""},
         {"\"a\"", "\"abc\""}},
        {"RefAloneInOldDrafts",
         R"({"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/s","maxLength":1}},"definitions":{"s":{"type":"string"}}})",
         {R"({"a":"abc"})"},
         {R"({"a":1})"}},
        {"RefEscapes",
         R"({"$ref":"#/$defs/a~1b~0c%25","$defs":{"a/b~c%":{"type":"null"}}})",
         {"null"},
         {"1"}},
        {"RefIntoList",
         R"({"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#/anyOf/0"}}]})",
         {"null", "[null]"},
         {"[1]"}},
        {"RefByOwnId",
         R"({"$id":"http://x.example/s.json","$ref":"http://x.example/s.json#/$defs/a","$defs":{"a":{"type":"null"}}})",
         {"null"},
         {"1"}},
        {"RefThroughUnknownKeyword",
         R"({"$ref":"#/components/a","components":{"a":{"type":"null"}}})",
         {"null"},
         {"1"}},
        {"Recursive",
         R"({"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#"}},"additionalProperties":false})",
         {"{}", R"({"v":1,"next":{"next":{"v":2}}})"},
         {R"({"next":1})", R"({"next":{"x":1}})"}},
        {"RecursiveThroughAllOf",
         R"({"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"c":{"allOf":[{"$ref":"#/$defs/t"},{"required":["n"]}]},"n":{}},"additionalProperties":false}}})",
         {"{}", R"({"c":{"n":1}})", R"({"c":{"c":{"n":1},"n":1}})"},
         {R"({"c":{}})"}},
        {"Tree",
         R"({"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#"}}]})",
         {"1", "[]", "[1,[2,[3]],[]]"},
         {"[null]", "{}"}},
        {"RequiredEndlessMemberIsPruned",
         R"({"type":"object","properties":{"a":{"type":"object","properties":{"a":{"$ref":"#/properties/a"}},"required":["a"]}}})",
         {"{}", R"({"b":1})"},
         {R"({"a":{}})"}},
        {"ANotBesideAnIfThatEvaluates",
         R"({"unevaluatedProperties":false,"if":{"properties":{"b":true}},"not":{"properties":{"b":{"const":0}},"required":["b"]}})",
         {"{}", R"({"b":1})"},
         {R"({"b":0})", R"({"a":1})", "3"}},
        {"AThenBesideAnElseThatEvaluates",
         R"({"if":{"properties":{"c":{"minimum":1}}},"then":{"properties":{"b":{"enum":[0]}}},"else":{"unevaluatedProperties":{"const":0},"anyOf":[{"unevaluatedProperties":{}},{}]},"dependentSchemas":{"c":{"unevaluatedProperties":{}}}})",
         {R"({"c":1,"b":0})", R"({"c":0,"b":"a"})"},
         {R"({"c":1,"b":"a"})", R"({"b":"a"})"}},
        {"IgnorableKeywords",
         R"({"type":"array","uniqueItems":false,"not":false,"minProperties":0,"then":{"type":"null"},"unevaluatedItems":true})",
         {"[1,1]"},
         {"1"}},
        {"OtherTypesKeyword",
         R"({"type":"integer","pattern":"^a","minProperties":3,"uniqueItems":true})",
         {"1"},
         {"\"a\""}},
        {"RelaxedDrops",
         R"({"type":"string","pattern":"(a)\\1","maxLength":2})",
         {"\"b\""},
         {"\"bbb\""},
         Relaxed()},
        {"Draft4IntegerInAnEnum",
         R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","enum":[30,4,"x"]})",
         {"30", "4"},
         {"30.0", "3E01", "5", "\"x\""}},
        {"Draft4Id",
         R"({"$schema":"http://json-schema.org/draft-04/schema#","id":"x","type":"integer","minimum":1,"const":5})",
         {"3"},
         {"\"a\""},
         Relaxed()},
    }),
    TextsCaseName);

GrammarOptions Separated(const char* item, const char* key) {
  GrammarOptions options;
  if (item != nullptr) options.item_separator = item;
  if (key != nullptr) options.key_separator = key;
  options.white_space = WhiteSpace::kCompact;
  return options;
}

class JsonSchemaSeparatorsTest : public testing::TestWithParam<TextsCase> {};

TEST_P(JsonSchemaSeparatorsTest, StandExactlySo) { ExpectTexts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Texts, JsonSchemaSeparatorsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Both",
         R"({"type":"object"})",
         {"{}", R"({"a": [1, {}], "b": {"c": 1, "d": []}})"},
         {R"({"a":1})", R"({"a": [1,2]})", R"({ "a": 1})", R"({"a" : 1})", R"({"a": 1 })",
          R"({"a": [1 , 2]})", R"({"a":  1})"},
         Separated(", ", ": ")},
        {"Items",
         R"({"type":"object","properties":{"a":{},"b":{}}})",
         {"{\"a\":1,\n\"b\":[1,\n2]}"},
         {R"({"a":1,"b":2})", "{\"a\": 1,\n\"b\":1}"},
         Separated(",\n", nullptr)},
        {"None",
         R"({"items":{"type":"array"}})",
         {"[[],[1,2]]"},
         {"[[], []]"},
         Separated(",", ":")},
        {"Literals",
         R"({"enum":[{"a":[1,2],"b":null}]})",
         {R"({"a": [1, 2], "b": null})"},
         {R"({"a":[1,2],"b":null})"},
         Separated(", ", ": ")},
        {"Counted",
         R"({"type":"array","contains":{"const":1},"minContains":2})",
         {"[1, 0, 1]"},
         {"[1,1]", "[1, 1 ]"},
         Separated(", ", nullptr)},
        {"Distinct",
         R"({"type":"array","uniqueItems":true,"items":{"type":["string","null"]}})",
         {R"(["a", null, "b"])"},
         {R"(["a",null])", R"(["a", "a"])"},
         Separated(", ", ": ")},
    }),
    TextsCaseName);

TEST(JsonSchemaSeparatorTest, AreASignAndWhiteSpace) {
  for (const char* wrong : {"", ";", " ,", ", x", ",,", ": "}) {
    const auto read = ReadForTest("json_schema", "true", Separated(wrong, nullptr));
    EXPECT_EQ(read.status().message(),
              "options.item_separator: must be ',' and white space behind it");
  }
  const auto read = ReadForTest("json_schema", "true", Separated(nullptr, ", "));
  EXPECT_EQ(read.status().message(),
            "options.key_separator: must be ':' and white space behind it");
}

GrammarOptions Indented(int spaces, const char* item = nullptr, const char* key = nullptr) {
  GrammarOptions options;
  options.indent = spaces;
  if (item != nullptr) options.item_separator = item;
  if (key != nullptr) options.key_separator = key;
  return options;
}

GrammarOptions IndentedAnyOrder(int spaces) {
  GrammarOptions options = Indented(spaces);
  options.property_order = PropertyOrder::kAny;
  return options;
}

class JsonSchemaIndentTest : public testing::TestWithParam<TextsCase> {};

TEST_P(JsonSchemaIndentTest, IsExact) { ExpectTexts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Texts, JsonSchemaIndentTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Any",
         "true",
         {"1", "[]", "{}", "[\n  1,\n  [],\n  [\n    {}\n  ]\n]",
          "{\n  \"a\": {\n    \"b\": [\n      null\n    ]\n  },\n  \"c\": {}\n}"},
         {"[1]", "[\n]", "[ ]", "{\n}", "[\n  1\n ]", "[\n 1\n]", "[\n   1\n]", "[\n  1 \n]",
          "[\n  1, \n  2\n]", "[\n  1,\n2\n]", "[\r\n  1\n]", "[\n\t1\n]", "[\n  []\n  ]",
          "[\n  [\n  1\n  ]\n]", "{\n  \"a\" : 1\n}", "{\n  \"a\":1\n}", "{\"a\": 1}", "1\n"},
         Indented(2)},
        {"Zero",
         R"({"type":["array","null"],"items":{"$ref":"#"}})",
         {"[\n[\nnull\n],\n[]\n]", "null"},
         {"[[null]]", "[\n null\n]", "[\nnull]"},
         Indented(0)},
        {"Separators",
         R"({"type":"object"})",
         {"{\n \"a\":[\n  1, \n  2\n ], \n \"b\":0\n}"},
         {"{\n \"a\": 1\n}", "{\n \"a\":1,\n \"b\":0\n}"},
         Indented(1, ", ", ":")},
        {"Literals",
         R"({"enum":[{"a":[1,{}],"b":[]},[]]})",
         {"{\n    \"a\": [\n        1,\n        {}\n    ],\n    \"b\": []\n}", "[]"},
         {R"({"a":[1,{}],"b":[]})", "[\n]"},
         Indented(4)},
        {"LiteralsInAnyOrder",
         R"({"items":{"const":{"a":1,"b":2}},"type":"array"})",
         {"[\n {\n  \"b\": 2,\n  \"a\": 1\n }\n]"},
         {"[\n {\n \"b\": 2,\n \"a\": 1\n }\n]"},
         IndentedAnyOrder(1)},
        {"Counted",
         R"({"type":"array","contains":{"const":1},"minContains":2})",
         {"[\n 1,\n 0,\n 1\n]"},
         {"[]", "[\n 1\n]", "[1,1]"},
         Indented(1)},
        {"CountedOrNone",
         R"({"type":"array","contains":{"const":1},"minContains":0,"maxContains":1})",
         {"[]", "[\n 1\n]", "[\n 0\n]"},
         {"[\n]", "[\n 1,\n 1\n]"},
         Indented(1)},
        {"Tuple",
         R"({"type":"array","prefixItems":[{"type":"null"},{"type":"array"}],"items":false})",
         {"[]", "[\n null\n]", "[\n null,\n [\n  1\n ]\n]"},
         {"[\n null,\n [\n 1\n ]\n]", "[\n null,\n [],\n 1\n]"},
         Indented(1)},
        {"NoItems", R"({"type":"array","maxItems":0})", {"[]"}, {"[\n]"}, Indented(1)},
        {"NoMembers", R"({"type":"object","maxProperties":0})", {"{}"}, {"{\n}"}, Indented(1)},
        {"Distinct",
         R"({"type":"array","uniqueItems":true,"minItems":1,"items":{"type":["string","null"]}})",
         {"[\n \"a\",\n null\n]"},
         {"[]", "[\n \"a\",\n \"a\"\n]", R"(["a"])"},
         Indented(1)},
        {"DistinctValues",
         R"({"type":"array","uniqueItems":true,"items":{"type":["array","object"]}})",
         {"[\n [\n  1\n ],\n [],\n {\n  \"a\": [\n   1\n  ]\n }\n]"},
         {"[\n [],\n []\n]", "[\n [\n  1\n ],\n [\n  1\n ]\n]"},
         Indented(1)},
    }),
    TextsCaseName);

TEST(JsonSchemaIndentTest, HasItsBoundsAndNoCompactWhiteSpace) {
  for (const int wrong : {-1, 17}) {
    const auto read = ReadForTest("json", "", Indented(wrong));
    EXPECT_EQ(read.status().message(),
              absl::StrCat("options.indent: ", wrong, " is not in [0, 16]"));
  }
  GrammarOptions both = Indented(2);
  both.white_space = WhiteSpace::kCompact;
  EXPECT_EQ(ReadForTest("json", "", both).status().message(),
            "options.indent: compact white space leaves no room for it");
}

TEST(JsonKindsTest, AnyJson) {
  const auto read = ReadForTest("json", "");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->ir.rules.size(), 1u);
  EXPECT_TRUE(IrRecognizer(read->ir).Accepts(R"([1,{"a":"b"}])"));
}

TEST(JsonKindsTest, AnyJsonObjectWhateverTheDefault) {
  const auto read = ReadForTest("json_object", "", Closed());
  ASSERT_TRUE(read.ok());
  IrRecognizer recognizer(read->ir);
  EXPECT_TRUE(recognizer.Accepts(R"({"a":{"b":1}})"));
  EXPECT_FALSE(recognizer.Accepts("[]"));
}

}  // namespace
}  // namespace maskd
