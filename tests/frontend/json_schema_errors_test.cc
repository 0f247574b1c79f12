// Broken and unsupported schemas: the code, the place and the reason of each error.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/reading.h"

namespace maskd {
namespace {

using testing::HasSubstr;

struct Case {
  const char* name;
  const char* schema;
  const char* place;
  const char* message;
};

std::string CaseName(const testing::TestParamInfo<Case>& test) { return test.param.name; }

void ExpectError(const Case& wrong, absl::StatusCode code) {
  const absl::Status status = ReadForTest("json_schema", wrong.schema).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(ErrorPlace(status), wrong.place);
  EXPECT_THAT(std::string(status.message()), HasSubstr(wrong.message));
}

class BrokenSchemaTest : public testing::TestWithParam<Case> {};

TEST_P(BrokenSchemaTest, IsInvalid) { ExpectError(GetParam(), absl::StatusCode::kInvalidArgument); }

INSTANTIATE_TEST_SUITE_P(
    Shapes, BrokenSchemaTest,
    testing::ValuesIn(std::vector<Case>{
        {"NoText", "", "1:1", "the text is empty"},
        {"Syntax", "{\"type\":\n  \"obj", "2:7", "ends inside a string"},
        {"Array", "[]", "", "a schema must be an object or a boolean"},
        {"Null", "null", "", "a schema must be an object or a boolean"},
        {"TwinKey", R"({"properties":{"a":{"type":"null","type":"null"}}})", "/properties/a/type",
         "occurs twice"},
        {"TypeNumber", R"({"properties":{"a":{"type":5}}})", "/properties/a/type",
         "must be a string or a list of strings"},
        {"TypeUnknown", R"({"type":"strng"})", "/type", "there is no type \"strng\""},
        {"TypeUnknownInList", R"({"type":["null","int"]})", "/type/1", "there is no type \"int\""},
        {"TypeListOfNumbers", R"({"type":[1]})", "/type/0", "must be a string"},
        {"TypeEmptyList", R"({"type":[]})", "/type", "at least one type"},
        {"TypeObject", R"({"type":{"a":1}})", "/type", "must be a string or a list of strings"},
        {"PropertiesList", R"({"properties":[]})", "/properties", "must be an object"},
        {"PropertyNumber", R"({"properties":{"a":3}})", "/properties/a", "a schema must be"},
        {"PropertyString", R"({"properties":{"a":"string"}})", "/properties/a", "a schema must be"},
        {"PropertyDeep", R"({"items":{"anyOf":[{},{"properties":{"x/y":null}}]}})",
         "/items/anyOf/1/properties/x~1y", "a schema must be"},
        {"RequiredString", R"({"required":"a"})", "/required", "must be a list of strings"},
        {"RequiredTrue", R"({"properties":{"a":{"required":true}}})", "/properties/a/required",
         "must be a list of strings"},
        {"RequiredNumbers", R"({"required":["a",1]})", "/required/1", "must be a string"},
        {"AdditionalString", R"({"additionalProperties":"no"})", "/additionalProperties",
         "a schema must be"},
        {"ItemsString", R"({"type":"array","items":"x"})", "/items", "a schema must be"},
        {"ItemsListHoldsNumber", R"({"items":[{},1]})", "/items/1", "a schema must be"},
        {"ItemsListIn2020",
         R"({"$schema":"https://json-schema.org/draft/2020-12/schema","items":[{}]})", "/items",
         "a list is prefixItems here"},
        {"ItemsListBesidePrefix", R"({"prefixItems":[{}],"items":[{}]})", "/items",
         "beside prefixItems"},
        {"PrefixEmpty", R"({"prefixItems":[]})", "/prefixItems", "at least one schema"},
        {"PrefixObject", R"({"prefixItems":{}})", "/prefixItems", "a list of schemas"},
        {"EnumObject", R"({"enum":{"a":1}})", "/enum", "a list with at least one value"},
        {"EnumEmpty", R"({"enum":[]})", "/enum", "a list with at least one value"},
        {"AnyOfEmpty", R"({"anyOf":[]})", "/anyOf", "at least one schema"},
        {"AnyOfObject", R"({"anyOf":{}})", "/anyOf", "a list of schemas"},
        {"AnyOfHoldsString", R"({"anyOf":[{},"x"]})", "/anyOf/1", "a schema must be"},
        {"AllOfHoldsNull", R"({"allOf":[null]})", "/allOf/0", "a schema must be"},
        {"OneOfNumber", R"({"oneOf":1})", "/oneOf", "a list of schemas"},
        {"NotString", R"({"not":"x"})", "/not", "a schema must be"},
        {"MinLengthNegative", R"({"minLength":-1})", "/minLength", "an integer from 0, is -1"},
        {"MinLengthFraction", R"({"minLength":1.5})", "/minLength", "an integer from 0, is 1.5"},
        {"MaxLengthString", R"({"maxLength":"5"})", "/maxLength", "must be an integer from 0"},
        {"MinItemsNull", R"({"minItems":null})", "/minItems", "must be an integer from 0"},
        {"MaxItemsNegative", R"({"maxItems":-2})", "/maxItems", "an integer from 0, is -2"},
        {"MinPropertiesString", R"({"minProperties":"1"})", "/minProperties", "an integer from 0"},
        {"MinimumString", R"({"minimum":"0"})", "/minimum", "must be a number"},
        {"ExclusiveBooleanIn2020", R"({"exclusiveMinimum":true})", "/exclusiveMinimum",
         "must be a number"},
        {"ExclusiveNumberIn4",
         R"({"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMinimum":1})",
         "/exclusiveMinimum", "must be a boolean"},
        {"MultipleOfZero", R"({"multipleOf":0})", "/multipleOf", "greater than 0"},
        {"PatternNumber", R"({"pattern":1})", "/pattern", "must be a string"},
        {"PatternUnclosed", R"({"type":"object","properties":{"a":{"pattern":"^(a|b"}}})",
         "/properties/a/pattern", "1:2"},
        {"PatternReversedRange", R"({"pattern":"[z-a]"})", "/pattern", "range is reversed"},
        {"PatternUnderEnum", R"({"enum":["a"],"pattern":"a{2,1}"})", "/pattern",
         "1 is less than 2"},
        {"UniqueItemsString", R"({"uniqueItems":"yes"})", "/uniqueItems", "must be a boolean"},
        {"PatternPropertiesList", R"({"patternProperties":[]})", "/patternProperties",
         "must be an object"},
        {"DependentRequiredString", R"({"dependentRequired":{"a":"b"}})", "/dependentRequired/a",
         "a list of strings"},
        {"DependenciesNumber", R"({"dependencies":{"a":["b"],"c":1}})", "/dependencies/c",
         "a schema must be"},
        {"FormatNumber", R"({"format":1})", "/format", "must be a string"},
        {"DefsList", R"({"$defs":[]})", "/$defs", "must be an object"},
        {"SchemaNumber", R"({"$schema":7})", "/$schema", "must be a string"},
        {"IdNumber", R"({"$id":7})", "/$id", "must be a string"},
        {"IfNumber", R"({"if":1,"then":{}})", "/if", "a schema must be"},
    }),
    CaseName);

INSTANTIATE_TEST_SUITE_P(
    References, BrokenSchemaTest,
    testing::ValuesIn(std::vector<Case>{
        {"RefNumber", R"({"$ref":1})", "/$ref", "must be a string"},
        {"RefNowhere", R"({"properties":{"a":{"$ref":"#/$defs/x"}}})", "/properties/a/$ref",
         "\"#/$defs/x\" names nothing in this schema"},
        {"RefNegativeIndex", R"({"$ref":"#/anyOf/-1","anyOf":[{"type":"null"}]})", "/$ref",
         "names nothing"},
        {"RefIndexWithZero", R"({"$ref":"#/anyOf/00","anyOf":[{"type":"null"}]})", "/$ref",
         "names nothing"},
        {"RefBadTilde", R"({"$ref":"#/$defs/~2","$defs":{"~2":{}}})", "/$ref", "names nothing"},
        {"RefBadPercent", R"({"$ref":"#/$defs/%zz","$defs":{}})", "/$ref", "percent-encoded"},
        {"RefToNumber", R"({"$ref":"#/$defs/a","$defs":{"a":1}})", "/$ref", "names no schema"},
        {"RefToSelf", R"({"$ref":"#"})", "/$ref", "leads back to itself"},
        {"RefMutual",
         R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}})",
         "/$defs/b/$ref", "leads back to itself"},
        {"RefThroughAnyOf", R"({"anyOf":[{"$ref":"#"},{"type":"null"}]})", "/anyOf/0/$ref",
         "leads back to itself"},
        {"RefThroughAllOf", R"({"properties":{"a":{"allOf":[{"$ref":"#/properties/a"}]}}})",
         "/properties/a/allOf/0/$ref", "leads back to itself"},
        {"RefThroughNot", R"({"not":{"$ref":"#"}})", "/not/$ref", "leads back to itself"},
        {"RefThroughThen", R"({"if":{},"then":{"$ref":"#"}})", "/then/$ref",
         "leads back to itself"},
        {"RefThroughDependentSchemas", R"({"dependentSchemas":{"a":{"$ref":"#"}}})",
         "/dependentSchemas/a/$ref", "leads back to itself"},
        {"DynamicRefToSelf", R"({"$dynamicAnchor":"n","$dynamicRef":"#n"})", "/$dynamicRef",
         "leads back to itself"},
        {"AnchorNowhere", R"({"items":{"$ref":"#x"},"$defs":{"a":{"$anchor":"y"}}})", "/items/$ref",
         "there is no such anchor"},
        {"RefBelowAnotherId",
         R"({"properties":{"a":{"$id":"http://x.example/a","properties":{"b":{"$ref":"#/$defs/c"}}}},"$defs":{"c":{}}})",
         "/properties/a/properties/b/$ref", "names nothing"},
        {"RefTargetBroken", R"({"$ref":"#/$defs/a","$defs":{"a":{"type":"x"}}})", "/$defs/a/type",
         "there is no type"},
    }),
    CaseName);

INSTANTIATE_TEST_SUITE_P(
    Unsatisfiable, BrokenSchemaTest,
    testing::ValuesIn(std::vector<Case>{
        {"False", "false", "", "the schema false matches nothing"},
        {"LengthReversed", R"({"type":"string","minLength":5,"maxLength":2})", "/maxLength",
         "2 is less than minLength 5"},
        {"ItemsReversed",
         R"({"type":"object","required":["tags"],"properties":{"tags":{"type":"array","minItems":5,"maxItems":2}}})",
         "/properties/tags/maxItems", "2 is less than minItems 5"},
        {"LengthReversedAcrossAllOf",
         R"({"type":"string","allOf":[{"minLength":5},{"maxLength":2}]})", "/allOf/1/maxLength",
         "2 is less than minLength 5"},
        {"EnumAgainstType", R"({"type":"string","enum":[1,2]})", "/enum", "no value of it fits"},
        {"ConstNotInEnum", R"({"const":3,"enum":[1,2]})", "/const", "no value of it fits"},
        {"ConstFraction", R"({"type":"integer","const":1.5})", "/const", "no value of it fits"},
        {"PatternOfNothing", R"({"type":"string","pattern":"$a"})", "/pattern",
         "no string satisfies it"},
        {"BoundsReversed", R"({"type":"integer","minimum":5,"maximum":4})", "/maximum",
         "4 is less than minimum 5"},
        {"BoundsReversedAcrossRef",
         R"({"type":"object","required":["n"],"properties":{"n":{"$ref":"#/$defs/p","exclusiveMaximum":-1.5}},"$defs":{"p":{"type":"number","minimum":0}}})",
         "/properties/n/exclusiveMaximum", "-1.5 is less than minimum 0"},
        {"BoundsThatTouch", R"({"type":"number","exclusiveMinimum":1,"maximum":1})", "/maximum",
         "nothing lies between exclusiveMinimum 1 and maximum 1"},
        {"NoIntegerBetween", R"({"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2})",
         "/exclusiveMaximum", "no number satisfies 2 beside exclusiveMinimum 1"},
        {"NoMultipleBetween", R"({"type":"number","minimum":8,"maximum":13,"multipleOf":7})",
         "/multipleOf", "no number satisfies 7 beside minimum 8, maximum 13"},
        {"EnumAgainstBounds", R"({"enum":[1,2],"minimum":3})", "/enum", "no value of it fits"},
        {"EnumAgainstMultiple", R"({"const":1.5,"multipleOf":1})", "/const", "no value of it fits"},
        {"EnumAgainstPattern", R"({"enum":["a","b"],"pattern":"c"})", "/enum",
         "no value of it fits"},
        {"RequiredButClosed",
         R"({"type":"object","properties":{},"additionalProperties":false,"required":["a","x"]})",
         "/required/0", "\"a\" is required, but neither declared"},
        {"RequiredFalse",
         R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":false},"required":["b"]}},"required":["a"]})",
         "/properties/a/properties/b", "the schema false matches nothing"},
        {"TypesDisjoint", R"({"type":"string","allOf":[{"type":"integer"}]})", "/allOf/0/type",
         "no type is left"},
        {"AnyOfOfOtherTypes", R"({"type":"string","anyOf":[{"type":"integer"},{"type":"null"}]})",
         "/anyOf", "no branch fits"},
        {"FalseItemRequired", R"({"type":"array","items":false,"minItems":1})", "/items",
         "the schema false matches nothing"},
        {"NotTrue", R"({"items":false,"minItems":1,"type":"array","not":{}})", "/not",
         "this excludes every value"},
        {"NotItsOwnType", R"({"type":"null","not":{"type":"null"}})", "/type", "no type is left"},
        {"NotEveryBoolean", R"({"type":"boolean","not":{"enum":[true,false]}})", "",
         "every value of the types left is excluded"},
        {"OneOfTwice", R"({"oneOf":[{"type":"null"},{"type":"null"}]})", "/oneOf",
         "no branch fits"},
        {"IfNeitherWay", R"({"type":"null","if":true,"then":{"type":"string"}})", "/if",
         "no branch fits"},
        {"PropertiesReversed", R"({"type":"object","minProperties":3,"maxProperties":2})",
         "/maxProperties", "2 is less than minProperties 3"},
        {"TooFewNames",
         R"({"type":"object","properties":{"a":{}},"additionalProperties":false,"minProperties":2})",
         "", "no text satisfies this grammar"},
        {"DependencyForbidden",
         R"({"type":"object","required":["a"],"properties":{"a":{},"b":false},"dependentRequired":{"a":["b"]}})",
         "/properties/b", "the schema false matches nothing"},
        {"NameRequiredButForbidden",
         R"({"type":"object","required":["ab"],"propertyNames":{"maxLength":1}})", "/required/0",
         "\"ab\" is required"},
        {"ContainsNothing", R"({"type":"array","contains":false})", "",
         "no text satisfies this grammar"},
        {"EndlessObject",
         R"({"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]})", "",
         "no text satisfies this grammar"},
        {"EndlessArray", R"({"type":"array","items":{"$ref":"#"},"minItems":1})", "",
         "no text satisfies this grammar"},
        {"EndlessDeeper",
         R"({"type":"array","items":{"type":"array","items":{"$ref":"#/items"},"minItems":1},"minItems":1})",
         "/items", "no text satisfies this grammar"},
    }),
    CaseName);

