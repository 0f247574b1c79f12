// Which schemas are one: those that say the same, and none that mean something else.
#include "grammar_core/frontend/json_schema/reading/equal_schemas.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/json_schema/reading/schema_set.h"
#include "tests/json_schema/reading/pointers.h"

namespace maskd {
namespace {

TEST(EqualSchemasTest, ByDefaultEachStandsForItself) {
  const EqualSchemas none;
  for (const JsonId id : {0U, 1U, 7U}) EXPECT_EQ(none.FirstOf(id), id);
}

// The schemas `x` and `y`, and $defs that both may refer to.
struct PairCase {
  const char* name;
  std::string x;
  std::string y;
};

class PairTest : public testing::TestWithParam<PairCase> {
 protected:
  // Checks whether y's first is x.
  static void ExpectEqual(const PairCase& pair, bool equal) {
    const Limits limits;
    Budget budget = Budget::Unlimited();
    const std::vector<GrammarSource::Document> given;
    JsonDocument document = *JsonDocument::Parse(
        absl::StrCat(
            R"({"properties":{"x":)", pair.x, ",\"y\":", pair.y,
            R"(,"z":{"$ref":"#/$defs/s"}},"$defs":{"s":{"minLength":3},"t":{"minLength":4}}})"),
        limits);
    const Dialect dialect;
    const auto set = SchemaSet::Load({std::move(document), given, dialect, limits, budget}, dialect,
                                     Formats::kByDraft, budget);
    ASSERT_TRUE(set.ok()) << set.status();
    const JsonId x = ValueAt(set->root(), "/properties/x").id();
    const JsonId y = ValueAt(set->root(), "/properties/y").id();
    EXPECT_EQ(set->FirstOf(x) == set->FirstOf(y), equal);
    for (const JsonId id : {x, y}) {
      const JsonId first = set->FirstOf(id);
      EXPECT_EQ(set->FirstOf(first), first) << "a first one stands for itself";
    }
  }
};

class EqualTest : public PairTest {};

TEST_P(EqualTest, AreOne) { ExpectEqual(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(
    Pairs, EqualTest,
    testing::ValuesIn(std::vector<PairCase>{
        {"SameText", R"({"type":"string","minLength":1})", R"({"type":"string","minLength":1})"},
        {"WhiteSpace", R"({"enum":[1,"a b"]})", R"({ "enum" : [1 , "a b"] })"},
        {"Annotations", R"({"minLength":1})",
         R"({"title":"t","minLength":1,"default":5,"$comment":""})"},
        {"AnnotationsWithin", R"({"items":{"anyOf":[{"minLength":1},true]}})",
         R"({"items":{"description":"d","anyOf":[{"examples":[],"minLength":1},true]}})"},
        {"Booleans", R"({"not":true})", R"({"not":true})"},
        {"Bare", "true", "true"},
        {"Reference", R"({"$ref":"#/$defs/s"})", R"({"minLength":3})"},
        {"ReferenceWithATitle", R"({"title":"t","$ref":"#/$defs/s"})", R"({"minLength":3})"},
        {"AllOfOne", R"({"allOf":[{"minLength":2}]})", R"({"minLength":2})"},
        {"AllOfAReference", R"({"allOf":[{"$ref":"#/$defs/s"}]})", R"({"$ref":"#/$defs/s"})"},
        {"ReferenceToABare", R"({"allOf":[true]})", "true"},
        {"SameReferences", R"({"items":{"$ref":"#/$defs/s"}})",
         R"({"items":{"$ref":"#/$defs/s"}})"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

class UnequalTest : public PairTest {};

TEST_P(UnequalTest, AreTwo) { ExpectEqual(GetParam(), false); }

INSTANTIATE_TEST_SUITE_P(
    Pairs, UnequalTest,
    testing::ValuesIn(std::vector<PairCase>{
        {"Value", R"({"minLength":1})", R"({"minLength":2})"},
        {"Keyword", R"({"minLength":1})", R"({"minItems":1})"},
        {"OneMore", R"({"minLength":1})", R"({"minLength":1,"type":"string"})"},
        {"TrueAndFalse", "true", "false"},
        {"FalseAndEmpty", "false", "{}"},
        {"TypesOfConst", R"({"const":"1"})", R"({"const":1})"},
        {"KeysOfConst", R"({"const":{"title":1}})", R"({"const":{"title":2}})"},
        {"KeysOfEnum", R"({"enum":[{"description":"a"}]})", R"({"enum":[{"description":"b"}]})"},
        {"MembersNamedAsAnnotations", R"({"properties":{"title":{"minLength":1}}})",
         R"({"properties":{"title":{"minLength":2}}})"},
        {"NamesOfMembers", R"({"properties":{"a":{"minLength":1}}})",
         R"({"properties":{"b":{"minLength":1}}})"},
        {"BareMembers", R"({"properties":{"a":true,"b":false}})",
         R"({"properties":{"a":false,"b":true}})"},
        {"Patterns", R"({"patternProperties":{"a":{}}})", R"({"patternProperties":{"b":{}}})"},
        {"OrderOfItems", R"({"prefixItems":[{"minLength":1},{}]})",
         R"({"prefixItems":[{},{"minLength":1}]})"},
        {"OneItemAndAList", R"({"items":{"minLength":1}})", R"({"items":[{"minLength":1}]})"},
        {"ItemsBehindAList", R"({"items":[{}],"additionalItems":false})",
         R"({"items":[{}],"additionalItems":true})"},
        {"ThenAndElse", R"({"if":{"minLength":1},"then":{"minLength":2}})",
         R"({"if":{"minLength":1},"else":{"minLength":2}})"},
        {"AnyOfAndOneOf", R"({"anyOf":[{"minLength":1},{"minLength":2}]})",
         R"({"oneOf":[{"minLength":1},{"minLength":2}]})"},
        {"NotAndItself", R"({"not":{"minLength":1}})", R"({"minLength":1})"},
        {"References", R"({"$ref":"#/$defs/s"})", R"({"$ref":"#/$defs/t"})"},
        {"ReferencesBesideMore", R"({"$ref":"#/$defs/s","maxLength":9})",
         R"({"$ref":"#/$defs/t","maxLength":9})"},
        {"ReferenceAndMore", R"({"$ref":"#/$defs/s","maxLength":9})", R"({"$ref":"#/$defs/s"})"},
        {"ReferencesWithin", R"({"items":{"$ref":"#/$defs/s"}})",
         R"({"items":{"$ref":"#/$defs/t"}})"},
        {"NotOfReferences", R"({"not":{"$ref":"#/$defs/s"}})", R"({"not":{"$ref":"#/$defs/t"}})"},
        {"Dependencies", R"({"dependencies":{"a":["b"],"c":{"minLength":1}}})",
         R"({"dependencies":{"a":["d"],"c":{"minLength":1}}})"},
        {"Nullable", R"({"type":"string","nullable":true})", R"({"type":"string"})"},
        {"AnnotationsAndNullable", R"({"type":"string","nullable":true})",
         R"({"type":"string","nullable":false})"},
        {"Drafts",
         R"({"$id":"http://x.example/x","$schema":"http://json-schema.org/draft-06/schema#",
             "if":{"minLength":1},"then":false})",
         R"({"if":{"minLength":1},"then":false})"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace maskd
