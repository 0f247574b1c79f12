// Proofs that nothing satisfies claims: which must be found, and that none is wrong.
#include "grammar_core/frontend/json_schema/logic/contradiction.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "tests/json_schema/logic/schema_parts.h"

namespace maskd {
namespace {

class ContradictionTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(ContradictionTest, IsFound) {
  SchemaParts parts(GetParam().schema);
  EXPECT_TRUE(parts.contradiction.In(parts.All()));
  EXPECT_TRUE(parts.contradiction.In({parts.Holds("")}));
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, ContradictionTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"False", "false"},
        {"Types", R"({"type":"string","allOf":[{"type":["integer","null"]}]})"},
        {"IntegerAndFraction", R"({"type":"integer","not":{"type":"integer"}})"},
        {"ConstOfAnotherType", R"({"type":"string","const":1})"},
        {"ConstOutOfRange", R"({"const":3,"maximum":2})"},
        {"EnumsApart", R"({"enum":[1,2],"allOf":[{"enum":[3,"1"]}]})"},
        {"EnumExcluded", R"({"enum":[1,"a"],"not":{"enum":["a",1.0]}})"},
        {"Lengths", R"({"type":"string","minLength":3,"maxLength":2})"},
        {"PatternBeginnings", R"({"type":"string","allOf":[{"pattern":"^ab"},{"pattern":"^ac"}]})"},
        {"PatternEnds", R"({"type":"string","allOf":[{"pattern":"a$"},{"pattern":"b$"}]})"},
        {"ItemCounts", R"({"type":"array","minItems":2,"maxItems":1})"},
        {"ItemWithoutValue", R"({"type":"array","minItems":1,"items":false})"},
        {"SecondItemWithoutValue",
         R"({"type":"array","minItems":2,"prefixItems":[true],"items":{"const":1,"type":"null"}})"},
        {"MemberCounts", R"({"type":"object","minProperties":2,"maxProperties":1})"},
        {"TooManyRequired", R"({"type":"object","required":["a","b"],"maxProperties":1})"},
        {"RequiredWithoutValue",
         R"({"type":"object","required":["a"],"properties":{"a":{"type":"null","const":0}}})"},
        {"RequiredNotAllowed",
         R"({"type":"object","required":["b"],"properties":{"a":true},
             "additionalProperties":false})"},
        {"RequiredUnevaluated", R"({"type":"object","required":["b"],"properties":{"a":true},
             "unevaluatedProperties":false})"},
        {"RequiredAndNot", R"({"type":"object","required":["a"],"not":{"required":["a"]}})"},
        {"DiscriminatorsDiffer", R"({"type":"object","required":["a"],
            "allOf":[{"properties":{"a":{"const":1}}},{"properties":{"a":{"const":2}}}]})"},
        {"EveryBranchDead", R"({"type":"null","anyOf":[{"type":"string"},{"const":1}]})"},
        {"HoldsAndFails", R"({"allOf":[{"minimum":1,"minLength":1}],
            "not":{"minimum":1,"minLength":1}})"},
    }),
    [](const auto& test) { return test.param.name; });

class NoContradictionTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(NoContradictionTest, IsFoundWhereSomeValueFits) {
  SchemaParts parts(GetParam().schema);
  EXPECT_FALSE(parts.contradiction.In(parts.All()));
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, NoContradictionTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"OtherTypes", R"({"minLength":3,"maxLength":2,"minItems":2,"maxItems":1})"},
        {"LengthOfNumbers", R"({"type":["string","number"],"minLength":3,"maxLength":2})"},
        {"ItemsMayBeNone", R"({"type":"array","items":false})"},
        {"MembersMayBeNone", R"({"type":"object","properties":{"a":false}})"},
        {"PatternsThatMeet", R"({"type":"string","allOf":[{"pattern":"^a"},{"pattern":"b$"}]})"},
        {"EqualNumbers", R"({"const":1.0,"enum":[1]})"},
        {"OneBranchLives", R"({"type":"null","anyOf":[{"type":"string"},{"const":null}]})"},
        {"RequiredFits", R"({"type":"object","required":["a","a","b"],"maxProperties":2})"},
        {"FirstItemOnly", R"({"type":"array","minItems":1,"prefixItems":[true],"items":false})"},
        {"LiftedByContains", R"({"type":"array","minItems":1,"contains":true,
            "unevaluatedItems":false})"},
    }),
    [](const auto& test) { return test.param.name; });

// In all pairs of schemas with each way to combine others.
TEST(Contradiction, BetweenSchemasIsNeverWrong) {
  for (const NamedSchema& x : CombinedSchemas()) {
    for (const NamedSchema& y : CombinedSchemas()) {
      if (std::string(x.schema).find("$defs") != std::string::npos) continue;
      if (std::string(y.schema).find("$defs") != std::string::npos) continue;
      SchemaParts parts(std::string(R"({"allOf":[)") + x.schema + "," + y.schema + "]}");
      const Claim both[] = {parts.Holds("/allOf/0"), parts.Holds("/allOf/1")};
      const bool found = parts.contradiction.Between(both[0], both[1]);
      EXPECT_EQ(parts.contradiction.Between(both[1], both[0]), found);
      if (!found) continue;
      for (const std::string& value : SmallValues()) {
        EXPECT_FALSE(parts.Validates(value, both[0]) && parts.Validates(value, both[1]))
            << value << " is " << x.name << " and " << y.name;
      }
    }
  }
}

TEST(Contradiction, BetweenLooksAtBoth) {
  SchemaParts parts(R"({"anyOf":[{"const":1},{"const":2},{"minimum":1}]})");
  const auto between = [&](const char* x, const char* y) {
    return parts.contradiction.Between(parts.Holds(x), parts.Holds(y));
  };
  EXPECT_TRUE(between("/anyOf/0", "/anyOf/1"));
  EXPECT_FALSE(between("/anyOf/0", "/anyOf/2"));
  EXPECT_TRUE(parts.contradiction.Between(parts.Holds("/anyOf/0"), parts.Fails("/anyOf/2")));
}

TEST(Contradiction, WithoutBudgetNothingIsProved) {
  SchemaParts parts(R"({"type":"string","const":1})");
  const Conjunction all = parts.All();
  Budget budget(Budget::Bounds{.work = 1});
  (void)budget.Spend(1'000'000);
  Contradiction contradiction(parts.logic, parts.checker, budget);
  EXPECT_FALSE(contradiction.In(all));
}

}  // namespace
}  // namespace maskd
