// Keywords that apply schemas to the same value, to members and to items, beside one another: by
// the slow recogniser. What each does alone is in the JSON-Schema-Test-Suite.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/texts_case.h"

namespace maskd {
namespace {

class JsonSchemaApplicatorsTest : public testing::TestWithParam<TextsCase> {};

TEST_P(JsonSchemaApplicatorsTest, TakesItsTexts) { ExpectTexts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Not, JsonSchemaApplicatorsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Type", R"({"not":{"type":["string","object"]}})", {"1", "[]", "null"}, {"\"a\"", "{}"}},
        {"NotNot", R"({"not":{"not":{"type":"null"}}})", {"null"}, {"1"}},
        {"Strings",
         R"({"type":"string","not":{"enum":["a","é"]}})",
         {"\"b\"", "\"\"", "\"aa\""},
         {"\"a\"", "\"\\u0061\"", "\"\\u00e9\""}},
        {"Pattern",
         R"({"type":"string","not":{"pattern":"^x","maxLength":3}})",
         {"\"ab\"", "\"xabc\""},
         {"\"xa\"", "\"x\""}},
        {"Booleans", R"({"type":"boolean","not":{"const":true}})", {"false"}, {"true"}},
        {"ListedObject",
         R"({"type":"object","not":{"const":{"a":"x","b":null}},"additionalProperties":{"type":["string","null"]}})",
         {"{}", R"({"a":"x"})", R"({"a":"y","b":null})", R"({"a":"x","b":null,"c":null})"},
         {R"({"a":"x","b":null})"}},
        {"ListedArray",
         R"({"type":"array","items":{"type":"boolean"},"not":{"const":[true,false]}})",
         {"[]", "[true]", "[true,true]", "[true,false,true]"},
         {"[true,false]"}},
        {"Required",
         R"({"type":"object","not":{"required":["a","b"]}})",
         {"{}", R"({"a":1})", R"({"b":1,"c":1})"},
         {R"({"a":1,"b":1})"}},
        {"MemberValue",
         R"({"type":"object","properties":{"a":{"type":"string"}},"not":{"properties":{"a":{"const":"x"}}}})",
         {R"({"a":"y"})"},
         {"{}", R"({"a":"x"})"}},
        {"Closed",
         R"({"type":"object","not":{"properties":{"a":{}},"additionalProperties":false}})",
         {R"({"b":1})", R"({"a":1,"b":1})"},
         {"{}", R"({"a":1})"}},
        {"PatternProperties",
         R"({"type":"object","not":{"patternProperties":{"^x":{"type":"null"}}}})",
         {R"({"x":"a"})", R"({"xa":null,"xb":"a"})"},
         {"{}", R"({"x":null})", R"({"a":"a"})"}},
        {"PropertyNames",
         R"({"type":"object","properties":{"ab":{}},"not":{"propertyNames":{"maxLength":1}}})",
         {R"({"ab":1})", R"({"a":1,"xyz":1})"},
         {"{}", R"({"a":1})"}},
        {"SomeItem",
         R"({"type":"array","not":{"items":{"type":"null"}}})",
         {"[true]", "[null,true]", "[true,null]"},
         {"[]", "[null]", "[null,null]"}},
        {"NoItem", R"({"not":{"contains":{"type":"null"}}})", {"[true]", "[]"}, {"[null]", "1"}},
        {"AnyOf",
         R"({"not":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"null"}}]}})",
         {"1", "[true]"},
         {"\"a\"", "[]", "[null]"}},
        {"AllOf",
         R"({"type":"string","not":{"allOf":[{"minLength":2},{"pattern":"a"}]}})",
         {"\"a\"", "\"bb\""},
         {"\"ab\""}},
        {"OneItemOfAPrefix",
         R"({"type":"array","not":{"prefixItems":[true,{"type":"null"},true]}})",
         {"[1,2]", "[null,2,null]"},
         {"[]", "[1]", "[1,null]", "[1,null,2]"}},
        {"EqualItemsNeedTwo",
         R"({"anyOf":[{"type":"null"},{"type":"array","maxItems":1,"not":{"uniqueItems":true}}]})",
         {"null"},
         {"[]", "[1]"}},
        {"Listed",
         R"({"enum":[null,true,"a",1,[1],{"a":1}],"not":{"enum":[null,"a",1.0,[1.0],{"a":1e0}]}})",
         {"true"},
         {"null", "\"a\"", "1", "[1]", R"({"a":1})"}},
        {"ListedByOneBound",
         R"({"enum":["a","abcd"],"allOf":[{"not":{"minLength":2}},{"oneOf":[{"maxLength":1},false]}]})",
         {"\"a\""},
         {"\"abcd\""}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Numbers, JsonSchemaApplicatorsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"NotMinimum",
         R"({"type":"number","not":{"minimum":5}})",
         {"4", "4.99", "-6", "0.49e1"},
         {"5", "5.0", "0.5e1", "6"}},
        {"NotMinimumOfOtherTypes", R"({"not":{"minimum":5}})", {"4"}, {"5", "\"a\"", "null"}},
        {"NotExclusiveMaximum",
         R"({"type":"number","not":{"exclusiveMaximum":1.5}})",
         {"1.5", "15e-1", "2"},
         {"1.4", "0"}},
        {"NotExclusiveMinimumOfDraft4",
         R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"number","not":{"minimum":3,"exclusiveMinimum":true}})",
         {"3", "2.5"},
         {"3.5", "4"}},
        {"NotAnInterval",
         R"({"type":"number","not":{"minimum":0,"maximum":10}})",
         {"-0.5", "10.5", "1e2"},
         {"0", "5", "10", "1e1"}},
        {"NotMultipleOf",
         R"({"type":"integer","not":{"multipleOf":3}})",
         {"1", "2", "-4", "10.0"},
         {"0", "3", "-6", "0.3e1", "1.5"}},
        {"NotInteger",
         R"({"type":"number","not":{"type":"integer"}})",
         {"1.5"},
         {"1", "1.0", "15e1"}},
        {"NotANumber",
         R"({"type":"number","not":{"enum":[1,2.5]}})",
         {"1.5", "10"},
         {"1", "1.0", "10e-1", "2.50"}},
        {"OneOfOverlappingIntervals",
         R"({"oneOf":[{"type":"number","maximum":3},{"type":"number","minimum":2}]})",
         {"1.9", "3.1"},
         {"2", "2.5", "3"}},
        {"OneOfDivisors",
         R"({"type":"integer","oneOf":[{"multipleOf":2},{"multipleOf":3}]})",
         {"2", "3", "-9"},
         {"0", "6", "1"}},
        {"If",
         R"({"type":"number","if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":1}})",
         {"20", "1", "-7"},
         {"15", "5"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Choices, JsonSchemaApplicatorsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"OneOfOverlapping",
         R"({"oneOf":[{"type":"string","maxLength":3},{"type":"string","minLength":2}]})",
         {"\"a\"", "\"abcd\""},
         {"\"ab\"", "\"abc\"", "1"}},
        {"OneOfByConst",
         R"({"type":"object","properties":{"kind":{"type":"string"}},"required":["kind"],"oneOf":[{"properties":{"kind":{"const":"a"},"x":{"type":"null"}},"required":["x"]},{"properties":{"kind":{"const":"b"}}}]})",
         {R"({"kind":"a","x":null})", R"({"kind":"b"})", R"({"kind":"b","x":1})"},
         {R"({"kind":"a"})", R"({"kind":"c"})", R"({"x":null})"}},
        {"OneOfOptionalMembers",
         R"({"type":"object","oneOf":[{"properties":{"a":{"type":"null"}}},{"properties":{"b":{"type":"null"}}}]})",
         {R"({"a":1})", R"({"a":1,"b":null})", R"({"b":"x"})"},
         {"{}", R"({"a":null})", R"({"a":1,"b":1})", R"({"a":null,"b":null})"},
         AnyOrder()},
        {"OneOfRequired",
         R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"oneOf":[{"required":["a"]},{"required":["b"]},{"required":["c"]}]})",
         {R"({"a":1})", R"({"c":1})", R"({"b":1,"d":1})"},
         {"{}", R"({"a":1,"b":1})", R"({"a":1,"b":1,"c":1})"}},
        {"OneOfRequiredAnyOrder",
         R"({"type":"object","properties":{"a":{},"b":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]})",
         {R"({"x":1,"b":1})", R"({"a":1,"x":1})"},
         {R"({"x":1})", R"({"b":1,"x":1,"a":1})"},
         AnyOrder()},
        {"AnyOfRequired",
         R"({"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]})",
         {R"({"a":1})", R"({"b":1})", R"({"a":1,"b":1})"},
         {"{}", R"({"c":1})"}},
        {"AnyOfRequiredOtherTypes",
         R"({"anyOf":[{"required":["a"]},{"required":["b"]}]})",
         {"1", "null", R"({"a":1})"},
         {"{}"}},
        {"NotOneOf",
         R"({"type":"string","not":{"oneOf":[{"minLength":2},{"maxLength":3}]}})",
         {"\"ab\"", "\"abc\""},
         {"\"a\"", "\"abcd\""}},
        {"If",
         R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"null"}},"if":{"properties":{"a":{"const":"x"}},"required":["a"]},"then":{"required":["b"]},"else":{"properties":{"b":false}}})",
         {"{}", R"({"a":"y"})", R"({"a":"x","b":null})"},
         {R"({"a":"x"})", R"({"a":"y","b":null})", R"({"b":null})"}},
        {"IfThenOnly",
         R"({"if":{"type":"string"},"then":{"minLength":2}})",
         {"1", "\"ab\""},
         {"\"a\""}},
        {"IfElseOnly",
         R"({"if":{"type":"string"},"else":{"type":"null"}})",
         {"null", "\"\""},
         {"1"}},
        {"ManyIfs",
         R"({"type":"object","properties":{"k":{"enum":["a","b","c"]}},"required":["k"],"additionalProperties":{"type":"null"},"allOf":[{"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["x"]}},{"if":{"properties":{"k":{"const":"b"}}},"then":{"required":["y"]}}]})",
         {R"({"k":"c"})", R"({"k":"a","x":null})", R"({"k":"b","y":null})"},
         {R"({"k":"a"})", R"({"k":"b","x":null})", R"({"k":"d"})"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Members, JsonSchemaApplicatorsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"SeveralPatterns",
         R"({"type":"object","patternProperties":{"^a":{"type":"string"},"b$":{"maxLength":1}},"additionalProperties":false})",
         {R"({"ax":"long"})", R"({"ab":"x"})", R"({"b":"x"})", R"({"b":1})"},
         {R"({"ab":"long"})", R"({"ax":1})", R"({"c":1})"}},
        {"PatternOnDeclaredName",
         R"({"type":"object","properties":{"ab":{"type":"string"}},"patternProperties":{"^a":{"minLength":2}}})",
         {R"({"ab":"xx"})", R"({"b":"x"})", R"({"ac":1})"},
         {R"({"ab":"x"})", R"({"ab":1})", R"({"ac":"x"})"}},
        {"PatternAndRequired",
         R"({"type":"object","patternProperties":{"^a":{"type":"null"}},"additionalProperties":false,"required":["ab"]})",
         {R"({"ab":null})", R"({"ab":null,"ac":null})"},
         {"{}", R"({"ac":null})", R"({"ab":1})"}},
        {"SomeOtherMemberAndItsNameAgain",
         R"({"type":"object","not":{"additionalProperties":{"type":"integer"}}})",
         {R"({"x":"s"})", R"({"x":1,"y":"s"})"},
         {"{}", R"({"x":1})", R"({"x":"s","x":1})", R"({"x":1,"x":"s"})",
          R"({"x":1,"\u0078":"s"})"}},
        {"SomeMemberOfAPatternAndItsNameAgain",
         R"({"type":"object","not":{"patternProperties":{"^(a|b)$":{"type":"integer"}}}})",
         {R"({"a":"s"})", R"({"a":1,"b":"s","c":1,"c":2})"},
         {R"({"a":1})", R"({"a":"s","a":1})", R"({"c":"s"})"}},
        {"EachOfANameAgain",
         R"({"type":"object","additionalProperties":{"type":"integer"}})",
         {R"({"x":1,"x":2})"},
         {R"({"x":1,"x":"s"})", R"({"x":"s","x":1})"}},
        {"OneOfWhatNamesAre",
         R"({"type":"object","oneOf":[{"additionalProperties":{"type":"integer"}},{"additionalProperties":{"type":"number"}}]})",
         {R"({"x":1.5})", R"({"x":1.5,"y":1})"},
         {R"({"x":1})", R"({"x":1.5,"x":1})", R"({"x":1,"x":1.5})"}},
        {"NamesOfAnEnum",
         R"({"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"null"},"minProperties":2})",
         {R"({"a":null,"b":null})"},
         {R"({"a":null})", R"({"a":null,"c":null})", R"({"a":null,"a":null})"}},
        {"NamesOfAPattern",
         R"({"type":"object","propertyNames":{"pattern":"^[a-z]+$"},"properties":{"B":{}}})",
         {"{}", R"({"ab":1})"},
         {R"({"B":1})", R"({"a1":1})"}},
        {"NamesByChoice",
         R"({"type":"object","propertyNames":{"anyOf":[{"const":"a"},{"minLength":3,"not":{"pattern":"x"}}]}})",
         {R"({"a":1})", R"({"abc":1})"},
         {R"({"b":1})", R"({"axc":1})"}},
        {"AtLeast",
         R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"additionalProperties":false,"minProperties":2})",
         {R"({"a":1,"b":1})", R"({"b":1,"c":1})"},
         {"{}", R"({"c":1})"}},
        {"AtLeastOfNamesThatAPatternLists",
         R"({"type":"object","patternProperties":{"^[a-c]$":{"type":"integer"},"^x":{}},"additionalProperties":false,"required":["a"],"minProperties":3})",
         {R"({"a":1,"b":2,"c":3})", R"({"c":1,"a":2,"x":"3"})"},
         {R"({"a":1,"c":3})", R"({"a":1,"b":2,"b":3})", R"({"a":1,"b":2,"c":"3"})",
          R"({"b":1,"c":2,"x":3})", R"({"a":1,"b":2,"d":3})", R"({"a":1,"x":2,"x":3})"},
         AnyOrder()},
        {"OneOfThatSaysTheSame",
         R"({"type":"object","oneOf":[{"properties":{"a":{"type":"string","title":"x"},"b":{"const":1}},"required":["b"]},{"properties":{"a":{"$ref":"#/$defs/s"},"b":{"const":2}},"required":["b"]},{"properties":{"a":{"type":"string"},"c":{"type":"string"}},"required":["c"],"additionalProperties":false}],"$defs":{"s":{"type":"string","description":"y"}}})",
         {R"({"a":"s","b":1})", R"({"b":2})", R"({"c":"t","a":"s"})", R"({"b":1,"c":"t"})"},
         {R"({"a":1,"b":1})", R"({"a":"s","b":3})", R"({"a":1,"c":"t"})", R"({"c":1})", "{}"},
         AnyOrder()},
        {"RequiredTwiceIsOneMember",
         R"({"type":"object","required":["a"],"dependentSchemas":{"a":{"anyOf":[{"required":["b"]},{"required":["a","c"]}]},"b":{"required":["a"]}},"maxProperties":2})",
         {R"({"a":1,"b":1})", R"({"a":1,"c":1})"},
         {R"({"a":1})", R"({"a":1,"b":1,"c":1})"}},
        {"AtMost",
         R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["c"],"maxProperties":2})",
         {R"({"c":1})", R"({"a":1,"c":1})", R"({"c":1,"d":1})"},
         {R"({"a":1,"b":1,"c":1})", R"({"a":1})"}},
        {"DependentRequired",
         R"({"type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"],"b":["c"]}})",
         {"{}", R"({"a":1,"b":1,"c":1})", R"({"b":1,"c":1})", R"({"c":1})"},
         {R"({"a":1})", R"({"a":1,"b":1})", R"({"b":1})"}},
        {"DependenciesOfBothKinds",
         R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object","dependencies":{"a":["b"],"c":{"properties":{"d":{"type":"null"}}}}})",
         {R"({"a":1,"b":1})", R"({"c":1,"d":null})", R"({"d":1})"},
         {R"({"a":1})", R"({"c":1,"d":1})"},
         AnyOrder()},
        {"Unevaluated",
         R"({"type":"object","properties":{"a":{}},"anyOf":[{"properties":{"b":{"type":"null"}},"required":["b"]},{"properties":{"c":{"type":"null"}},"required":["c"]}],"unevaluatedProperties":false})",
         {R"({"a":1,"b":null})", R"({"a":1,"b":null,"c":null})"},
         {R"({"a":1})", R"({"b":null,"d":1})", R"({"b":null,"c":1})"},
         AnyOrder()},
        {"UnevaluatedThatExcludesNothing",
         R"({"type":"object","oneOf":[{"required":["a"],"unevaluatedProperties":true},{"properties":{"b":{"type":"null"}},"required":["b"]}],"unevaluatedProperties":false})",
         {R"({"a":1})", R"({"a":1,"c":1})", R"({"b":null})", R"({"a":1,"b":2})"},
         {"{}", R"({"b":null,"c":1})", R"({"a":1,"b":null})", R"({"b":1})"},
         AnyOrder()},
        {"UnevaluatedUnderNot",
         R"({"type":"object","not":{"anyOf":[true,{"properties":{"a":true}}],"allOf":[{"patternProperties":{"^b":true}}],"unevaluatedProperties":{"type":"null"}}})",
         {R"({"c":1})", R"({"a":1,"b":2,"c":null,"d":0})"},
         {"{}", R"({"a":1})", R"({"ba":1})", R"({"c":null})", R"({"c":null,"c":1})"}},
        {"UnevaluatedInAnIf",
         R"({"type":"object","if":{"$ref":"#/$defs/base","unevaluatedProperties":false},"then":{"required":["a"]},"else":{"required":["z"]},"$defs":{"base":{"properties":{"a":{"type":"null"}}}}})",
         {R"({"a":null})", R"({"a":1,"z":1})", R"({"z":1})"},
         {"{}", R"({"a":1})", R"({"b":1})"},
         AnyOrder()},
        {"UnevaluatedBesideRef",
         R"({"$ref":"#/$defs/base","properties":{"b":{}},"unevaluatedProperties":false,"$defs":{"base":{"type":"object","properties":{"a":{}}}}})",
         {R"({"a":1,"b":1})", "{}"},
         {R"({"c":1})"},
         AnyOrder()},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Items, JsonSchemaApplicatorsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Contains",
         R"({"type":"array","items":{"type":["null","string"]},"contains":{"type":"null"},"maxItems":3})",
         {"[null]", "[\"a\",null]", "[null,null,null]"},
         {"[]", "[\"a\"]", "[1,null]", "[null,null,null,null]"}},
        {"ContainsBetween",
         R"({"type":"array","contains":{"type":"null"},"minContains":1,"maxContains":2})",
         {"[null]", "[true,null,true,null]"},
         {"[]", "[null,null,null]"}},
        {"TwoContains",
         R"({"type":"array","contains":{"type":"null"},"allOf":[{"contains":{"type":"string"}}]})",
         {"[null,\"a\"]", "[\"a\",true,null]"},
         {"[null]", "[\"a\"]"}},
        {"PrefixAndContains",
         R"({"type":"array","prefixItems":[{"type":"null"}],"contains":{"type":"string"}})",
         {"[null,\"a\"]", "[null,1,\"a\"]"},
         {"[\"a\"]", "[null]"}},
        {"UnevaluatedItemsUnderNot",
         R"({"type":"array","not":{"allOf":[{"prefixItems":[true,{"type":"null"}]}],"unevaluatedItems":{"type":"string"}}})",
         {"[1,2]", R"([1,null,3])", R"([1,null,"a",4])"},
         {"[]", "[1]", "[1,null]", R"([1,null,"a"])"}},
        {"UnevaluatedItemsOfAllUnderNot",
         R"({"type":"array","not":{"items":{"type":"null"},"unevaluatedItems":false}})",
         {"[1]", "[null,1]"},
         {"[]", "[null]"}},
        {"UnevaluatedItems",
         R"({"type":"array","prefixItems":[{"type":"null"}],"contains":{"type":"string"},"unevaluatedItems":{"type":"boolean"}})",
         {"[null,\"a\",true]", "[null,true,\"a\"]"},
         {"[null,\"a\",1]", "[null,true]"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    References, JsonSchemaApplicatorsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Anchor",
         R"({"items":{"$ref":"#s"},"type":"array","$defs":{"a":{"$anchor":"s","type":"null"}}})",
         {"[null]"},
         {"[1]"}},
        {"EmbeddedId",
         R"({"$id":"http://x.example/root","$ref":"/item","$defs":{"i":{"$id":"item","$defs":{"n":{"type":"null"}},"$ref":"#/$defs/n"}}})",
         {"null"},
         {"1"}},
        {"DynamicTree",
         R"({"$id":"http://x.example/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,"$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","type":"object","properties":{"kids":{"type":"array","items":{"$dynamicRef":"#node"}}}}}})",
         {R"({"kids":[{"kids":[]}]})"},
         {R"({"kids":[{"kid":[]}]})", R"({"x":1})"}},
        {"RecursiveTree",
         R"({"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"http://x.example/strict","$recursiveAnchor":true,"$ref":"tree","unevaluatedProperties":false,"$defs":{"tree":{"$id":"tree","$recursiveAnchor":true,"type":"object","properties":{"kids":{"type":"array","items":{"$recursiveRef":"#"}}}}}})",
         {R"({"kids":[{"kids":[]}]})"},
         {R"({"kids":[{"kid":[]}]})"}},
        {"Nullable", R"({"type":"string","nullable":true})", {"null", "\"a\""}, {"1"}},
        {"NullableInANamedDialect",
         R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"string","nullable":true})",
         {"\"a\""},
         {"null"}},
    }),
    TextsCaseName);

