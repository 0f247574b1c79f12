// What claims mean: by laws that hold for each value, held against the plain validator of
// value_check.h, and the alternatives of single keywords by hand.
#include "grammar_core/frontend/json_schema/logic/claim_logic.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/json_schema/logic/schema_parts.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;
using Ways = ClaimLogic::Alternatives;

class CombinedSchemaTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(CombinedSchemaTest, TakenApartItSaysTheSame) {
  SchemaParts parts(GetParam().schema);
  for (const std::string& value : SmallValues()) {
    const bool valid = parts.Validates(value, parts.Holds(""));
    EXPECT_EQ(parts.Fits(value, {parts.Holds("")}), valid) << value;
    EXPECT_EQ(parts.Fits(value, {parts.Fails("")}), !valid) << value;
  }
  EXPECT_TRUE(parts.logic.status().ok());
}

// Down to the atoms, through what is still a choice.
TEST_P(CombinedSchemaTest, SomeAlternativeHoldsWhereTheClaimDoes) {
  SchemaParts parts(GetParam().schema);
  for (const Claim& claim : {parts.Holds(""), parts.Fails("")}) {
    const std::optional<Ways>& ways = parts.logic.AlternativesOf(claim);
    if (!ways.has_value()) continue;
    for (const std::string& value : SmallValues()) {
      const bool some = std::ranges::any_of(
          *ways, [&](const std::vector<Claim>& way) { return parts.Fits(value, way); });
      EXPECT_EQ(some, parts.Validates(value, claim)) << value;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, CombinedSchemaTest, testing::ValuesIn(CombinedSchemas()),
                         [](const auto& test) { return test.param.name; });

TEST(ClaimLogic, ExpandNarrowsTypes) {
  SchemaParts parts("true");
  const Claim scalar = {.kind = Kind::kTypes, .at = kNullType | kStringType};
  const Claim text = {.kind = Kind::kTypes, .at = kStringType};
  EXPECT_EQ(parts.logic.Expand({scalar, text}).types, kStringType);
  EXPECT_EQ(parts.logic.Expand({scalar, text.Negated()}).types, kNullType);
  EXPECT_EQ(parts.logic.Expand({text}, parts.logic.Expand({text.Negated()})).types, kNoType);
}

TEST(ClaimLogic, AClaimJoinsOnce) {
  SchemaParts parts(R"({"allOf":[{"minimum":1},{"minimum":1},{"anyOf":[{"type":"null"},true]}]})");
  const Conjunction once = parts.All();
  EXPECT_EQ(once.own.size(), 1);
  EXPECT_EQ(once.choices.size(), 1);
  const Conjunction again = parts.logic.Expand({parts.Holds("")}, once);
  EXPECT_EQ(again.Key(), once.Key());
}

TEST(ClaimLogic, OwnAssertionsStandInTheOrderOfTheKeywords) {
  SchemaParts parts(R"({"allOf":[{"minimum":1},{"minLength":1}],"minItems":1})");
  const std::vector<Claim> own = parts.All().own;
  ASSERT_EQ(own.size(), 3);
  EXPECT_EQ(parts.logic.at(own[0]).Pointer(), "/allOf/0");
  EXPECT_EQ(parts.logic.at(own[1]).Pointer(), "/allOf/1");
  EXPECT_EQ(parts.logic.at(own[2]).Pointer(), "");
}

TEST(ClaimLogic, ASchemaThatMustAndMustNotHoldIsFalse) {
  SchemaParts parts(R"({"allOf":[{"minimum":1,"minLength":2}],"not":{"minimum":1,"minLength":2}})");
  EXPECT_TRUE(parts.All().is_false);
  SchemaParts other(R"({"allOf":[{"minimum":1,"minLength":2}],"not":{"minimum":1,"minLength":3}})");
  EXPECT_FALSE(other.All().is_false);
}

// Each claim as "[not ]POINTER", alternatives in their order.
std::string Shown(const SchemaParts& parts, const Ways& ways) {
  std::vector<std::string> all;
  for (const std::vector<Claim>& way : ways) {
    std::vector<std::string> claims;
    for (const Claim& claim : way) {
      const std::string at = claim.kind == Kind::kTypes ? "types" : parts.logic.at(claim).Pointer();
      claims.push_back(absl::StrCat(claim.negated ? "not " : "", at));
    }
    all.push_back(absl::StrJoin(claims, " and "));
  }
  return absl::StrJoin(all, ", ");
}

struct WaysCase {
  const char* name;
  const char* schema;
  Keyword keyword;
  const char* at;
  bool negated;
  const char* ways;
};

class KeywordWaysTest : public testing::TestWithParam<WaysCase> {};

TEST_P(KeywordWaysTest, AreTheseLists) {
  SchemaParts parts(GetParam().schema);
  const Claim claim = parts.Of(GetParam().keyword, GetParam().at, GetParam().negated);
  const std::optional<Ways>& ways = parts.logic.AlternativesOf(claim);
  ASSERT_TRUE(ways.has_value());
  EXPECT_EQ(Shown(parts, *ways), GetParam().ways);
  EXPECT_EQ(&parts.logic.AlternativesOf(claim), &ways);
}

INSTANTIATE_TEST_SUITE_P(
    Keywords, KeywordWaysTest,
    testing::ValuesIn(std::vector<WaysCase>{
        {"AnyOf", R"({"anyOf":[{"minimum":1},{"minLength":1}]})", K::kAnyOf, "/anyOf", false,
         "/anyOf/0, /anyOf/1"},
        {"NoneOf", R"({"anyOf":[{"minimum":1},{"minLength":1}]})", K::kAnyOf, "/anyOf", true,
         "not /anyOf/0 and not /anyOf/1"},
        {"OneOf", R"({"oneOf":[{"minimum":1},{"minLength":1}]})", K::kOneOf, "/oneOf", false,
         "/oneOf/0 and not /oneOf/1, not /oneOf/0 and /oneOf/1"},
        {"NotOneOf", R"({"oneOf":[{"minimum":1},{"minLength":1}]})", K::kOneOf, "/oneOf", true,
         "not /oneOf/0 and not /oneOf/1, /oneOf/0 and /oneOf/1"},
        {"If", R"({"if":{"minimum":1},"then":{"maximum":5},"else":{"minItems":1}})", K::kIf, "/if",
         false, "/if and /then, not /if and /else"},
        {"NotIf", R"({"if":{"minimum":1},"then":{"maximum":5}})", K::kIf, "/if", true,
         "/if and not /then"},
        {"BareIf", R"({"if":{"minimum":1}})", K::kIf, "/if", false, "/if, "},
        {"Required", R"({"required":["a","b"]})", K::kRequired, "/required", true,
         "not /required/0, not /required/1"},
        {"Properties", R"({"properties":{"a":{"minimum":1},"b":true}})", K::kProperties,
         "/properties", true, "not /properties/a"},
        {"DependentRequired", R"({"dependentRequired":{"a":["b"]}})", K::kDependentRequired,
         "/dependentRequired", true, "/dependentRequired/a and not /dependentRequired/a/0"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ClaimLogic, SingleKeywordsThatFailStandForThemselves) {
  SchemaParts parts(R"({"minimum":1,"additionalProperties":{"type":"null"}})");
  EXPECT_FALSE(parts.logic.AlternativesOf(parts.Of(K::kMinimum, "/minimum", true)).has_value());
  const Claim names = parts.Of(K::kAdditionalProperties, "/additionalProperties", true);
  EXPECT_FALSE(parts.logic.AlternativesOf(names).has_value());
}

TEST(ClaimLogic, ClaimsAboutEqualNamesAreEqual) {
  SchemaParts parts(R"({"required":["a","b"],"properties":{"a":{"minimum":1}}})");
  const Claim has = parts.logic.HasMember(parts.At("/required/0"), false);
  EXPECT_EQ(parts.logic.HasMember(parts.At("/properties/a"), false), has);
  EXPECT_EQ(parts.logic.HasMember(parts.At("/properties/a"), true), has.Negated());
  EXPECT_NE(parts.logic.HasMember(parts.At("/required/1"), false), has);
}

TEST(ClaimLogic, TheFirstOfEqualSchemasStandsForThem) {
  SchemaParts parts(R"({"allOf":[{"minimum":1},{"minimum":1},{"minimum":2}]})");
  EXPECT_EQ(parts.logic.First(parts.Fails("/allOf/1")), parts.Fails("/allOf/0"));
  EXPECT_EQ(parts.logic.First(parts.Holds("/allOf/2")), parts.Holds("/allOf/2"));
}

TEST(ClaimLogic, AddOnceKeepsTheFirst) {
  SchemaParts parts("true");
  std::vector<Claim> claims = {SchemaHolds(1)};
  parts.logic.AddOnce(SchemaHolds(1), &claims);
  parts.logic.AddOnce(SchemaFails(1), &claims);
  EXPECT_EQ(claims, (std::vector<Claim>{SchemaHolds(1), SchemaFails(1)}));
}

struct DeniableCase {
  const char* name;
  const char* schema;
  bool deniable;
};

class DeniableTest : public testing::TestWithParam<DeniableCase> {};

TEST_P(DeniableTest, WhereItsViolationsCanBeSaid) {
  SchemaParts parts(GetParam().schema);
  EXPECT_EQ(parts.logic.IsDeniable(parts.schemas.root().id()), GetParam().deniable);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, DeniableTest,
    testing::ValuesIn(std::vector<DeniableCase>{
        {"Plain", R"({"type":"array","items":{"minimum":1}})", true},
        {"UniqueItems", R"({"uniqueItems":true})", false},
        {"UniqueItemsWithin", R"({"properties":{"a":{"items":{"uniqueItems":true}}}})", false},
        {"UniqueItemsNotAsked", R"({"uniqueItems":false})", true},
        {"UniqueItemsByRef", R"({"$ref":"#/$defs/x","$defs":{"x":{"uniqueItems":true}}})", false},
        {"SureEvaluators", R"({"properties":{"a":true},"unevaluatedProperties":false})", true},
        {"UnsureEvaluators", R"({"anyOf":[{"properties":{"a":true},"required":["a"]},
            {"properties":{"b":true},"required":["b"]}],"unevaluatedProperties":false})",
         false},
        {"ContainsEvaluates", R"({"contains":{"minimum":1},"unevaluatedItems":false})", false},
        {"UnevaluatedTrue", R"({"anyOf":[{"properties":{"a":{"minimum":1}}},
            {"minProperties":1}],"unevaluatedProperties":true})",
         true},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ClaimLogic, WhatAWatcherSeesNamesIt) {
  SchemaParts parts(R"({"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false,
                        "not":{"properties":{"b":{"type":"null"}}}})");
  const Conjunction all = parts.All();
  ASSERT_EQ(all.own.size(), 2);
  for (const Claim& own : all.own) {
    const std::vector<Claim>& watchers = parts.logic.WatchersOf(own);
    ASSERT_EQ(watchers.size(), 1);
    EXPECT_EQ(watchers.front().at, parts.schemas.root().id());
  }
  for (const Claim& atom : all.atoms) EXPECT_TRUE(parts.logic.WatchersOf(atom).empty());
}

constexpr char kTree[] = R"({"$id":"https://x/strict","$dynamicAnchor":"node","$ref":"tree",
  "properties":{"plain":{"$ref":"tree"}},"$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node",
  "properties":{"next":{"$dynamicRef":"#node"}}}}})";