class UnsupportedSchemaTest : public testing::TestWithParam<Case> {};

TEST_P(UnsupportedSchemaTest, IsRefused) {
  ExpectError(GetParam(), absl::StatusCode::kUnimplemented);
}

// In draft 4 an integer has no exponent.
TEST(UnsupportedNumberTest, OfMoreDigitsThanMayBeSpelled) {
  const std::string long_integer = "1" + std::string(1'100, '0');
  const std::string schema =
      R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","enum":[1,)" +
      long_integer + "]}";
  ExpectError({"", schema.c_str(), "/enum/1", "takes more digits than a number may have"},
              absl::StatusCode::kUnimplemented);
}

INSTANTIATE_TEST_SUITE_P(
    Keywords, UnsupportedSchemaTest,
    testing::ValuesIn(std::vector<Case>{
        {"PatternConstruct", R"({"properties":{"a":{"pattern":"(x)\\1"}}})",
         "/properties/a/pattern", "back-reference"},
        {"NumberOfHugeExponent", R"({"enum":[1,{"a":90071E9254740992}]})", "/enum/1/a",
         "takes more digits than a number may have"},
        {"MultipleOfTooFine", R"({"multipleOf":0.1234567890123456})", "/multipleOf",
         "0.1234567890123456 has, with what stands beside it, a modulus over 1000000000000000"},
        {"MultiplesTogether", R"({"allOf":[{"multipleOf":64100001},{"multipleOf":64300001}]})",
         "/allOf/1/multipleOf",
         "64300001 has, with what stands beside it, a modulus over 1000000000000000"},
        {"UniqueItems", R"({"type":"array","not":{"uniqueItems":true}})", "/not/uniqueItems",
         "uniqueItems"},
        {"NotUnevaluated",
         R"({"not":{"unevaluatedProperties":false,"anyOf":[{"properties":{"a":{"type":"null"}}},{"required":["b"]}]}})",
         "/not", "of a schema with unevaluated keywords"},
        {"SomeOfNamesThatHaveAnEnd",
         R"({"type":"object","not":{"patternProperties":{"^[a-z]{2}$":{"type":"null"}}}})",
         "/not/patternProperties", "of objects that need several names and may have few"},
        {"RemoteRef", R"({"$ref":"http://127.0.0.1:9/schema.json"})", "/$ref",
         "is neither in this schema nor in a document given with it"},
        {"FileRef", R"({"$ref":"../../../../etc/passwd"})", "/$ref", "is neither in this schema"},
        {"DynamicRefElsewhere", R"({"$dynamicRef":"x.json#n"})", "/$dynamicRef",
         "is neither in this schema"},
        {"UnderConst", R"({"const":{"a":"x"},"properties":{"a":{"pattern":"(y)\\1"}}})",
         "/properties/a/pattern", "back-reference"},
        {"InAllOf", R"({"allOf":[{"type":"string"},{"minimum":0,"pattern":"(y)\\1"}]})",
         "/allOf/1/pattern", "back-reference"},
        {"InAnyOf", R"({"anyOf":[{"type":"null"},{"multipleOf":1000000000000001}]})",
         "/anyOf/1/multipleOf", "1000000000000001"},
        {"BehindRef", R"({"$ref":"#/$defs/a","$defs":{"a":{"multipleOf":1000000000000001}}})",
         "/$defs/a/multipleOf", "1000000000000001"},
    }),
    CaseName);

}  // namespace
}  // namespace maskd
