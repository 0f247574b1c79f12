// Which schemas certainly evaluate something: by hand, from JSON Schema Core 2020-12, section 11.
#include "grammar_core/frontend/json_schema/logic/sure_evaluators.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "tests/json_schema/logic/schema_parts.h"

namespace maskd {
namespace {

// Of the root schema, as pointers; "depends" where there is no answer. The schema `true` and {}
// always hold.
std::string EvaluatorsOf(const SchemaSet& schemas, TypeSet type) {
  const auto always_holds = [&](JsonId schema) { return schemas.view(schema).is_true(); };
  const auto pay = [](JsonId) { return true; };
  const auto found = FindSureEvaluators(schemas, schemas.root().id(), type, always_holds, pay);
  if (!found.has_value()) return "depends";
  std::vector<std::string> pointers;
  for (const JsonId id : *found) pointers.push_back("#" + schemas.root().at(id).Pointer());
  std::ranges::sort(pointers);
  return absl::StrJoin(pointers, ", ");
}

struct EvaluatorsCase {
  const char* name;
  TypeSet type;
  const char* schema;
  const char* evaluators;
};

class SureEvaluatorsTest : public testing::TestWithParam<EvaluatorsCase> {};

TEST_P(SureEvaluatorsTest, AreThese) {
  Budget budget = Budget::Unlimited();
  const SchemaSet schemas = LoadSchemas(GetParam().schema, Limits(), budget);
  EXPECT_EQ(EvaluatorsOf(schemas, GetParam().type), GetParam().evaluators);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, SureEvaluatorsTest,
    testing::ValuesIn(std::vector<EvaluatorsCase>{
        {"Itself", kObjectType, R"({"properties":{"a":true},"unevaluatedProperties":false})", "#"},
        {"AllOf", kObjectType,
         R"({"allOf":[{"properties":{"a":true}},{"patternProperties":{"b":true}}]})",
         "#, #/allOf/0, #/allOf/1"},
        {"AllOfWithin", kObjectType, R"({"allOf":[{"allOf":[{"additionalProperties":true}]}]})",
         "#, #/allOf/0, #/allOf/0/allOf/0"},
        {"Ref", kObjectType, R"({"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":true}}}})",
         "#, #/$defs/x"},
        {"WithoutMembers", kObjectType, R"({"allOf":[{"required":["a"]}]})", "#"},
        {"AnyOfWithoutMembers", kObjectType,
         R"({"anyOf":[{"required":["a"]},{"minProperties":2}]})", "#"},
        {"AnyOf", kObjectType, R"({"anyOf":[{"properties":{"a":{"minimum":1}}},{"type":"null"}]})",
         "depends"},
        {"OneOf", kObjectType, R"({"oneOf":[{"properties":{"a":true}},{"type":"null"}]})",
         "depends"},
        {"If", kObjectType, R"({"if":{"properties":{"a":{"const":1}}},"then":{"minProperties":1}})",
         "depends"},
        {"Then", kObjectType, R"({"if":{"required":["a"]},"then":{"properties":{"b":true}}})",
         "depends"},
        {"DependentSchemas", kObjectType, R"({"dependentSchemas":{"a":{"properties":{"b":true}}}})",
         "depends"},
        {"Not", kObjectType, R"({"not":{"properties":{"a":{"minimum":1}}}})", "#"},
        {"ItemsOfAnObject", kObjectType, R"({"anyOf":[{"items":true},{"type":"null"}]})", "#"},
        {"Items", kArrayType, R"({"allOf":[{"prefixItems":[true]},{"items":{"minimum":1}}]})",
         "#, #/allOf/0, #/allOf/1"},
        {"AnyOfItems", kArrayType, R"({"anyOf":[{"items":{"minimum":1}},{"minItems":2}]})",
         "depends"},
        {"MembersOfAnArray", kArrayType,
         R"({"anyOf":[{"properties":{"a":{"minimum":1}}},{"minItems":2}]})", "#"},
        {"Contains", kArrayType, R"({"contains":{"minimum":1}})", "depends"},
        {"ContainsInAllOf", kArrayType, R"({"allOf":[{"contains":{"minimum":1}}]})", "depends"},
        {"ContainsBefore2020", kArrayType,
         R"({"$schema":"https://json-schema.org/draft/2019-09/schema","contains":{"minimum":1}})",
         "#"},
        {"UnevaluatedWithin", kObjectType, R"({"anyOf":[{"unevaluatedProperties":{"minimum":1}},
            {"minProperties":2}]})",
         "depends"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(SureEvaluators, ABranchThatAlwaysHoldsIsSure) {
  Budget budget = Budget::Unlimited();
  const SchemaSet schemas =
      LoadSchemas(R"({"anyOf":[{"properties":{"a":true}},{"required":["b"]}]})", Limits(), budget);
  const JsonId branch = schemas.root().Find("anyOf")->Nth(0)->id();
  const auto pay = [](JsonId) { return true; };
  const auto found = FindSureEvaluators(
      schemas, schemas.root().id(), kObjectType, [&](JsonId id) { return id == branch; }, pay);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, (std::vector<JsonId>{schemas.root().id(), branch}));
}

TEST(SureEvaluators, TheSearchEndsWhereNobodyPays) {
  Budget budget = Budget::Unlimited();
  const SchemaSet schemas =
      LoadSchemas(R"({"allOf":[{"properties":{"a":true}}]})", Limits(), budget);
  const auto never = [](JsonId) { return false; };
  EXPECT_FALSE(
      FindSureEvaluators(schemas, schemas.root().id(), kObjectType, never, never).has_value());
}

// The number of items, or "all".
std::string ItemsEvaluated(const char* schema) {
  Budget budget = Budget::Unlimited();
  const SchemaSet schemas = LoadSchemas(schema, Limits(), budget);
  const JsonId root = schemas.root().id();
  const auto never = [](JsonId) { return false; };
  const auto pay = [](JsonId) { return true; };
  const auto evaluators = FindSureEvaluators(schemas, root, kArrayType, never, pay);
  const auto count = EvaluatedItems(schemas, root, evaluators.value());
  return count.has_value() ? std::to_string(*count) : "all";
}

TEST(EvaluatedItems, AreTheLongestPrefixOrAll) {
  EXPECT_EQ(ItemsEvaluated(R"({"unevaluatedItems":false})"), "0");
  EXPECT_EQ(ItemsEvaluated(R"({"prefixItems":[true],"unevaluatedItems":false})"), "1");
  EXPECT_EQ(ItemsEvaluated(R"({"prefixItems":[true],"allOf":[{"prefixItems":[true,true,true]},
                              {"prefixItems":[true,true]}],"unevaluatedItems":false})"),
            "3");
  EXPECT_EQ(ItemsEvaluated(R"({"allOf":[{"items":{"minimum":1}}],"unevaluatedItems":false})"),
            "all");
  EXPECT_EQ(ItemsEvaluated(R"({"allOf":[{"unevaluatedItems":{"minimum":1}}],
                              "unevaluatedItems":false})"),
            "all");
}

}  // namespace
}  // namespace maskd