// JSON Schema Core 2020-12, section 8.2.3.2: the outermost schema entered decides.
TEST(ClaimLogic, ADynamicReferenceLeadsToTheOutermostAnchor) {
  SchemaParts parts(kTree);
  const JsonId tree = parts.At("/$defs/tree").id();
  const SchemaView& next = parts.schemas.view(parts.At("/$defs/tree/properties/next").id());
  ASSERT_EQ(next.parts.size(), 1);
  const JsonId root = parts.schemas.root().id();
  const std::uint16_t outer = parts.logic.ScopeIn(root, 0);
  const std::uint16_t by_root = parts.logic.ScopeIn(tree, outer);
  const std::uint16_t alone = parts.logic.ScopeIn(tree, 0);
  EXPECT_EQ(by_root, outer);
  EXPECT_NE(alone, outer);
  EXPECT_EQ(parts.logic.DynamicTarget(next, next.parts.front(), by_root), root);
  EXPECT_EQ(parts.logic.DynamicTarget(next, next.parts.front(), alone), tree);
}

TEST(ClaimLogic, WithoutDynamicReferencesThereIsOneScope) {
  SchemaParts parts(R"({"$id":"https://x/y","properties":{"a":{"$id":"z"}}})");
  EXPECT_EQ(parts.logic.ScopeIn(parts.At("/properties/a").id(), 0), 0);
}

std::string Branches(int count) {
  std::vector<std::string> branches;
  for (int i = 0; i < count; ++i)
    branches.push_back(absl::StrCat(R"({"properties":{"p)", i, R"(":{"const":)", i, "}}}"));
  return absl::StrCat("[", absl::StrJoin(branches, ","), "]");
}

TEST(ClaimLogicLimits, BranchesOfANegatedOneOf) {
  SchemaParts fits(absl::StrCat(R"({"not":{"oneOf":)", Branches(100), "}}"));
  (void)fits.All();
  EXPECT_TRUE(fits.logic.status().ok());
  SchemaParts parts(absl::StrCat(R"({"not":{"oneOf":)", Branches(101), "}}"));
  (void)parts.All();
  EXPECT_EQ(parts.logic.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorPlace(parts.logic.status()), "/not/oneOf");
}

TEST(ClaimLogicLimits, BranchesThatAreWatched) {
  for (const int count : {12, 13}) {
    SchemaParts parts(
        absl::StrCat(R"({"unevaluatedProperties":false,"anyOf":)", Branches(count), "}"));
    const Conjunction all = parts.All();
    ASSERT_EQ(all.choices.size(), 1);
    (void)parts.logic.AlternativesOf(all.choices.front());
    EXPECT_EQ(parts.logic.status().ok(), count == 12);
    if (count == 13) EXPECT_EQ(ErrorPlace(parts.logic.status()), "/anyOf");
  }
}

TEST(ClaimLogicLimits, TheFirstErrorStays) {
  SchemaParts parts(R"({"allOf":[{"minimum":1},{"minLength":1}]})");
  Budget budget(Budget::Bounds{.work = 10});
  ClaimLogic logic(parts.schemas, budget);
  EXPECT_TRUE(logic.Take(1, 0));
  EXPECT_FALSE(logic.Take(1'000'000, parts.At("/allOf/1").id()));
  EXPECT_EQ(ErrorPlace(logic.status()), "/allOf/1");
  EXPECT_FALSE(logic.Take(1, 0));
  EXPECT_EQ(ErrorPlace(logic.status()), "/allOf/1");
}

}  // namespace
}  // namespace maskd
