#include "grammar_core/frontend/json_schema/reading/schema_view.h"

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/json_schema/reading/pointers.h"

namespace maskd {
namespace {

using Kind = SchemaPart::Kind;
using Part = std::tuple<Kind, Keyword, std::string>;
using Claims = std::vector<std::pair<Keyword, std::string>>;

constexpr Dialect kUnnamed;
constexpr Dialect k4 = {.draft = SchemaDraft::k4, .named = true};
constexpr Dialect k7 = {.draft = SchemaDraft::k7, .named = true};
constexpr Dialect k2020 = {.draft = SchemaDraft::k2020, .named = true};
constexpr Keyword kNone = Keyword::kAnnotation;

// A schema and its view.
class Viewed {
 public:
  explicit Viewed(absl::string_view schema, const Dialect& dialect = kUnnamed)
      : document_(*JsonDocument::Parse(schema, Limits())),
        view_(ReadSchemaView(document_.root(), dialect, Formats::kByDraft)) {}

  [[nodiscard]] const absl::Status& status() const { return view_.status(); }
  const SchemaView* operator->() const { return &*view_; }
  [[nodiscard]] JsonValue At(absl::string_view pointer) const {
    return ValueAt(document_.root(), pointer);
  }
  [[nodiscard]] std::string PointerOf(JsonId id) const { return document_.root().at(id).Pointer(); }

  [[nodiscard]] std::vector<Part> Parts() const {
    std::vector<Part> parts;
    for (const SchemaPart& part : view_->parts)
      parts.emplace_back(part.kind, part.keyword, PointerOf(part.id));
    return parts;
  }
  [[nodiscard]] Claims Assertions() const {
    Claims claims;
    for (const SchemaView::Assertion& assertion : view_->assertions)
      claims.emplace_back(assertion.keyword, assertion.at.Pointer());
    return claims;
  }
  [[nodiscard]] Claims Facets() const {
    Claims claims;
    for (const Facet& facet : view_->facets) claims.emplace_back(facet.keyword, facet.at.Pointer());
    return claims;
  }
  [[nodiscard]] std::vector<std::string> NotePlaces() const {
    std::vector<std::string> places;
    for (const SchemaView::Note& note : view_->notes) places.push_back(note.at.Pointer());
    return places;
  }
  [[nodiscard]] std::vector<std::string> MemberSchemas(Keyword keyword,
                                                       const MemberName& name) const {
    std::vector<std::string> pointers;
    for (const JsonId id : view_->MemberSchemas(keyword, name)) pointers.push_back(PointerOf(id));
    return pointers;
  }

