// What assertions say together: by hand, from JSON Schema 2020-12, claims by their places.
#include "grammar_core/frontend/json_schema/logic/merged_schema.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "tests/json_schema/logic/schema_parts.h"

namespace maskd {
namespace {

using K = Keyword;

// "min..max" and, where a keyword sets an end, its place.
std::string Shown(const CountRange& range) {
  const auto place = [](const std::optional<JsonValue>& at) {
    return at.has_value() ? " " + at->Pointer() : "";
  };
  const std::string max = range.max == kUnbounded ? "*" : absl::StrCat(range.max);
  return absl::StrCat(range.min, "..", max, place(range.min_at), place(range.max_at));
}

struct RangeCase {
  const char* name;
  const char* schema;
  CountRange MergedSchema::* range;
  const char* wanted;
};

class MergedRangeTest : public testing::TestWithParam<RangeCase> {};

TEST_P(MergedRangeTest, IsTheNarrowest) {
  SchemaParts parts(GetParam().schema);
  EXPECT_EQ(Shown(parts.MergedRoot().*GetParam().range), GetParam().wanted);
}

constexpr auto kLength = &MergedSchema::length;
constexpr auto kItems = &MergedSchema::item_count;
constexpr auto kMembers = &MergedSchema::member_count;

INSTANTIATE_TEST_SUITE_P(
    Ranges, MergedRangeTest,
    testing::ValuesIn(std::vector<RangeCase>{
        {"Nothing", "true", kLength, "0..*"},
        {"Both", R"({"minLength":2,"maxLength":5})", kLength, "2..5 /minLength /maxLength"},
        {"Tighter", R"({"allOf":[{"minLength":2,"maxLength":5},{"minLength":3,"maxLength":9}]})",
         kLength, "3..5 /allOf/1/minLength /allOf/0/maxLength"},
        {"Items", R"({"minItems":1,"allOf":[{"maxItems":4}]})", kItems,
         "1..4 /minItems /allOf/0/maxItems"},
        {"Members", R"({"minProperties":1,"maxProperties":2})", kMembers,
         "1..2 /minProperties /maxProperties"},
        {"NotMin", R"({"not":{"minLength":3}})", kLength, "0..2 /not/minLength"},
        {"NotMax", R"({"not":{"maxLength":3}})", kLength, "4..* /not/maxLength"},
        {"NotMinItems", R"({"not":{"minItems":1}})", kItems, "0..0 /not/minItems"},
        {"NotMaxProperties", R"({"not":{"maxProperties":0}})", kMembers, "1..* /not/maxProperties"},
        {"NotUnique", R"({"not":{"uniqueItems":true}})", kItems, "2..* /not/uniqueItems"},
        {"ItemThatMustFail", R"({"not":{"prefixItems":[true,{"minimum":1}]}})", kItems,
         "2..* /not/prefixItems/1"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(MergedSchema, FewerThanNoneIsNoLength) {
  SchemaParts parts(R"({"not":{"minLength":0}})");
  EXPECT_TRUE(parts.MergedRoot().length.empty());
}

struct TypesCase {
  const char* name;
  const char* schema;
  TypeSet types;
};

class MergedTypesTest : public testing::TestWithParam<TypesCase> {};

TEST_P(MergedTypesTest, AreThoseThatAllAllow) {
  SchemaParts parts(GetParam().schema);
  EXPECT_EQ(parts.MergedRoot().types, GetParam().types);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, MergedTypesTest,
    testing::ValuesIn(std::vector<TypesCase>{
        {"Everything", "true", kEveryType},
        {"False", "false", kNoType},
        {"Common", R"({"type":["null","number"],"allOf":[{"type":["integer","string"]}]})",
         kIntegerType},
        {"NotAType", R"({"not":{"type":"integer"}})", kEveryType & ~kIntegerType},
        {"NotMinimum", R"({"not":{"minimum":1}})", kNumberType},
        {"NotRequired", R"({"not":{"required":["a"]}})", kObjectType},
        {"NotProperties", R"({"not":{"properties":{"a":false}}})", kObjectType},
        {"NotItems", R"({"not":{"items":{"type":"null"}}})", kArrayType},
        {"UniqueAndNot", R"({"uniqueItems":true,"not":{"uniqueItems":true}})", kNoType},
    }),
    [](const auto& test) { return test.param.name; });

TEST(MergedSchema, FacetsAreKeptOnce) {
  SchemaParts parts(R"({"minimum":1,"allOf":[{"minimum":2,"pattern":"a"},{"$ref":"#/allOf/0"}],
                        "not":{"multipleOf":3}})");
  const MergedSchema merged = parts.MergedRoot();
  std::vector<std::string> facets;
  for (const Facet& facet : merged.facets)
    facets.push_back(absl::StrCat(facet.negated ? "not " : "", facet.at.Pointer()));
  std::ranges::sort(facets);
  EXPECT_EQ(absl::StrJoin(facets, ", "),
            "/allOf/0/minimum, /allOf/0/pattern, /minimum, not /not/multipleOf");
  ASSERT_EQ(merged.own.size(), merged.locals.size());
  for (std::size_t i = 0; i < merged.own.size(); ++i)
    EXPECT_EQ(merged.locals[i], &parts.schemas.view(merged.own[i].at));
}

std::string Compact(const std::vector<JsonValue>& values) {
  return absl::StrJoin(values, ",",
                       [](std::string* out, const JsonValue& value) { value.AppendCompact(out); });
}

TEST(MergedSchema, ListedValuesAreAConstsRatherThanAnEnums) {
  SchemaParts one(R"({"enum":[1,"a"],"allOf":[{"const":1}]})");
  EXPECT_EQ(Compact(one.MergedRoot().ListedValues()), "1");
  SchemaParts more(R"({"enum":[1,"a",null]})");
  EXPECT_EQ(Compact(more.MergedRoot().ListedValues()), R"(1,"a",null)");
  SchemaParts none(R"({"type":"null","not":{"const":1}})");
  EXPECT_FALSE(none.MergedRoot().has_listed_values());
  EXPECT_TRUE(none.MergedRoot().ListedValues().empty());
}

TEST(MergedSchema, AValueThatIsClaimedIsListed) {
  SchemaParts parts(R"({"examples":[[1]]})");
  const Claim equal = {.kind = Claim::Kind::kValue, .at = parts.At("/examples/0").id()};
  const MergedSchema is = Merge(parts.logic, parts.logic.Expand({equal}));
  EXPECT_EQ(Compact(is.ListedValues()), "[1]");
  EXPECT_EQ(is.types, kArrayType);
  const MergedSchema is_not = Merge(parts.logic, parts.logic.Expand({equal.Negated()}));
  EXPECT_FALSE(is_not.has_listed_values());
  EXPECT_EQ(is_not.types, kEveryType);
}

TEST(MergedSchema, ExcludesWordsThatMustNotBe) {
  SchemaParts parts(R"({"not":{"enum":[true,0,null]}})");
  const MergedSchema merged = parts.MergedRoot();
  EXPECT_TRUE(merged.Excludes(JsonType::kTrue));
  EXPECT_TRUE(merged.Excludes(JsonType::kNull));
  EXPECT_FALSE(merged.Excludes(JsonType::kFalse));
  SchemaParts one(R"({"not":{"const":false}})");
  EXPECT_TRUE(one.MergedRoot().Excludes(JsonType::kFalse));
  SchemaParts wanted(R"({"const":false})");
  EXPECT_FALSE(wanted.MergedRoot().Excludes(JsonType::kFalse));
}

TEST(MergedSchema, RequiredNamesAreNamedOnce) {
  SchemaParts parts(R"({"required":["b","a"],"allOf":[{"required":["a","c"]}],
                        "not":{"properties":{"d":{"minimum":1}}}})");
  std::vector<std::string> names;
  for (const JsonValue& at : parts.MergedRoot().RequiredNames()) names.emplace_back(NameAt(at));
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "d"}));
}

// Claims about a part, as "[not ]POINTER" or "none".
std::string Shown(const SchemaParts& parts, const std::vector<Claim>& claims) {
  std::vector<std::string> all;
  for (const Claim& claim : claims)
    if (claim == NoValue())
      all.emplace_back("none");
    else
      all.push_back(absl::StrCat(claim.negated ? "not " : "", parts.logic.at(claim).Pointer()));
  std::ranges::sort(all);
  return absl::StrJoin(all, ", ");
}

TEST(ItemClaims, AreOfPrefixOrRest) {
  SchemaParts parts(R"({"prefixItems":[{"minimum":1},{"minimum":2}],"items":{"minimum":3},
      "allOf":[{"items":{"minimum":4}}],"not":{"prefixItems":[{"minimum":5}]}})");
  const MergedSchema merged = parts.MergedRoot();
  EXPECT_EQ(merged.prefix_size(), 2);
  EXPECT_EQ(Shown(parts, merged.ItemClaims(0)),
            "/allOf/0/items, /prefixItems/0, not /not/prefixItems/0");
  EXPECT_EQ(Shown(parts, merged.ItemClaims(1)), "/allOf/0/items, /prefixItems/1");
  EXPECT_EQ(Shown(parts, merged.ItemClaims(2)), "/allOf/0/items, /items");
  EXPECT_EQ(Shown(parts, merged.ItemClaims(9)), "/allOf/0/items, /items");
}

