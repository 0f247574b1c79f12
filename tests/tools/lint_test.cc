// The rules of maskctl lint that need no server.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tools/cli/lint/provider_rules.h"
#include "tools/cli/lint/shape_rules.h"
#include "tools/cli/lint/subschemas.h"

namespace maskd::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Json = nlohmann::ordered_json;

// "rule place" of each finding.
std::vector<std::string> Names(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& each : findings) names.push_back(absl::StrCat(each.rule, " ", each.place));
  return names;
}

template <typename Find>
std::vector<std::string> Found(const std::string& schema, Find find) {
  const Json json = Json::parse(schema);
  std::vector<Finding> findings;
  find(FindSubschemas(json, ""), &findings);
  return Names(findings);
}

std::vector<std::string> Refused(const char* provider, const std::string& schema) {
  return Found(schema, [&](const Subschemas& schemas, std::vector<Finding>* findings) {
    FindRefusals(provider, schemas, Severity::kError, findings);
  });
}

TEST(SubschemasTest, AreFoundUnderEveryKeyword) {
  const Json schema = Json::parse(R"({
    "properties": {"a/b": {"items": [true, {"not": {}}]}}, "$defs": {"d": {"if": {}, "then": {}}},
    "anyOf": [{"prefixItems": [{"contains": {}}]}], "additionalProperties": false,
    "enum": [{"properties": {"no": {}}}], "dependentSchemas": {"x": {}}})");
  std::vector<std::string> places;
  for (const Subschema& each : FindSubschemas(schema, "/s").all) places.push_back(each.place);
  EXPECT_THAT(places,
              UnorderedElementsAre("/s", "/s/properties/a~1b", "/s/properties/a~1b/items/0",
                                   "/s/properties/a~1b/items/1", "/s/properties/a~1b/items/1/not",
                                   "/s/$defs/d", "/s/$defs/d/if", "/s/$defs/d/then", "/s/anyOf/0",
                                   "/s/anyOf/0/prefixItems/0", "/s/anyOf/0/prefixItems/0/contains",
                                   "/s/additionalProperties", "/s/dependentSchemas/x"));
}

TEST(SubschemasTest, AreBounded) {
  Json schema;
  for (std::size_t i = 0; i <= kMostSubschemas; ++i) schema["anyOf"].push_back(true);
  const Subschemas found = FindSubschemas(schema, "");
  EXPECT_EQ(found.all.size(), kMostSubschemas);
  EXPECT_FALSE(found.is_complete);
}

TEST(ShapeRulesTest, PlacesWithoutABoundAreFound) {
  EXPECT_THAT(Found(R"({"type": "object", "properties": {"s": {"type": "string"},
                        "a": {"type": ["array", "null"]}, "n": {"type": "integer"}}})",
                    FindOpenPlaces),
              UnorderedElementsAre("open-object ", "open-string /properties/s",
                                   "open-array /properties/a"));
}

TEST(ShapeRulesTest, BoundedPlacesAreNot) {
  EXPECT_THAT(Found(R"({"type": "object", "additionalProperties": false, "properties": {
                        "s": {"type": "string", "maxLength": 3},
                        "p": {"type": "string", "pattern": "x"},
                        "e": {"type": "string", "enum": ["a"]},
                        "f": {"type": "string", "format": "date"},
                        "a": {"type": "array", "maxItems": 2},
                        "t": {"type": "array", "prefixItems": [true], "items": false}}})",
                    FindOpenPlaces),
              IsEmpty());
}

TEST(ShapeRulesTest, DeadValuesAndMembersAreFound) {
  EXPECT_THAT(
      Found(R"({"type": "object", "additionalProperties": false, "required": ["n", "gone"],
                "properties": {"n": {"type": "integer", "enum": [1, 2.0, 1.5, "x"]},
                               "c": {"type": "string", "const": 1}, "f": false}})",
            FindDeadValues),
      UnorderedElementsAre("dead-value /properties/n/enum/2", "dead-value /properties/n/enum/3",
                           "dead-value /properties/c/const", "dead-member /properties/f",
                           "excluded-name /required/1"));
}

TEST(ProviderRulesTest, OpenAiWantsClosedObjectsOfRequiredMembers) {
  EXPECT_THAT(Refused("openai", R"({"type": "object", "properties": {"a": {"type": "string"}}})"),
              ElementsAre("openai-open-object ", "openai-optional-member /properties/a"));
  EXPECT_THAT(Refused("openai", R"({"type": "object", "properties": {"a": {"type": "string"}},
                                    "required": ["a"], "additionalProperties": false})"),
              IsEmpty());
}

TEST(ProviderRulesTest, OpenAiWantsAnObjectAtTheRoot) {
  EXPECT_THAT(Refused("openai", R"({"type": "array"})"), ElementsAre("openai-root "));
  EXPECT_THAT(Refused("openai", R"({"anyOf": []})"), ElementsAre("openai-root /anyOf"));
}

TEST(ProviderRulesTest, KeywordsAreRefusedWhereTheyStand) {
  const std::string schema = R"({"type": "object", "additionalProperties": false, "required": ["n"],
      "properties": {"n": {"type": "integer", "minimum": 1, "not": {"const": 3}}}})";
  EXPECT_THAT(Refused("openai", schema), ElementsAre("openai-keyword /properties/n/not"));
  EXPECT_THAT(Refused("anthropic", schema),
              UnorderedElementsAre("anthropic-keyword /properties/n/minimum",
                                   "anthropic-keyword /properties/n/not"));
}

TEST(ProviderRulesTest, AnthropicRefusesRecursionAndLongLists) {
  EXPECT_THAT(Refused("anthropic", R"({"$defs": {"a": {"items": {"$ref": "#/$defs/b"}},
                                                  "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}})"),
              UnorderedElementsAre("anthropic-recursion /$defs/a/items/$ref",
                                   "anthropic-recursion /$defs/b/anyOf/0/$ref"));
  EXPECT_THAT(
      Refused("anthropic", R"({"type": "array", "minItems": 2, "items": {"$ref": "http://x"}})"),
      UnorderedElementsAre("anthropic-keyword /minItems", "anthropic-reference /items/$ref"));
  EXPECT_THAT(Refused("anthropic", R"({"enum": [1, "a", null]})"), IsEmpty());
  EXPECT_THAT(Refused("anthropic", R"({"enum": [[1]]})"), ElementsAre("anthropic-keyword /enum"));
}

TEST(ProviderRulesTest, SizesAreBounded) {
  Json schema = {{"type", "object"}, {"additionalProperties", false}};
  for (int i = 0; i <= 5'000; ++i) {
    schema["properties"][absl::StrCat("p", i)] = true;
    schema["required"].push_back(absl::StrCat("p", i));
  }
  EXPECT_THAT(Refused("openai", schema.dump()), ElementsAre("openai-size "));
  schema.erase("required");
  EXPECT_THAT(Refused("anthropic", schema.dump()), ElementsAre("anthropic-size "));
}

}  // namespace
}  // namespace maskd::cli
