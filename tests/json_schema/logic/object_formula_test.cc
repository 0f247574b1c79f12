// Claims about objects as clauses, held against the validator for every small object.
#include "grammar_core/frontend/json_schema/logic/object_formula.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/json/equality.h"
#include "tests/json_schema/logic/schema_parts.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// Each of three names absent, or with one of four values.
std::vector<std::string> SmallObjects() {
  std::vector<std::string> objects = {""};
  for (const char* name : {"a", "b", "ab"}) {
    std::vector<std::string> more;
    for (const std::string& object : objects) {
      more.push_back(object);
      for (const char* value : {"1", "2", "\"x\"", "true"}) {
        const char* comma = object.empty() ? "" : ",";
        more.push_back(absl::StrCat(object, comma, "\"", name, "\":", value));
      }
    }
    objects = std::move(more);
  }
  for (std::string& object : objects) object = absl::StrCat("{", object, "}");
  return objects;
}

// A literal's truth by the header's words: `event` is the literal without its sign.
bool Happens(SchemaParts& parts, const std::string& object, const Claim& event) {
  const JsonValue at = parts.logic.at(event);
  const JsonValue value = parts.Value(object);
  if (event.kind == Kind::kHas) return value.Find(NameAt(at)).has_value();
  if (event.keyword != K::kConst) return parts.Validates(object, event);
  if (event.kind == Kind::kKeyword) {
    for (const JsonValue member : value.children())
      if (!at.Find(member.key()).has_value()) return true;
    return false;
  }
  const std::optional<JsonValue> member = value.Find(at.key());
  return member.has_value() && EqualityKey(*member) != EqualityKey(at);
}

bool IsTrue(SchemaParts& parts, const std::string& object, const Clauses& clauses) {
  return std::ranges::all_of(clauses, [&](const Clause& clause) {
    return std::ranges::any_of(clause, [&](const Claim& literal) {
      const Claim event = EventOf(literal);
      return Happens(parts, object, event) == (literal.negated == event.negated);
    });
  });
}

class SayableTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(SayableTest, ClausesAreTrueWhereTheClaimIs) {
  SchemaParts parts(GetParam().schema);
  ObjectFormula formula(parts.logic);
  for (const Claim& claim : {parts.Holds(""), parts.Fails("")}) {
    const std::optional<Clauses> clauses = formula.Of(claim);
    ASSERT_TRUE(clauses.has_value());
    for (const std::string& object : SmallObjects())
      EXPECT_EQ(IsTrue(parts, object, *clauses), parts.Validates(object, claim)) << object;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, SayableTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"Everything", "true"},
        {"Nothing", "false"},
        {"OtherType", R"({"type":["string","null"]})"},
        {"OfOtherTypes", R"({"minimum":1,"maxLength":2,"contains":{"type":"null"}})"},
        {"Required", R"({"required":["a","b"]})"},
        {"SomeRequired", R"({"anyOf":[{"required":["a"]},{"required":["b","ab"]}]})"},
        {"OneRequired", R"({"oneOf":[{"required":["a"]},{"required":["b"]},{"required":["ab"]}]})"},
        {"NotRequired", R"({"not":{"anyOf":[{"required":["a"]},{"required":["b"]}]}})"},
        {"If", R"({"if":{"properties":{"a":{"const":1}},"required":["a"]},
            "then":{"required":["b"]},"else":{"not":{"required":["ab"]}}})"},
        {"Properties", R"({"properties":{"a":{"type":"integer"},"b":{"const":"x"}}})"},
        {"EitherProperty", R"({"anyOf":[{"properties":{"a":{"type":"integer"}}},
            {"properties":{"b":{"type":"boolean"}}}]})"},
        {"Patterns", R"({"patternProperties":{"b$":{"type":"string"},"^a":{"minimum":2}}})"},
        {"Additional", R"({"properties":{"a":true},"additionalProperties":{"type":"string"}})"},
        {"Names", R"({"propertyNames":{"maxLength":1}})"},
        {"DependentRequired", R"({"dependentRequired":{"a":["b","ab"],"b":["a"]}})"},
        {"DependentSchemas", R"({"dependentSchemas":{"a":{"required":["b"]},"b":false}})"},
        {"Mixed", R"({"allOf":[{"anyOf":[{"required":["a"]},{"propertyNames":{"const":"b"}}]}],
            "oneOf":[{"properties":{"b":{"type":"string"}}},{"required":["ab"]}]})"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ObjectFormula, OfObjectsThatMustNotBeListed) {
  SchemaParts parts(R"({"not":{"enum":[{"a":1.0},{},{"b":"x","a":2},7]},"allOf":[
                        {"not":{"const":{"ab":true}}}]})");
  ObjectFormula formula(parts.logic);
  const std::optional<Clauses> clauses = formula.Of(parts.Holds(""));
  ASSERT_TRUE(clauses.has_value());
  for (const std::string& object : SmallObjects())
    EXPECT_EQ(IsTrue(parts, object, *clauses), parts.Validates(object, parts.Holds(""))) << object;
}

class UnsayableTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(UnsayableTest, HasNoClauses) {
  SchemaParts parts(GetParam().schema);
  ObjectFormula formula(parts.logic);
  EXPECT_FALSE(formula.Of(parts.Holds("")).has_value());
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, UnsayableTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"Counts", R"({"minProperties":1})"},
        {"CountsInABranch", R"({"anyOf":[{"required":["a"]},{"maxProperties":1}]})"},
        {"Listed", R"({"const":{"a":1}})"},
        {"Unevaluated", R"({"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}],
            "unevaluatedProperties":false})"},
    }),
    [](const auto& test) { return test.param.name; });

// Branches of `names` required names each, whose clauses multiply.
std::string RequiredBranches(int branches, int names) {
  std::vector<std::string> all;
  for (int i = 0; i < branches; ++i) {
    std::vector<std::string> required;
    for (int j = 0; j < names; ++j) required.push_back(absl::StrCat("\"", i, "-", j, "\""));
    all.push_back(absl::StrCat(R"({"required":[)", absl::StrJoin(required, ","), "]}"));
  }
  return absl::StrCat(R"({"anyOf":[)", absl::StrJoin(all, ","), "]}");
}

TEST(ObjectFormula, GivesUpPastTheLimit) {
  static_assert(kMaxClauses == 64);
  SchemaParts fits(RequiredBranches(3, 4));
  const std::optional<Clauses> clauses = ObjectFormula(fits.logic).Of(fits.Holds(""));
  ASSERT_TRUE(clauses.has_value());
  EXPECT_EQ(clauses->size(), 64);
  for (const Clause& clause : *clauses) EXPECT_EQ(clause.size(), 3);
  SchemaParts parts(RequiredBranches(4, 3));
  EXPECT_FALSE(ObjectFormula(parts.logic).Of(parts.Holds("")).has_value());
}

TEST(ObjectFormula, DependenciesAreClausesOfNames) {
  SchemaParts parts(R"({"dependentRequired":{"a":["b","c"]}})");
  ObjectFormula formula(parts.logic);
  const Conjunction all = parts.All();
  ASSERT_EQ(all.own.size(), 1);
  const JsonValue keyword = parts.At("/dependentRequired");
  const auto has = [&](const char* at, bool negated) {
    return parts.logic.HasMember(parts.At(at), negated);
  };
  const Claim no_a = has("/dependentRequired/a", true);
  const Clauses wanted = {{no_a, has("/dependentRequired/a/0", false)},
                          {no_a, has("/dependentRequired/a/1", false)}};
  EXPECT_EQ(formula.Dependencies(all.own.front(), keyword), wanted);
}

TEST(EventOf, IsTheMemberOrTheViolation) {
  const Claim has = {.kind = Kind::kHas, .keyword = K::kRequired, .at = 3};
  EXPECT_EQ(EventOf(has), has);
  EXPECT_EQ(EventOf(has.Negated()), has);
  const Claim fails = {.kind = Kind::kElement, .negated = true, .keyword = K::kProperties, .at = 3};
  EXPECT_EQ(EventOf(fails), fails);
  EXPECT_EQ(EventOf(fails.Negated()), fails);
  Claim watched = has;
  watched.watchers = 2;
  EXPECT_EQ(EventOf(watched), has);
}

}  // namespace
}  // namespace maskd
