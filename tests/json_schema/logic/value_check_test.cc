// Verdicts on single values, by hand from JSON Schema 2020-12: Core, sections 10 and 11, and
// Validation, section 6. Each by the validator, and by the claims of the schema taken apart.
#include "grammar_core/frontend/json_schema/logic/value_check.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/json_schema/logic/schema_parts.h"

namespace maskd {
namespace {

struct ValueCase {
  const char* name;
  const char* schema;
  std::vector<std::string> valid;
  std::vector<std::string> invalid;
};

class ValueCheckTest : public testing::TestWithParam<ValueCase> {};

TEST_P(ValueCheckTest, IsThatOfTheSpecification) {
  SchemaParts parts(GetParam().schema);
  const Conjunction all = parts.All();
  for (const std::string& value : GetParam().valid) {
    EXPECT_TRUE(parts.Validates(value, parts.Holds(""))) << value;
    EXPECT_TRUE(parts.Fits(value, all)) << value;
  }
  for (const std::string& value : GetParam().invalid) {
    EXPECT_FALSE(parts.Validates(value, parts.Holds(""))) << value;
    EXPECT_FALSE(parts.Fits(value, all)) << value;
  }
  EXPECT_TRUE(parts.refused.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, ValueCheckTest,
    testing::ValuesIn(std::vector<ValueCase>{
        {"Types",
         R"({"type":["integer","object"]})",
         {"1", "1.0", "1e3", "{}"},
         {"1.5", "\"1\"", "null", "[]"}},
        {"Const",
         R"({"const":{"a":[1,null],"b":"x"}})",
         {R"({"b":"x","a":[1.0,null]})"},
         {R"({"a":[1],"b":"x"})", R"({"a":[null,1],"b":"x"})", "1"}},
        {"Enum",
         R"({"enum":[0,"a",[false]]})",
         {"0.0", "-0", "\"a\"", "[false]"},
         {"false", "[0]", "\"b\""}},
        {"Lengths",
         R"({"minLength":2,"maxLength":3})",
         {R"("ab")", R"("\ud83d\ude00é")", "7"},
         {R"("a")", R"("\ud83d\ude00")", R"("abcd")"}},
        {"Numbers",
         R"({"minimum":1,"exclusiveMaximum":2,"multipleOf":0.25})",
         {"1", "1.75", "\"9\""},
         {"2", "0.75", "1.1"}},
        {"Pattern", R"({"pattern":"^a+$"})", {R"("aa")", "1"}, {R"("ab")", R"("")"}},
        {"Items",
         R"({"prefixItems":[{"type":"null"}],"items":{"minimum":1},"maxItems":2})",
         {"[]", "[null]", "[null,1]", "{}"},
         {"[1]", "[null,0]", "[null,1,1]"}},
        {"Unique",
         R"({"uniqueItems":true})",
         {"[1,\"1\",true]", "[{\"a\":1},{\"a\":2}]"},
         {"[1,1.0]", R"([{"a":1,"b":2},{"b":2,"a":1}])"}},
        {"Contains",
         R"({"contains":{"minimum":5},"minContains":2,"maxContains":3})",
         {"[5,1,6]", "[5,5,5]", "\"\""},
         {"[5,1]", "[5,5,5,5]", "[]"}},
        {"ContainsNone", R"({"contains":{"minimum":5},"minContains":0})", {"[]", "[1]"}, {}},
        {"Members",
         R"({"properties":{"a":{"type":"null"}},"patternProperties":{"^a":{"maximum":3}},
            "additionalProperties":{"minimum":7}})",
         {"{}", R"({"a":null,"ab":3,"b":7})", "[]"},
         {R"({"a":1})", R"({"ab":4})", R"({"b":6})"}},
        {"Counts",
         R"({"required":["a"],"maxProperties":2,"minProperties":2})",
         {R"({"a":1,"b":2})", "[1,2,3]"},
         {R"({"a":1})", R"({"b":1,"c":2})", R"({"a":1,"b":2,"c":3})"}},
        {"Names",
         R"({"propertyNames":{"pattern":"^.$"}})",
         {"{}", R"({"a":1,"\u00e9":2})"},
         {R"({"":1})", R"({"ab":1})"}},
        {"Dependent",
         R"({"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}})",
         {R"({"b":1})", R"({"a":1,"b":1})", R"({"c":1,"d":1})"},
         {R"({"a":1})", R"({"c":1})"}},
        {"Combined",
         R"({"anyOf":[{"const":1},{"type":"string"}],"not":{"const":"a"}})",
         {"1", "\"b\""},
         {"\"a\"", "2"}},
        {"OneOf",
         R"({"oneOf":[{"minimum":1},{"maximum":1},{"type":"string"}]})",
         {"0", "2"},
         {"1", "null", "\"a\""}},
        {"If",
         R"({"if":{"type":"string"},"then":{"minLength":1},"else":{"const":0}})",
         {"\"a\"", "0"},
         {"\"\"", "1"}},
        {"Recursive",
         R"({"type":["array","null"],"items":{"$ref":"#"}})",
         {"[[],[null,[[]]]]"},
         {"[[1]]"}},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Unevaluated, ValueCheckTest,
    testing::ValuesIn(std::vector<ValueCase>{
        {"Properties",
         R"({"properties":{"a":true},"allOf":[{"patternProperties":{"^b":true}}],
            "unevaluatedProperties":{"type":"null"}})",
         {R"({"a":1,"bc":1,"d":null})", "1"},
         {R"({"a":1,"c":1})"}},
        {"NotByItself",
         R"({"allOf":[{"unevaluatedProperties":false}],"properties":{"a":true}})",
         {"{}"},
         {R"({"a":1})"}},
        {"ByAnInnerOne",
         R"({"allOf":[{"unevaluatedProperties":true}],
            "unevaluatedProperties":false})",
         {R"({"a":1})"},
         {}},
        {"ByAnInnerOneThatFails",
         R"({"allOf":[{"unevaluatedProperties":{"const":1}}],
            "unevaluatedProperties":false})",
         {R"({"a":1})"},
         {R"({"a":2})"}},
        {"ItemsByAnInnerOne",
         R"({"allOf":[{"allOf":[{"unevaluatedItems":{"const":1}}]}],
            "unevaluatedItems":false})",
         {"[1,1]"},
         {"[1,2]"}},
        {"OfTheOtherType",
         R"({"allOf":[{"unevaluatedItems":true}],
            "unevaluatedProperties":false})",
         {"[1]", "{}"},
         {R"({"a":1})"}},
        {"NotUnderNot",
         R"({"not":{"not":{"properties":{"a":{"const":1}}}},
            "unevaluatedProperties":false})",
         {"{}"},
         {R"({"a":1})"}},
        {"Items",
         R"({"prefixItems":[true],"unevaluatedItems":{"const":0}})",
         {"[9]", "[9,0,0]"},
         {"[9,1]"}},
        {"ItemsThatContainsMatches",
         R"({"contains":{"const":1},"unevaluatedItems":false})",
         {"[1,1]"},
         {"[1,2]", "[]"}},
    }),
    [](const auto& test) { return test.param.name; });

