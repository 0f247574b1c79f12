// Where a JSON text stands, and which rules of a schema speak there.
#include "reasons/schema_rules.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reasons/json_position.h"

namespace maskd::reasons {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct WhereCase {
  std::string name;
  std::string text;
  std::string where;
};

class JsonPositionTest : public testing::TestWithParam<WhereCase> {};

TEST_P(JsonPositionTest, SaysWhereTheTextStands) {
  EXPECT_EQ(DescribePosition(FindJsonPosition(GetParam().text)), GetParam().where);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, JsonPositionTest,
    testing::ValuesIn(std::vector<WhereCase>{
        {"Nothing", "", "where a value begins at the root"},
        {"OpenObject", "{", "where a member's name stands, in the object at the root"},
        {"InAName", R"({"a)", "where a member's name stands, in the object at the root"},
        {"BehindAName", R"({"a")", "behind the name of the member /a"},
        {"Value", R"({"a": )", "where a value begins /a"},
        {"InAString", R"({"a": "x)", "in the string /a"},
        {"InAStringWithAnEscapedQuote", R"({"a": "x\")", "in the string /a"},
        {"BehindAString", R"({"a": "x")", "behind a member of the object at the root"},
        {"InANumber", R"({"a": [1, 2)", "in the number or word /a/1"},
        {"BehindANumber", R"({"a": [1, 2 )", "behind an item of the array /a"},
        {"NextItem", R"({"a": [1, )", "where a value begins /a/1"},
        {"NextName", R"({"a": {"b/c": 1, )", "where a member's name stands, in the object /a"},
        {"EscapedPointer", R"({"b/c": )", "where a value begins /b~1c"},
        {"Closed", R"({"a": {"b": 1}})", "behind the whole value"},
        {"BracketsInAString", R"(["[{", )", "where a value begins /1"},
    }),
    [](const auto& test) { return test.param.name; });

std::vector<std::string> PlacesOf(const std::string& schema, const std::string& text,
                                  const std::string& pointer = "") {
  std::vector<std::string> places;
  const auto json = nlohmann::ordered_json::parse(schema);
  for (const SchemaRule& rule : FindRules(json, pointer, FindJsonPosition(text)))
    places.push_back(rule.place);
  return places;
}

TEST(SchemaRulesTest, AStringHasTheRulesOfItsMember) {
  EXPECT_THAT(
      PlacesOf(R"({"properties": {"a": {"type": "string", "maxLength": 3}}})", R"({"a": "x)"),
      ElementsAre("/properties/a/maxLength", "/properties/a/type"));
}

TEST(SchemaRulesTest, BehindAMemberTheObjectsOwnRulesSpeak) {
  EXPECT_THAT(PlacesOf(R"({"required": ["a", "b"], "maxProperties": 2})", R"({"a": "x")"),
              ElementsAre("/required", "/maxProperties"));
}

TEST(SchemaRulesTest, ReferencesAndBranchesAreFollowed) {
  const std::string schema = R"({
    "anyOf": [{"$ref": "#/$defs/a~1b"}, {"properties": {"n": {"enum": [1]}}}],
    "$defs": {"a/b": {"properties": {"n": {"type": "integer"}}}}})";
  EXPECT_THAT(PlacesOf(schema, R"({"n": )"),
              ElementsAre("/$defs/a~1b/properties/n/type", "/anyOf/1/properties/n/enum"));
}

TEST(SchemaRulesTest, ACircleEnds) {
  const std::string schema = R"({"$ref": "#", "items": {"$ref": "#"}, "type": "array"})";
  EXPECT_THAT(PlacesOf(schema, "[[["), ElementsAre("/type"));
}

TEST(SchemaRulesTest, PatternsAndAdditionalPropertiesHoldForTheirNames) {
  const std::string schema =
      R"({"patternProperties": {"^x": {"type": "null"}}, "additionalProperties": {"type": "array"}})";
  EXPECT_THAT(PlacesOf(schema, R"({"xy": )"), ElementsAre("/patternProperties/^x/type"));
  EXPECT_THAT(PlacesOf(schema, R"({"y": )"), ElementsAre("/additionalProperties/type"));
}

TEST(SchemaRulesTest, ItemsHaveTheRulesOfTheirPlace) {
  const std::string schema = R"({"prefixItems": [{"const": 1}], "items": {"type": "string"}})";
  EXPECT_THAT(PlacesOf(schema, "["), ElementsAre("/prefixItems/0/const"));
  EXPECT_THAT(PlacesOf(schema, "[1, "), ElementsAre("/items/type"));
  EXPECT_THAT(PlacesOf(R"({"items": [{"const": 1}], "additionalItems": false})", "[1, "),
              ElementsAre("/additionalItems"));
}

TEST(SchemaRulesTest, TheSchemaMayStandWithinTheSource) {
  const std::string source = R"({"json_schema": {"schema": {"type": "object"}}})";
  EXPECT_THAT(PlacesOf(source, "", "/json_schema/schema"), ElementsAre("/json_schema/schema/type"));
  EXPECT_THAT(PlacesOf(source, "", "/json_schema/none"), IsEmpty());
}

TEST(SchemaRulesTest, RulesAreBounded) {
  nlohmann::ordered_json schema;
  for (int i = 0; i < 10'000; ++i) schema["anyOf"].push_back({{"type", "null"}});
  EXPECT_EQ(PlacesOf(schema.dump(), "").size(), kMostRules);
}

}  // namespace
}  // namespace maskd::reasons