 private:
  JsonDocument document_;
  absl::StatusOr<SchemaView> view_;
};

struct PartsCase {
  const char* name;
  const char* schema;
  std::vector<Part> wanted;
  Dialect dialect = kUnnamed;
};

class SchemaPartsTest : public testing::TestWithParam<PartsCase> {};

TEST_P(SchemaPartsTest, AreInTheOrderOfTheKeywords) {
  const Viewed view(GetParam().schema, GetParam().dialect);
  ASSERT_TRUE(view.status().ok()) << view.status();
  EXPECT_EQ(view.Parts(), GetParam().wanted);
}

const Part kLocal = {Kind::kLocal, kNone, ""};

INSTANTIATE_TEST_SUITE_P(
    Schemas, SchemaPartsTest,
    testing::ValuesIn(std::vector<PartsCase>{
        {"True", "true", {}},
        {"Empty", "{}", {}},
        {"False", "false", {kLocal}},
        {"Annotations", R"({"title":"t","$defs":{"a":{}},"x":1})", {}},
        {"OwnAssertionsAreOnePart",
         R"({"minLength":1,"allOf":[{},true],"pattern":"a"})",
         {kLocal, {Kind::kSchema, kNone, "/allOf/0"}, {Kind::kSchema, kNone, "/allOf/1"}}},
        {"ReferenceAndNot",
         R"({"$ref":"#/$defs/a","not":{},"type":"null"})",
         {{Kind::kSchema, kNone, "/$ref"}, {Kind::kNot, kNone, "/not"}, kLocal}},
        {"ReferenceAloneInDraft7",
         R"({"not":{},"$ref":"#/definitions/a","type":5})",
         {{Kind::kSchema, kNone, "/$ref"}},
         k7},
        {"Choices",
         R"({"anyOf":[{},{}],"oneOf":[{},{}]})",
         {{Kind::kChoice, Keyword::kAnyOf, "/anyOf"}, {Kind::kChoice, Keyword::kOneOf, "/oneOf"}}},
        {"ChoicesOfOne",
         R"({"anyOf":[{}],"oneOf":[{}]})",
         {{Kind::kSchema, kNone, "/anyOf/0"}, {Kind::kSchema, kNone, "/oneOf/0"}}},
        {"If", R"({"then":{},"if":{}})", {{Kind::kChoice, Keyword::kIf, "/if"}}},
        {"IfAloneMayEvaluate", R"({"if":{}})", {{Kind::kChoice, Keyword::kIf, "/if"}}},
        {"IfAloneInDraft7", R"({"if":{}})", {}, k7},
        {"ThenAlone", R"({"then":{},"else":{}})", {}},
        {"DependentSchemas",
         R"({"dependentSchemas":{"a":{},"b":true}})",
         {{Kind::kChoice, Keyword::kDependentSchemas, "/dependentSchemas/a"},
          {Kind::kChoice, Keyword::kDependentSchemas, "/dependentSchemas/b"}}},
        {"Dependencies",
         R"({"dependencies":{"a":["b"],"c":{}}})",
         {kLocal, {Kind::kChoice, Keyword::kDependentSchemas, "/dependencies/c"}}},
        {"WhatAsksForNothing",
         R"({"uniqueItems":false,"patternProperties":{},"dependentRequired":{},
             "dependentSchemas":{},"dependencies":{},"minContains":2,"maxContains":1})",
         {}},
        {"FormatOfAnotherName", R"({"format":"color"})", {}},
        {"FormatByDraft", R"({"format":"date"})", {}, k2020},
        {"FormatInDraft7", R"({"format":"date"})", {kLocal}, k7},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST(SchemaViewTest, BareSchemas) {
  EXPECT_TRUE(Viewed("false")->is_false);
  EXPECT_FALSE(Viewed("true")->is_false);
  EXPECT_TRUE(Viewed("true")->is_true());
  EXPECT_TRUE(Viewed("{}")->is_true());
  EXPECT_FALSE(Viewed("false")->is_true());
  const JsonDocument all =
      *JsonDocument::Parse(R"([true,false,{},{"title":"t"},[],null])", Limits());
  std::vector<bool> bare;
  for (const JsonValue value : all.root().children()) bare.push_back(IsBareSchema(value));
  EXPECT_EQ(bare, (std::vector<bool>{true, true, true, false, false, false}));
}

TEST(SchemaViewTest, AssertionsAndFacetsAreApart) {
  const Viewed view(R"({"type":["string","integer"],"pattern":"a","minimum":1,"enum":[1],
                        "exclusiveMaximum":5,"multipleOf":2,"format":"date","required":["a"]})");
  EXPECT_EQ(view.Assertions(), (Claims{{Keyword::kType, "/type"},
                                       {Keyword::kEnum, "/enum"},
                                       {Keyword::kRequired, "/required"}}));
  EXPECT_EQ(view.Facets(), (Claims{{Keyword::kPattern, "/pattern"},
                                   {Keyword::kMinimum, "/minimum"},
                                   {Keyword::kExclusiveMaximum, "/exclusiveMaximum"},
                                   {Keyword::kMultipleOf, "/multipleOf"},
                                   {Keyword::kFormat, "/format"}}));
  EXPECT_EQ(view->types, kStringType | kIntegerType);
  EXPECT_EQ(Viewed("{}")->types, kEveryType);
}

TEST(SchemaViewTest, NullableCountsWhereNoDraftIsNamed) {
  const char* schema = R"({"type":"string","nullable":true})";
  EXPECT_EQ(Viewed(schema)->types, kStringType | kNullType);
  EXPECT_EQ(Viewed(schema, k7)->types, kStringType);
  EXPECT_EQ(Viewed(R"({"type":"string","nullable":false})")->types, kStringType);
}

TEST(SchemaViewTest, AListInItemsIsPrefixItems) {
  const Viewed view(R"({"items":[{},true],"additionalItems":{}})");
  EXPECT_EQ(view->prefix_items,
            (std::vector<JsonId>{view.At("/items/0").id(), view.At("/items/1").id()}));
  EXPECT_EQ(view->items->Pointer(), "/additionalItems");
  EXPECT_EQ(view.Assertions(),
            (Claims{{Keyword::kPrefixItems, "/items"}, {Keyword::kItems, "/additionalItems"}}));
  EXPECT_FALSE(Viewed(R"({"items":[{}]})")->items.has_value());
}

TEST(SchemaViewTest, OneSchemaInItemsIsForTheItemsBehindThePrefix) {
  const Viewed view(R"({"prefixItems":[{}],"items":{},"additionalItems":false})");
  EXPECT_EQ(view->prefix_items, std::vector<JsonId>{view.At("/prefixItems/0").id()});
  EXPECT_EQ(view->items->Pointer(), "/items");
  EXPECT_EQ(view.NotePlaces(), std::vector<std::string>{"/additionalItems"});
}

TEST(SchemaViewTest, Draft4HasItsOwnNumbers) {
  const Viewed view(R"({"minimum":1,"exclusiveMinimum":true,"exclusiveMaximum":false,"maximum":5,
                        "type":["integer","null"]})",
                    k4);
  EXPECT_EQ(view.Facets(), (Claims{{Keyword::kExclusiveMinimum, "/minimum"},
                                   {Keyword::kMaximum, "/maximum"},
                                   {Keyword::kType, "/type"}}));
  EXPECT_EQ(Viewed(R"({"exclusiveMinimum":true,"type":"number"})", k4).Facets(), Claims());
  EXPECT_EQ(Viewed(R"({"type":"integer"})", k7).Facets(), Claims());
}