// What branches evaluate is left to the validator: a choice that is watched is not for Fits().
TEST(ValueCheck, EachBranchThatHoldsEvaluates) {
  SchemaParts parts(R"({"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},
      {"properties":{"b":true},"required":["b"]}],"if":{"required":["c"],"properties":{"c":true}},
      "unevaluatedProperties":false})");
  const Claim root = parts.Holds("");
  EXPECT_TRUE(parts.Validates(R"({"a":1,"b":2})", root));
  EXPECT_TRUE(parts.Validates(R"({"b":2,"c":3})", root));
  EXPECT_FALSE(parts.Validates(R"({"a":2,"b":2})", root));
  EXPECT_FALSE(parts.Validates(R"({"a":1,"d":2})", root));
}

TEST(ValueCheck, DynamicReferencesSeeWhatWasEntered) {
  SchemaParts parts(R"({"$id":"https://x/strict","$dynamicAnchor":"node","$ref":"tree",
      "unevaluatedProperties":false,"$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node",
      "properties":{"next":{"$dynamicRef":"#node"}}}}})");
  EXPECT_TRUE(parts.Validates(R"({"next":{"next":{}}})", parts.Holds("")));
  EXPECT_FALSE(parts.Validates(R"({"next":{"nxt":{}}})", parts.Holds("")));
  EXPECT_TRUE(parts.Validates(R"({"next":{"nxt":{}}})", parts.Holds("/$defs/tree")));
}

TEST(ValueCheck, NamesAreStrings) {
  SchemaParts parts(R"({"propertyNames":{"minLength":2,"pattern":"^[a-z\\n\"]"}})");
  const Claim names = parts.Holds("/propertyNames");
  EXPECT_TRUE(*parts.checker.StringFits("ab", names));
  EXPECT_TRUE(*parts.checker.StringFits("\"\n", names));
  EXPECT_FALSE(*parts.checker.StringFits("a", names));
  EXPECT_FALSE(*parts.checker.StringFits("AB", names));
  EXPECT_TRUE(*parts.checker.StringFits("AB", names.Negated()));
}

TEST(ValueCheck, ANameKnowsThePatternsThatItMatches) {
  SchemaParts parts(R"({"patternProperties":{"^a":true,"b$":true}})");
  const MemberName name = parts.checker.NameOf("abc");
  EXPECT_EQ(name.text, "abc");
  EXPECT_TRUE(name.matches(parts.At("/patternProperties/^a")));
  EXPECT_FALSE(name.matches(parts.At("/patternProperties/b$")));
}

TEST(ValueCheck, APatternThatCannotBeReadIsHandedOver) {
  SchemaParts parts(R"({"pattern":"(a","minLength":2})");
  EXPECT_TRUE(parts.Fits(R"("xyz")", parts.All()));
  ASSERT_EQ(parts.refused.size(), 1);
  EXPECT_EQ(parts.refused[0].place, "/pattern");
  EXPECT_EQ(parts.refused[0].error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(parts.Fits(R"("x")", parts.All()));
}

TEST(ValueCheck, ValuesTooDeepAreALimit) {
  Limits limits;
  limits.source_depth = 8;
  SchemaParts parts(R"({"items":{"$ref":"#"}})", limits);
  EXPECT_TRUE(parts.Validates("[[[]]]", parts.Holds("")));
  SchemaParts deep(R"({"items":{"$ref":"#"}})");
  const JsonValue value = deep.Value(std::string(12, '[') + std::string(12, ']'));
  Conjunction all;
  all.choices = {parts.Holds("")};
  const absl::StatusOr<bool> fits = parts.checker.Fits(value, all, Merge(parts.logic, all));
  EXPECT_EQ(fits.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(std::string(fits.status().message()).find("source_depth") != std::string::npos);
}

TEST(ValueCheck, WithoutBudgetThereIsNoVerdict) {
  SchemaParts parts(R"({"items":{"minimum":1}})", Limits(), Budget(Budget::Bounds{.work = 300}));
  std::string array = "[1";
  for (int i = 0; i < 5000; ++i) array += ",1";
  Conjunction all;
  all.choices = {parts.Holds("")};
  const JsonValue value = parts.Value(array + "]");
  EXPECT_EQ(parts.checker.Fits(value, all, Merge(parts.logic, all)).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