TEST(JsonSchemaDocumentsTest, ReferencesLeadIntoGivenDocuments) {
  const std::vector<GrammarSource::Document> documents = {
      {"http://x.example/a.json", R"({"$defs":{"n":{"type":"null"},"b":{"$ref":"b.json"}}})"},
      {"http://x.example/b.json", R"({"type":"boolean"})"},
      {"http://x.example/broken.json", "{"}};
  const auto read = ReadForTest(
      "json_schema",
      R"({"type":"array","prefixItems":[{"$ref":"http://x.example/a.json#/$defs/n"},{"$ref":"http://x.example/a.json#/$defs/b"}],"items":false})",
      {}, {}, documents);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(IrRecognizer(read->ir).Accepts("[null,true]"));
  EXPECT_FALSE(IrRecognizer(read->ir).Accepts("[null,null]"));
}

// The drafts' own meta-schemas, by either scheme, and a vocabulary of one.
TEST(JsonSchemaDocumentsTest, MetaSchemasNeedNotBeGiven) {
  for (const char* uri :
       {"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema",
        "https://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema"}) {
    const auto read = ReadForTest("json_schema", absl::StrCat(R"({"$ref":")", uri, R"("})"));
    ASSERT_TRUE(read.ok()) << read.status();
    IrRecognizer recognizer(read->ir);
    EXPECT_TRUE(recognizer.Accepts(R"({"properties":{"a":{"minLength":2}},"not":{}})")) << uri;
    EXPECT_FALSE(recognizer.Accepts(R"({"properties":{"a":{"minLength":-2}}})")) << uri;
    EXPECT_FALSE(recognizer.Accepts(R"({"not":{"type":"strings"}})")) << uri;
  }
  const auto part = ReadForTest(
      "json_schema",
      R"({"$ref":"https://json-schema.org/draft/2020-12/meta/core#/$defs/anchorString"})");
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_TRUE(IrRecognizer(part->ir).Accepts(R"("a.b")"));
  EXPECT_FALSE(IrRecognizer(part->ir).Accepts(R"("1")"));
}

TEST(JsonSchemaDocumentsTest, AGivenMetaSchemaComesBeforeTheDrafts) {
  const std::vector<GrammarSource::Document> documents = {
      {"http://json-schema.org/draft-07/schema", R"({"type":"null"})"}};
  const auto read = ReadForTest(
      "json_schema", R"({"$ref":"http://json-schema.org/draft-07/schema"})", {}, {}, documents);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(IrRecognizer(read->ir).Accepts("null"));
  EXPECT_FALSE(IrRecognizer(read->ir).Accepts("{}"));
}

// A meta-schema with applicators and no validation, one that asserts formats, one that asks for
// what nobody knows.
std::vector<GrammarSource::Document> MetaSchemas() {
  const std::string head =
      R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$vocabulary":)";
  const std::string vocab = R"("https://json-schema.org/draft/2020-12/vocab/)";
  return {
      {"http://x.example/plain",
       absl::StrCat(head, "{", vocab, R"(core":true,)", vocab, R"(applicator":true}})")},
      {"http://x.example/formats",
       absl::StrCat(head, "{", vocab, R"(format-assertion":true,"http://x.example/v":false}})")},
      {"http://x.example/unknown", absl::StrCat(head, R"({"http://x.example/v":true}})")},
      {"http://x.example/broken", "{"}};
}

TEST(JsonSchemaVocabularyTest, LeavesOutTheKeywordsOfOthers) {
  const auto read = ReadForTest(
      "json_schema",
      R"({"$schema":"http://x.example/plain","items":{"minimum":10},"minItems":5,"not":{"$ref":"#/$defs/no"},"$defs":{"no":{"prefixItems":[false]}}})",
      {}, {}, MetaSchemas());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(IrRecognizer(read->ir).Accepts("[1]"));
  EXPECT_FALSE(IrRecognizer(read->ir).Accepts("[]"));
  EXPECT_FALSE(read->warnings.empty());
}

TEST(JsonSchemaVocabularyTest, AssertsFormats) {
  const auto read =
      ReadForTest("json_schema", R"({"$schema":"http://x.example/formats","format":"ipv4"})", {},
                  {}, MetaSchemas());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(IrRecognizer(read->ir).Accepts(R"("1.2.3.4")"));
  EXPECT_FALSE(IrRecognizer(read->ir).Accepts(R"("1.2.3")"));
}

TEST(JsonSchemaVocabularyTest, RefusesWhatItDoesNotKnow) {
  const auto unknown = ReadForTest("json_schema", R"({"$schema":"http://x.example/unknown"})", {},
                                   {}, MetaSchemas());
  EXPECT_EQ(unknown.status().message(),
            "/$schema: $schema is not supported: its vocabulary \"http://x.example/v\" is not "
            "known");
  const auto broken =
      ReadForTest("json_schema", R"({"$schema":"http://x.example/broken"})", {}, {}, MetaSchemas());
  EXPECT_EQ(ErrorPlace(broken.status()), "/$schema");
}

TEST(JsonSchemaDocumentsTest, ErrorsNameTheDocument) {
  const std::vector<GrammarSource::Document> documents = {
      {"http://x.example/a.json", R"({"items":{"type":"x"}})"}, {"http://x.example/b.json", "{"}};
  const auto wrong =
      ReadForTest("json_schema", R"({"$ref":"http://x.example/a.json"})", {}, {}, documents);
  EXPECT_EQ(ErrorPlace(wrong.status()), "http://x.example/a.json#/items/type");
  const auto broken =
      ReadForTest("json_schema", R"({"$ref":"http://x.example/b.json"})", {}, {}, documents);
  EXPECT_EQ(ErrorPlace(broken.status()), "http://x.example/b.json:1:2");
}

}  // namespace
}  // namespace maskd