TEST(SchemaViewTest, ListsAmongDependenciesAreDependentRequired) {
  const Viewed view(
      R"({"dependencies":{"a":["b"],"c":["d"],"e":{}},"dependentRequired":{"f":["g"]}})");
  EXPECT_EQ(view.Assertions(), (Claims{{Keyword::kDependentRequired, "/dependencies"},
                                       {Keyword::kDependentRequired, "/dependentRequired"}}));
  EXPECT_EQ(PointersOf(view->dependent_required),
            (std::vector<std::string>{"/dependencies", "/dependentRequired"}));
}

TEST(SchemaViewTest, BoundsHaveTheirKeywords) {
  const Viewed view(R"({"minLength":2.0,"maxLength":1e1,"minItems":3,"maxProperties":4294967296})");
  EXPECT_EQ(view->length.min, 2);
  EXPECT_EQ(view->length.max, 10);
  EXPECT_EQ(view->length.min_at->Pointer(), "/minLength");
  EXPECT_EQ(view->length.max_at->Pointer(), "/maxLength");
  EXPECT_EQ(view->item_count.min, 3);
  EXPECT_EQ(view->item_count.max, kUnbounded);
  EXPECT_FALSE(view->item_count.max_at.has_value());
  EXPECT_EQ(view->member_count.max, kUnbounded) << "a bound over 32 bits is none";
  EXPECT_EQ(CountOf(view.At("/maxLength")), 10);
}

TEST(SchemaViewTest, AnEmptyRangeIsNoted) {
  const Viewed view(R"({"minItems":3,"maxItems":2,"minLength":2,"maxLength":2})");
  EXPECT_TRUE(view->item_count.empty());
  EXPECT_FALSE(view->length.empty());
  EXPECT_FALSE(view->member_count.empty());
  EXPECT_EQ(view.NotePlaces(), std::vector<std::string>{"/maxItems"});
}

TEST(SchemaViewTest, ContainsAsksForOneIfNothingElseIsSaid) {
  const Viewed one(R"({"contains":{},"maxContains":3})");
  EXPECT_EQ(one->contains_count.min, 1);
  EXPECT_EQ(one->contains_count.min_at->Pointer(), "/contains");
  EXPECT_EQ(one->contains_count.max, 3);
  EXPECT_EQ(Viewed(R"({"minContains":0,"contains":{}})")->contains_count.min, 0);
  EXPECT_EQ(Viewed(R"({"minContains":2})")->contains_count.min, 0);
}