TEST(ItemClaims, UnevaluatedItemsSpeakOfWhatNothingElseDoes) {
  SchemaParts parts(
      R"({"allOf":[{"prefixItems":[{"minimum":1}]}],"unevaluatedItems":{"const":0}})");
  const MergedSchema merged = parts.MergedRoot();
  EXPECT_EQ(Shown(parts, merged.ItemClaims(0)), "/allOf/0/prefixItems/0");
  EXPECT_EQ(Shown(parts, merged.ItemClaims(1)), "/unevaluatedItems");
  ASSERT_EQ(merged.watchers.size(), 1);
  EXPECT_TRUE(merged.IsEvaluated(merged.watchers[0], 0));
  EXPECT_FALSE(merged.IsEvaluated(merged.watchers[0], 1));
  EXPECT_TRUE(merged.LiftedBy(merged.watchers[0]).empty());
}

// JSON Schema Core 2020-12, section 10.3.1.3, and 2019-09, section 9.3.1.4.
TEST(ItemClaims, ContainsEvaluatesFrom2020On) {
  SchemaParts parts(R"({"contains":{"const":1},"unevaluatedItems":{"const":0}})");
  const MergedSchema merged = parts.MergedRoot();
  ASSERT_EQ(merged.watchers.size(), 1);
  EXPECT_EQ(Shown(parts, merged.LiftedBy(merged.watchers[0])), "/contains");
  EXPECT_EQ(Shown(parts, merged.ItemClaims(0)), "");
  SchemaParts older(R"({"$schema":"https://json-schema.org/draft/2019-09/schema",
                        "contains":{"const":1},"unevaluatedItems":{"const":0}})");
  EXPECT_EQ(Shown(older, older.MergedRoot().ItemClaims(0)), "/unevaluatedItems");
}

