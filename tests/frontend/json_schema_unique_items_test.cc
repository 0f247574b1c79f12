// uniqueItems: which arrays are taken, by the slow recogniser, and what is refused by name. That
// the masks are those of these arrays: distinct_items_test.
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/texts_case.h"

namespace maskd {
namespace {

class JsonSchemaUniqueItemsTest : public testing::TestWithParam<TextsCase> {};

TEST_P(JsonSchemaUniqueItemsTest, TakesItsTexts) { ExpectTexts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Arrays, JsonSchemaUniqueItemsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Strings",
         R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})",
         {"[]", R"(["a"])", R"(["a","b","ab",""])", R"([ "a" , "A" ])"},
         {R"(["a","a"])", R"(["a","b","a"])", R"(["a","\u0061"])", R"(["",""])",
          R"(["\ud83d\ude00","😀"])", R"([1])", R"(["a",])"}},
        {"Counts",
         R"({"type":"array","uniqueItems":true,"items":{"type":"string"},"minItems":2,"maxItems":3})",
         {R"(["a","b"])", R"(["a","b","c"])"},
         {"[]", R"(["a"])", R"(["a","a"])", R"(["a","b","c","d"])", R"(["a","b","b"])"}},
        {"Lengths",
         R"({"type":"array","uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":2}})",
         {R"(["a","ab"])"},
         {R"([""])", R"(["abc"])", R"(["ab","ab"])"}},
        {"Pattern",
         R"({"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^a+$"}})",
         {R"(["a","aa"])"},
         {R"(["a","a"])", R"(["b"])"}},
        {"Enum",
         R"({"type":"array","uniqueItems":true,"items":{"enum":["a",1,null,{"b":[2]},"é"]}})",
         {"[]", R"(["a",1,null,{"b":[2]},"é"])", R"([1.0,"a"])", R"([{"b": [2]},1])"},
         {R"(["a","a"])", "[1,1.0]", "[1,10e-1]", "[null,null]", R"([{"b":[2]},{"b":[2.0]}])",
          R"(["é","\u00e9"])", "[2]"}},
        {"Booleans",
         R"({"type":"array","uniqueItems":true,"items":{"type":["boolean","null"]}})",
         {"[true,false,null]", "[null]"},
         {"[true,true]", "[true,false,true]"}},
        {"WordExcluded",
         R"({"type":"array","uniqueItems":true,"items":{"type":"boolean","not":{"const":true}}})",
         {"[]", "[false]"},
         {"[true]", "[false,false]"}},
        {"AnyOf",
         R"({"type":"array","uniqueItems":true,"items":{"anyOf":[{"enum":["a",2]},{"type":"string","minLength":2},{"type":"null"}]}})",
         {R"(["a",2,"bb",null])", R"(["bb","cc"])"},
         {R"(["b"])", R"(["a","a"])", R"(["bb","bb"])", "[2,2]", "[null,null]"}},
        {"ListedAndAll",
         R"({"type":"array","uniqueItems":true,"items":{"anyOf":[{"enum":["a"]},{"type":"string"}]}})",
         {R"(["a","b"])"},
         {R"(["a","a"])", R"(["b","b"])"}},
        {"ThenAsksForIt",
         R"({"type":"object","if":{"properties":{"t":{"const":1}},"required":["t"]},"then":{"properties":{"a":{"type":"array","uniqueItems":true}}},"else":{"required":["b"]}})",
         {R"({"t":1,"a":[1,2]})", R"({"t":2,"a":[1,1],"b":0})", R"({"a":[1,1],"b":0,"t":2})",
          R"({"a":[1,2],"t":1})", R"({"a":[1,1],"b":0})", R"({"a":[],"b":0,"t":2})", R"({"t":1})"},
         {R"({"t":1,"a":[1,1]})", R"({"a":[1,1],"t":1})", R"({"t":2,"a":[1,1]})",
          R"({"a":[1,1],"b":0,"t":1})", R"({"a":2,"t":1})", R"({"a":[1,2],"t":2})"},
         AnyOrder()},
        {"OneOfArraysThatAskForIt",
         R"({"oneOf":[{"type":"array","uniqueItems":true,"items":{"enum":[1,2]}},{"type":"array","uniqueItems":true,"items":{"enum":[2,3]}}]})",
         {"[1]", "[1,2]", "[3,2]"},
         {"[]", "[2]", "[1,1]", "[2,2]", "[1,3]", "[1,2,1]"}},
        {"AtMostOne",
         R"({"type":"array","uniqueItems":true,"maxItems":1})",
         {"[]", "[{}]"},
         {"[1,2]"}},
        {"Nested",
         R"({"type":"array","items":{"type":"array","uniqueItems":true,"items":{"type":"string"}}})",
         {R"([["a"],["a"],["a","b"]])"},
         {R"([["a","a"]])"}},
        {"Anything",
         R"({"type":"array","uniqueItems":true})",
         {"[]", R"([1,"1",true,null,{"a":1},{"a":2},[1],[2]])", R"([ {"a" : 1} , {"a":2} ])"},
         {"[1,1.0]", "[[],[]]", R"([{"a":1,"b":2},{"b":2,"a":1}])", "[null,null]"}},
        {"Objects",
         R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}})",
         {R"([{"a":""},{"a":"b"}])", R"([{"a":"b","c":1},{"a":"b"}])"},
         {"[]", R"([{"a":"b"}])", R"([{"a":"b"},{"a":"\u0062"}])"}},
        {"Integers",
         R"({"type":"array","uniqueItems":true,"items":{"type":["string","integer"]}})",
         {R"([1,2,"1"])"},
         {"[1,2,1]", R"(["1","1"])", "[10,1e1]"}},
        {"Prefix",
         R"({"type":"array","uniqueItems":true,"prefixItems":[true],"items":{"type":"string"}})",
         {R"([1,"a","b"])"},
         {R"(["a","a"])", R"([1,"a","a"])"}},
        {"Contains",
         R"({"type":"array","uniqueItems":true,"items":{"type":"string"},"contains":{"const":"a"},"maxItems":3})",
         {R"(["a"])", R"(["b","a"])"},
         {"[]", R"(["b"])", R"(["a","a"])"}},
        {"FewStrings",
         R"({"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[ab]{2}$"}})",
         {R"(["aa","bb","ab","ba"])", "[]"},
         {R"(["aa","aa"])", R"(["aa","bb","ab","ba","a"])", R"(["aa","\u0061a"])"}},
        {"SeveralOfFew",
         R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"integer","minimum":1,"maximum":3}})",
         {"[1,2]", "[3,1,2]"},
         {"[1]", "[1,1]", "[1,2,1.0]", "[1,2,3,4]"}},
        {"SeveralObjects",
         R"({"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object","properties":{"b":{"type":"boolean"}},"required":["b"],"additionalProperties":false}})",
         {R"([{"b":true},{"b":false}])"},
         {R"([{"b":true}])", R"([{"b":true},{"b":true}])"}},
        {"False",
         R"({"type":"array","uniqueItems":false,"items":{"type":"string"}})",
         {R"(["a","a"])"},
         {}},
    }),
    TextsCaseName);