TEST(SchemaViewTest, AnOptionMayCloseWhatSpeaksOfMembersAndNotOfOthers) {
  for (const char* schema : {R"({"properties":{}})", R"({"required":[]})", R"({"type":"object"})",
                             R"({"type":["object","null"]})"})
    EXPECT_TRUE(Viewed(schema)->closes_by_default()) << schema;
  for (const char* schema :
       {"{}", "true", R"({"type":"array"})", R"({"minProperties":1})",
        R"({"properties":{},"additionalProperties":true})", R"({"patternProperties":{"a":{}}})"})
    EXPECT_FALSE(Viewed(schema)->closes_by_default()) << schema;
}

TEST(SchemaViewTest, WatchesWhatOthersEvaluate) {
  EXPECT_TRUE(Viewed(R"({"unevaluatedItems":false})")->watches());
  EXPECT_TRUE(Viewed(R"({"unevaluatedProperties":true})")->watches());
  EXPECT_FALSE(Viewed(R"({"additionalProperties":false,"items":false})")->watches());
  EXPECT_FALSE(Viewed(R"({"unevaluatedItems":false})", k7)->watches());
}

TEST(SchemaViewTest, SchemasOfAMember) {
  const Viewed view(R"({"properties":{"a":{},"b":{}},"patternProperties":{"^a":{},"b$":{},"c":{}},
                        "additionalProperties":{}})");
  // A pattern here matches the names that hold its letter.
  const auto named = [](absl::string_view name) {
    return MemberName{name, [name](const JsonValue& pattern) {
                        const std::size_t letter = pattern.key().find_first_of("abc");
                        return absl::StrContains(name, pattern.key()[letter]);
                      }};
  };
  using Pointers = std::vector<std::string>;
  EXPECT_EQ(view.MemberSchemas(Keyword::kProperties, named("a")), Pointers{"/properties/a"});
  EXPECT_EQ(view.MemberSchemas(Keyword::kProperties, named("ab")), Pointers());
  EXPECT_EQ(view.MemberSchemas(Keyword::kPatternProperties, named("ab")),
            (Pointers{"/patternProperties/^a", "/patternProperties/b$"}));
  for (const char* name : {"a", "c"})
    EXPECT_EQ(view.MemberSchemas(Keyword::kAdditionalProperties, named(name)), Pointers()) << name;
  EXPECT_EQ(view.MemberSchemas(Keyword::kAdditionalProperties, named("d")),
            Pointers{"/additionalProperties"});
  const MemberName other = {std::nullopt, [](const JsonValue&) { return false; }};
  EXPECT_EQ(view.MemberSchemas(Keyword::kProperties, other), Pointers());
  EXPECT_EQ(view.MemberSchemas(Keyword::kAdditionalProperties, other),
            Pointers{"/additionalProperties"});
}

// Also those of keywords that mean nothing here: an error in them must be found.
TEST(SchemaViewTest, SubschemasAreThoseInKeywords) {
  const Viewed view(R"({"$defs":{"x":{}},"then":{},"properties":{"a":{"not":{}},"b":true},
                        "dependencies":{"c":["d"],"e":{}},"items":[{}],"additionalItems":{},
                        "const":{"not":{}},"default":{}})");
  EXPECT_EQ(PointersOf(view->subschemas),
            (std::vector<std::string>{"/then", "/properties/a", "/properties/b", "/dependencies/e",
                                      "/items/0", "/additionalItems"}));
}

struct ErrorCase {
  const char* name;
  const char* schema;
  const char* place;
  Dialect dialect = kUnnamed;
};

class SchemaViewErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(SchemaViewErrorTest, IsAtTheKeyword) {
  const Viewed view(GetParam().schema, GetParam().dialect);
  EXPECT_EQ(view.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(view.status()), GetParam().place);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, SchemaViewErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"Shape", R"({"title":1,"properties":{"a":{"type":5},"b":5}})", "/properties/b"},
        {"BesideRefSince2019", R"({"$ref":"#/$defs/a","type":5})", "/type", k2020},
        {"ListInItemsOf2020", R"({"items":[{}]})", "/items", k2020},
        {"ListBesidePrefixItems", R"({"items":[{}],"prefixItems":[{}]})", "/items"},
        {"NumberInDraft4", R"({"exclusiveMinimum":1})", "/exclusiveMinimum", k4},
    }),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace maskd