TEST(MemberClaims, AreThoseOfTheName) {
  SchemaParts parts(R"({"properties":{"a":{"minimum":1}},"patternProperties":{"^a":{"minimum":2}},
      "additionalProperties":{"minimum":3},"allOf":[{"additionalProperties":{"minimum":4}}],
      "not":{"properties":{"c":{"minimum":5}}}})");
  const MergedSchema merged = parts.MergedRoot();
  const auto claims = [&](const char* name) {
    return Shown(parts, merged.MemberClaims(parts.checker.NameOf(name)));
  };
  EXPECT_EQ(claims("a"), "/allOf/0/additionalProperties, /patternProperties/^a, /properties/a");
  EXPECT_EQ(claims("ab"), "/allOf/0/additionalProperties, /patternProperties/^a");
  EXPECT_EQ(claims("b"), "/additionalProperties, /allOf/0/additionalProperties");
  EXPECT_EQ(claims("c"),
            "/additionalProperties, /allOf/0/additionalProperties, not /not/properties/c");
}

TEST(MemberClaims, OfOneThatMustNotBeAreFalse) {
  SchemaParts parts(R"({"not":{"required":["a"]}})");
  const MergedSchema merged = parts.MergedRoot();
  EXPECT_EQ(Shown(parts, merged.MemberClaims(parts.checker.NameOf("a"))), "none");
  EXPECT_EQ(Shown(parts, merged.MemberClaims(parts.checker.NameOf("b"))), "");
}

TEST(MemberClaims, UnevaluatedPropertiesSpeakOfWhatNothingElseDoes) {
  SchemaParts parts(R"({"allOf":[{"properties":{"a":{"minimum":1}}}],
                        "unevaluatedProperties":{"const":0}})");
  const MergedSchema merged = parts.MergedRoot();
  const MemberName a = parts.checker.NameOf("a");
  const MemberName b = parts.checker.NameOf("b");
  EXPECT_EQ(Shown(parts, merged.MemberClaims(a)), "/allOf/0/properties/a");
  EXPECT_EQ(Shown(parts, merged.MemberClaims(b)), "/unevaluatedProperties");
  const SchemaView& watcher = parts.schemas.view(parts.schemas.root().id());
  const SchemaView& by = parts.schemas.view(parts.At("/allOf/0").id());
  EXPECT_TRUE(EvaluatesMember(by, watcher, a));
  EXPECT_FALSE(EvaluatesMember(by, watcher, b));
  EXPECT_FALSE(EvaluatesMember(watcher, watcher, b));
  EXPECT_TRUE(EvaluatesMember(watcher, by, b));
}

TEST(PartHolds, IsEnteredFromTheSameScope) {
  const Claim by = {.watchers = 2, .scope = 5, .at = 1};
  EXPECT_EQ(PartHolds(by, 9), (Claim{.scope = 5, .at = 9}));
}

TEST(NoValue, HasNone) {
  SchemaParts parts("true");
  for (const std::string& value : SmallValues()) EXPECT_FALSE(parts.Fits(value, {NoValue()}));
}

}  // namespace
}  // namespace maskd