struct RefusedCase {
  const char* name;
  const char* schema;
  absl::StatusCode code;
  const char* message;
};

class JsonSchemaUniqueItemsRefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(JsonSchemaUniqueItemsRefusedTest, IsRefusedByName) {
  const auto read = ReadForTest("json_schema", GetParam().schema);
  EXPECT_EQ(read.status().code(), GetParam().code) << read.status();
  EXPECT_EQ(read.status().message(), GetParam().message);
}

constexpr absl::StatusCode kUnsupported = absl::StatusCode::kUnimplemented;

INSTANTIATE_TEST_SUITE_P(
    Arrays, JsonSchemaUniqueItemsRefusedTest,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"UnderNot", R"({"properties":{"a":{"type":"array","not":{"uniqueItems":true}}}})",
         kUnsupported,
         "/properties/a/not/uniqueItems: uniqueItems is not supported: under a \"not\""},
        {"SeveralOfFewValues",
         R"({"properties":{"a":{"uniqueItems":true,"minItems":2,"items":{"type":"array","items":{"const":1}}}}})",
         kUnsupported,
         "/properties/a/uniqueItems: uniqueItems is not supported: of several items that must be "
         "there and may have few values"},
        {"SeveralCounted",
         R"({"type":"array","uniqueItems":true,"contains":{"type":"integer"},"minContains":2})",
         kUnsupported,
         "/uniqueItems: uniqueItems is not supported: beside keywords that ask for several items"},
        {"FineNumbers",
         R"({"properties":{"a":{"uniqueItems":true,"items":{"type":"number","minimum":1,"maximum":1.00000000000000000000000000000000000000000000000000000000000000000000000001}}}})",
         kUnsupported,
         "/properties/a/uniqueItems: uniqueItems is not supported: of numbers that only many "
         "digits tell apart"},
        {"FewNames",
         R"({"type":"array","uniqueItems":true,"items":{"type":"object","patternProperties":{"^[ab]{2}$":true},"additionalProperties":false,"minProperties":5}})",
         kUnsupported,
         "/uniqueItems: uniqueItems is not supported: of objects that need several names and may "
         "have few"},
        {"TooFewValues",
         R"({"type":"array","uniqueItems":true,"items":{"enum":[1,2]},"minItems":3})",
         absl::StatusCode::kInvalidArgument,
         "/uniqueItems: there are 2 different items, but 3 are needed"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
