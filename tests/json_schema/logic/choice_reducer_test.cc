#include "grammar_core/frontend/json_schema/logic/choice_reducer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "tests/json_schema/logic/schema_parts.h"

namespace maskd {
namespace {

using K = Keyword;

class ReducedSchemaTest : public testing::TestWithParam<NamedSchema> {};

// Beside claims of each kind, so that there is something to settle by.
TEST_P(ReducedSchemaTest, HasTheSameValues) {
  for (const char* beside :
       {"true", R"({"type":["string","array"]})", R"({"type":"object"})", R"({"minimum":1})",
        R"({"enum":[1,"a",[1],{"a":1}]})", R"({"required":["a"],"type":"object"})",
        R"({"not":{"minItems":1}})"}) {
    SchemaParts parts(std::string(R"({"allOf":[)") + beside + R"(],"anyOf":[)" + GetParam().schema +
                      R"(],"$defs":{"x":{"anyOf":[{"const":1},{"required":["b"]}]}}})");
    const Conjunction reduced = parts.choices.Reduce(parts.All());
    for (const std::string& value : SmallValues()) {
      EXPECT_EQ(parts.Fits(value, reduced), parts.Validates(value, parts.Holds("")))
          << value << " beside " << beside;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, ReducedSchemaTest, testing::ValuesIn(CombinedSchemas()),
                         [](const auto& test) { return test.param.name; });

struct ReduceCase {
  const char* name;
  const char* schema;
  std::size_t choices;  // that are left
  bool is_false;
};

class ReduceTest : public testing::TestWithParam<ReduceCase> {};

TEST_P(ReduceTest, SettlesWhatIsProved) {
  SchemaParts parts(GetParam().schema);
  const Conjunction before = parts.All();
  ASSERT_FALSE(before.choices.empty());
  const Conjunction reduced = parts.choices.Reduce(before);
  EXPECT_EQ(reduced.is_false, GetParam().is_false);
  if (!reduced.is_false) EXPECT_EQ(reduced.choices.size(), GetParam().choices);
}

INSTANTIATE_TEST_SUITE_P(
    Choices, ReduceTest,
    testing::ValuesIn(std::vector<ReduceCase>{
        {"OneAlternativeLeft", R"({"type":"string","anyOf":[{"type":"null"},{"minLength":1}]})", 0,
         false},
        {"TwoLeft", R"({"type":"string","anyOf":[{"type":"null"},{"minLength":1},
            {"maxLength":5}]})",
         1, false},
        {"NoneLeft", R"({"type":"string","anyOf":[{"type":"null"},{"const":1}]})", 0, true},
        {"Alone", R"({"anyOf":[{"type":"null"},{"const":1}]})", 1, false},
        {"OneSettlesTheOther", R"({"allOf":[
            {"anyOf":[{"const":1,"type":"number"},{"const":2,"type":"number"}]},
            {"anyOf":[{"type":"null"},{"maximum":1,"type":"number"}]}]})",
         0, false},
        {"SettledInTurn", R"({"type":["string","null"],"allOf":[
            {"anyOf":[{"type":"null"},{"type":"object"}]},
            {"anyOf":[{"type":"string"},{"const":null}]}]})",
         0, false},
        {"FailsAnyway", R"({"type":"string","not":{"type":"number","minimum":1}})", 0, false},
        {"MayHold", R"({"type":"string","not":{"minLength":2,"maxLength":5}})", 1, false},
        // Where the condition holds, b is evaluated and may be there.
        {"MayHoldByWhatAnotherEvaluates",
         R"({"type":"object","unevaluatedProperties":false,"if":{"properties":{"b":true}},
             "not":{"properties":{"b":{"const":0}},"required":["b"]}})",
         2, false},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ChoiceReducer, ADeadChoiceNamesItsPlace) {
  SchemaParts parts(R"({"type":"string","anyOf":[{"type":"null"},{"const":1}]})");
  const Conjunction reduced = parts.choices.Reduce(parts.All());
  ASSERT_TRUE(reduced.is_false);
  EXPECT_EQ(parts.schemas.root().at(reduced.false_at).Pointer(), "/anyOf");
}

// Each branch, and the number of others that must be said to fail beside it.
std::vector<std::size_t> NegationsOfOneOf(SchemaParts& parts) {
  std::vector<std::size_t> counts;
  for (const auto& way : parts.choices.AlternativesOf(parts.Of(K::kOneOf, "/oneOf", false))) {
    EXPECT_EQ(std::ranges::count_if(way, [](const Claim& claim) { return !claim.negated; }), 1);
    counts.push_back(way.size() - 1);
  }
  return counts;
}

using Counts = std::vector<std::size_t>;

TEST(OneOfAlternatives, ExclusiveBranchesNeedNoNegation) {
  SchemaParts types(R"({"oneOf":[{"type":"string"},{"type":"null"},{"type":"array"}]})");
  EXPECT_EQ(NegationsOfOneOf(types), (Counts{0, 0, 0}));
  SchemaParts lists(R"({"oneOf":[{"enum":[1,"a"]},{"const":2},{"enum":["1",null]}]})");
  EXPECT_EQ(NegationsOfOneOf(lists), (Counts{0, 0, 0}));
}

TEST(OneOfAlternatives, OverlappingBranchesRuleOutEachOther) {
  SchemaParts parts(R"({"oneOf":[{"type":"number"},{"minimum":1},{"type":"null"}]})");
  EXPECT_EQ(NegationsOfOneOf(parts), (Counts{1, 2, 1}));
  SchemaParts lists(R"({"oneOf":[{"enum":[1,"a"]},{"const":1.0},{"const":2}]})");
  EXPECT_EQ(NegationsOfOneOf(lists), (Counts{1, 1, 0}));
}

TEST(OneOfAlternatives, OtherChoicesHaveThoseOfTheLogic) {
  SchemaParts parts(R"({"anyOf":[{"type":"number"},{"minimum":1}]})");
  const Claim choice = parts.Of(K::kAnyOf, "/anyOf", false);
  EXPECT_EQ(&parts.choices.AlternativesOf(choice), &*parts.logic.AlternativesOf(choice));
}

}  // namespace
}  // namespace maskd
