// The table of keywords against the drafts' own meta-schemas.
#include "grammar_core/frontend/json_schema/reading/keywords.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/reading/standard_schemas.h"
#include "tests/json_schema/reading/pointers.h"

namespace maskd {
namespace {

using Names = std::set<std::string>;

// The keywords that a meta-schema describes.
Names NamesIn(const std::string& uri) {
  const auto text = FindStandardSchema(uri);
  if (!text.has_value()) ADD_FAILURE() << uri;
  const auto document = JsonDocument::Parse(text.value_or("{}"), Limits());
  const auto properties = document->root().Find("properties");
  Names names;
  if (!properties.has_value()) return names;
  for (const JsonValue member : properties->children()) names.insert(std::string(member.key()));
  return names;
}

const std::string kUri2019 = "https://json-schema.org/draft/2019-09/";
const std::string kUri2020 = "https://json-schema.org/draft/2020-12/";

Names NamesOf(SchemaDraft draft) {
  std::vector<std::string> uris;
  Names names;
  switch (draft) {
    case SchemaDraft::k4:
      uris = {"http://json-schema.org/draft-04/schema"};
      names = {"$ref"};  // of JSON Reference, so not in there
      break;
    case SchemaDraft::k6:
      uris = {"http://json-schema.org/draft-06/schema"};
      break;
    case SchemaDraft::k7:
      uris = {"http://json-schema.org/draft-07/schema"};
      break;
    case SchemaDraft::k2019:
      for (const char* part : {"schema", "meta/core", "meta/applicator", "meta/validation",
                               "meta/meta-data", "meta/format", "meta/content"})
        uris.push_back(kUri2019 + part);
      break;
    case SchemaDraft::k2020:
      for (const char* part :
           {"schema", "meta/core", "meta/applicator", "meta/unevaluated", "meta/validation",
            "meta/meta-data", "meta/format-annotation", "meta/content"})
        uris.push_back(kUri2020 + part);
      break;
  }
  for (const std::string& uri : uris) names.merge(NamesIn(uri));
  // There as deprecated: $dynamicRef has taken its place.
  if (draft == SchemaDraft::k2020) names.erase("$recursiveRef");
  return names;
}

constexpr SchemaDraft kDrafts[] = {SchemaDraft::k4, SchemaDraft::k6, SchemaDraft::k7,
                                   SchemaDraft::k2019, SchemaDraft::k2020};

// What only describes is an annotation in every draft.
TEST(FindKeywordTest, EachDraftHasThoseOfItsMetaSchema) {
  Names all;
  for (const SchemaDraft draft : kDrafts) all.merge(NamesOf(draft));
  for (const SchemaDraft draft : kDrafts) {
    const Names here = NamesOf(draft);
    for (const std::string& name : all) {
      const KeywordRow* row = FindKeyword(name, {.draft = draft, .named = true});
      EXPECT_TRUE(row != nullptr || !here.contains(name)) << name << static_cast<int>(draft);
      if (row == nullptr) continue;
      EXPECT_EQ(row->name, name);
      EXPECT_TRUE(row->first <= draft && draft <= row->last) << name;
      EXPECT_TRUE(here.contains(name) || row->keyword == Keyword::kAnnotation)
          << name << static_cast<int>(draft);
    }
  }
}

TEST(FindKeywordTest, OtherNamesAreUnknown) {
  for (const SchemaDraft draft : kDrafts)
    for (const char* name : {"", "Type", "types", "x-order", "extends", "ref", "nullable"})
      EXPECT_EQ(FindKeyword(name, {.draft = draft, .named = true}), nullptr) << name;
}

TEST(FindKeywordTest, AListInItemsMayHaveAdditionalItemsWhereNoDraftIsNamed) {
  EXPECT_NE(FindKeyword("additionalItems", Dialect()), nullptr);
  EXPECT_NE(FindKeyword("prefixItems", Dialect()), nullptr);
  EXPECT_EQ(FindKeyword("additionalItems", {.draft = SchemaDraft::k2020, .named = true}), nullptr);
}

TEST(FindKeywordTest, ExclusiveBoundsAreBooleansInDraft4) {
  for (const char* name : {"exclusiveMinimum", "exclusiveMaximum"}) {
    for (const SchemaDraft draft : kDrafts) {
      const KeywordRow* row = FindKeyword(name, {.draft = draft, .named = true});
      ASSERT_NE(row, nullptr) << name;
      EXPECT_EQ(row->shape, draft == SchemaDraft::k4 ? Shape::kBoolean : Shape::kNumber);
    }
  }
}

// A keyword of a vocabulary that is left out is unknown; annotations stay what they are.
TEST(FindKeywordTest, KeywordsGoWithTheirVocabulary) {
  const std::map<SchemaVocabulary, std::string> parts = {
      {SchemaVocabulary::kApplicator, "meta/applicator"},
      {SchemaVocabulary::kUnevaluated, "meta/unevaluated"},
      {SchemaVocabulary::kValidation, "meta/validation"},
      {SchemaVocabulary::kFormat, "meta/format-annotation"}};
  Names all = NamesOf(SchemaDraft::k2020);
  all.erase("dependencies");  // of no vocabulary any more
  for (const auto& [vocabulary, part] : parts) {
    const Names gone = NamesIn(kUri2020 + part);
    const auto bit = static_cast<std::uint8_t>(1U << static_cast<int>(vocabulary));
    for (const std::string& name : all) {
      const KeywordRow* row = FindKeyword(name, {.named = true, .left_out = bit});
      EXPECT_EQ(row == nullptr, gone.contains(name)) << name << " without " << part;
    }
  }
}

TEST(DomainOfTest, AreTheTypesOfTheSpecification) {
  const std::map<TypeSet, std::vector<Keyword>> wanted = {
      {kNumberType,
       {Keyword::kMultipleOf, Keyword::kMaximum, Keyword::kExclusiveMaximum, Keyword::kMinimum,
        Keyword::kExclusiveMinimum}},
      {kStringType,
       {Keyword::kMaxLength, Keyword::kMinLength, Keyword::kPattern, Keyword::kFormat}},
      {kArrayType,
       {Keyword::kItems, Keyword::kPrefixItems, Keyword::kAdditionalItems, Keyword::kMaxItems,
        Keyword::kMinItems, Keyword::kUniqueItems, Keyword::kContains, Keyword::kMaxContains,
        Keyword::kMinContains, Keyword::kUnevaluatedItems}},
      {kObjectType,
       {Keyword::kProperties, Keyword::kPatternProperties, Keyword::kAdditionalProperties,
        Keyword::kPropertyNames, Keyword::kMaxProperties, Keyword::kMinProperties,
        Keyword::kRequired, Keyword::kDependencies, Keyword::kDependentRequired,
        Keyword::kDependentSchemas, Keyword::kUnevaluatedProperties}},
      {kEveryType,
       {Keyword::kType, Keyword::kEnum, Keyword::kConst, Keyword::kRef, Keyword::kDynamicRef,
        Keyword::kRecursiveRef, Keyword::kAllOf, Keyword::kAnyOf, Keyword::kOneOf, Keyword::kNot,
        Keyword::kIf, Keyword::kThen, Keyword::kElse}},
      {kNoType, {Keyword::kAnnotation}}};
  std::set<Keyword> seen;
  for (const auto& [types, keywords] : wanted) {
    for (const Keyword keyword : keywords) {
      EXPECT_EQ(DomainOf(keyword), types) << static_cast<int>(keyword);
      seen.insert(keyword);
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(Keyword::kAnnotation) + 1);
}

TEST(IsFacetTest, WhatBoundsOneStringOrNumber) {
  const std::set<Keyword> facets = {
      Keyword::kConst,   Keyword::kEnum,    Keyword::kExclusiveMaximum,
      Keyword::kFormat,  Keyword::kMaximum, Keyword::kExclusiveMinimum,
      Keyword::kMinimum, Keyword::kPattern, Keyword::kMultipleOf};
  for (int number = 0; number <= static_cast<int>(Keyword::kAnnotation); ++number) {
    const auto keyword = static_cast<Keyword>(number);
    EXPECT_EQ(IsFacet(keyword), facets.contains(keyword)) << number;
  }
}

struct ShapeCase {
  const char* name;
  Shape shape;
  std::vector<std::string> right;
  // Values, and where each is wrong.
  std::vector<std::pair<std::string, std::string>> wrong = {};
};

class CheckShapeTest : public testing::TestWithParam<ShapeCase> {};

TEST_P(CheckShapeTest, TellsWhereAValueIsWrong) {
  const KeywordRow row = {
      "k", Keyword::kAnnotation, SchemaDraft::k4, SchemaDraft::k2020, GetParam().shape, kNoType};
  const auto check = [&](const std::string& value) {
    const auto document = JsonDocument::Parse(absl::StrCat("{\"k\":", value, "}"), Limits());
    return CheckShape(row, *document->root().Find("k"));
  };
  for (const std::string& value : GetParam().right) EXPECT_TRUE(check(value).ok()) << value;
  for (const auto& [value, place] : GetParam().wrong) {
    const absl::Status status = check(value);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << value;
    EXPECT_EQ(ErrorPlace(status), "/k" + place) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CheckShapeTest,
    testing::ValuesIn(std::vector<ShapeCase>{
        {"Anything", Shape::kAnything, {"null", "7", "[]", R"({"type":5})"}},
        {"Schema",
         Shape::kSchema,
         {"{}", "true", "false", R"({"type":5})"},
         {{"[]", ""}, {"null", ""}, {"1", ""}, {R"("{}")", ""}}},
        {"SchemaList",
         Shape::kSchemaList,
         {"[{}]", "[true,false]", R"([{"type":5}])"},
         {{"[]", ""}, {"{}", ""}, {"true", ""}, {"[{},1]", "/1"}, {"[[{}]]", "/0"}}},
        {"SchemaMap",
         Shape::kSchemaMap,
         {"{}", R"({"a":{},"b":false})", R"({"a":{"type":5}})"},
         {{"[]", ""}, {"true", ""}, {R"({"a":{},"b/c":[]})", "/b~1c"}}},
        {"SchemaOrList",
         Shape::kSchemaOrList,
         {"{}", "true", "[]", "[{},true]"},
         {{"null", ""}, {R"("x")", ""}, {"[{},null]", "/1"}}},
        {"Dependencies",
         Shape::kDependencies,
         {"{}", R"({"a":["b"],"c":[],"d":{},"e":true})"},
         {{"[]", ""}, {R"({"a":"b"})", "/a"}, {R"({"a":{},"b":["c",1]})", "/b/1"}}},
        {"StringListMap",
         Shape::kStringListMap,
         {"{}", R"({"a":["b"],"c":[]})"},
         {{"[]", ""}, {R"({"a":{}})", "/a"}, {R"({"a":["b",{}]})", "/a/1"}}},
        {"StringList",
         Shape::kStringList,
         {"[]", R"(["a",""])"},
         {{R"("a")", ""}, {"{}", ""}, {R"(["a",null])", "/1"}}},
        {"String", Shape::kString, {R"("")"}, {{"1", ""}, {"null", ""}, {R"(["a"])", ""}}},
        {"List", Shape::kList, {"[null]", "[[],1]"}, {{"[]", ""}, {"{}", ""}, {R"("a")", ""}}},
        {"Object", Shape::kObject, {"{}", R"({"a":1})"}, {{"[]", ""}, {"true", ""}}},
        {"Boolean", Shape::kBoolean, {"true", "false"}, {{"0", ""}, {R"("true")", ""}}},
        {"Number", Shape::kNumber, {"0", "-1.5e300", "1e-400"}, {{R"("1")", ""}, {"true", ""}}},
        {"PositiveNumber",
         Shape::kPositiveNumber,
         {"1", "0.1", "1e-400"},
         {{"0", ""}, {"-0.0", ""}, {"0e5", ""}, {"-1", ""}, {R"("1")", ""}}},
        {"Count",
         Shape::kCount,
         {"0", "-0", "2.0", "1e2", "150e-1", "4294967296", "1e400"},
         {{"-1", ""}, {"1.5", ""}, {"1e-1", ""}, {R"("1")", ""}, {"null", ""}}},
        {"Type",
         Shape::kType,
         {R"("null")", R"(["string","null"])"},
         {{R"("any")", ""},
          {"[]", ""},
          {"1", ""},
          {R"(["null","x"])", "/1"},
          {R"([["null"]])", "/0"}}},
    }),
    [](const auto& test) { return std::string(test.param.name); });

struct SubschemasCase {
  const char* name;
  Shape shape;
  const char* value;
  std::vector<std::string> wanted;
};

class SubschemasOfTest : public testing::TestWithParam<SubschemasCase> {};

TEST_P(SubschemasOfTest, AreThese) {
  const auto document =
      JsonDocument::Parse(absl::StrCat("{\"k\":", GetParam().value, "}"), Limits());
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(PointersOf(SubschemasOf(GetParam().shape, *document->root().Find("k"))),
            GetParam().wanted);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SubschemasOfTest,
    testing::ValuesIn(std::vector<SubschemasCase>{
        {"Schema", Shape::kSchema, R"({"not":{}})", {"/k"}},
        {"Boolean", Shape::kSchema, "false", {"/k"}},
        {"SchemaList", Shape::kSchemaList, R"([{"not":{}},true])", {"/k/0", "/k/1"}},
        {"SchemaMap", Shape::kSchemaMap, R"({"b":{"not":{}},"a":true})", {"/k/b", "/k/a"}},
        {"OneInItems", Shape::kSchemaOrList, "{}", {"/k"}},
        {"ListInItems", Shape::kSchemaOrList, "[{},{}]", {"/k/0", "/k/1"}},
        {"EmptyListInItems", Shape::kSchemaOrList, "[]", {}},
        {"Dependencies", Shape::kDependencies, R"({"a":["x"],"b":{},"c":true})", {"/k/b", "/k/c"}},
        {"StringListMap", Shape::kStringListMap, R"({"a":["x"]})", {}},
        {"Anything", Shape::kAnything, R"({"a":{}})", {}},
        {"Object", Shape::kObject, R"({"a":{}})", {}},
        {"List", Shape::kList, "[{}]", {}},
        {"Type", Shape::kType, R"(["null"])", {}},
    }),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace maskd
