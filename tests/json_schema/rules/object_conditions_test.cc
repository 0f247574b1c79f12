// Clauses taken apart, held against the clauses themselves for every truth of what they are about.
#include "grammar_core/frontend/json_schema/rules/object_conditions.h"

#include <algorithm>
#include <map>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// Literals, each with the event that it depends on.
Claim Has(JsonId name) { return {.kind = Kind::kHas, .keyword = K::kRequired, .at = name}; }
Claim Lacks(JsonId name) { return Has(name).Negated(); }
Claim Fails(K keyword, JsonId at) {
  const bool whole = keyword == K::kAdditionalProperties || keyword == K::kPropertyNames ||
                     keyword == K::kUnevaluatedProperties;
  return {.kind = whole ? Kind::kKeyword : Kind::kElement,
          .negated = true,
          .keyword = keyword,
          .at = at};
}
Claim Holds(K keyword, JsonId at) { return Fails(keyword, at).Negated(); }

using Truth = std::map<Claim, bool>;

bool IsTrue(const Claim& literal, const Truth& truth) {
  const Claim event = EventOf(literal);
  return truth.at(event) == (literal == event);
}

bool IsTrue(const Clauses& clauses, const Truth& truth) {
  return std::ranges::all_of(clauses, [&](const Clause& clause) {
    return std::ranges::any_of(clause, [&](const Claim& c) { return IsTrue(c, truth); });
  });
}

// By the words of ObjectSpec::Condition.
bool IsTrue(const ObjectConditions& conditions, const Truth& truth) {
  const auto left = [&](ObjectSpec::Mark mark) { return truth.at(conditions.events()[mark]); };
  const auto all = conditions.Conditions();
  return std::ranges::all_of(conditions.facts(),
                             [&](const Claim& c) { return IsTrue(c, truth); }) &&
         std::ranges::all_of(all, [&](const ObjectSpec::Condition& condition) {
           return std::ranges::any_of(condition.some, left) ||
                  !std::ranges::all_of(condition.unless_all, left);
         });
}

// Every truth of the events in `clauses`.
std::vector<Truth> TruthsOf(const Clauses& clauses) {
  std::vector<Truth> truths = {{}};
  for (const Clause& clause : clauses) {
    for (const Claim& literal : clause) {
      const Claim event = EventOf(literal);
      if (truths.front().contains(event)) continue;
      std::vector<Truth> more = truths;
      for (Truth& truth : truths) truth[event] = false;
      for (Truth& truth : more) truth[event] = true;
      truths.insert(truths.end(), more.begin(), more.end());
    }
  }
  return truths;
}

struct ClausesCase {
  const char* name;
  Clauses clauses;
  std::size_t facts;
  std::size_t conditions;
  bool is_false = false;
};

void PrintTo(const ClausesCase& c, std::ostream* out) { *out << c.name; }

class ObjectConditionsTest : public testing::TestWithParam<ClausesCase> {};

TEST_P(ObjectConditionsTest, SayWhatTheClausesSay) {
  const ObjectConditions conditions(GetParam().clauses);
  ASSERT_EQ(conditions.is_false(), GetParam().is_false);
  for (const Truth& truth : TruthsOf(GetParam().clauses)) {
    const bool wanted = IsTrue(GetParam().clauses, truth);
    if (conditions.is_false())
      EXPECT_FALSE(wanted);
    else
      EXPECT_EQ(IsTrue(conditions, truth), wanted);
  }
  if (conditions.is_false()) return;
  EXPECT_EQ(conditions.facts().size(), GetParam().facts);
  EXPECT_EQ(conditions.clauses().size(), GetParam().conditions);
}

// A mark that only harms: leaving it never turns what is false into what is true.
TEST_P(ObjectConditionsTest, KnowTheMarksThatOnlyHarm) {
  const ObjectConditions conditions(GetParam().clauses);
  if (conditions.is_false()) return;
  for (ObjectSpec::Mark mark = 0; mark < conditions.events().size(); ++mark) {
    bool helps = false;
    for (Truth truth : TruthsOf(GetParam().clauses)) {
      truth[conditions.events()[mark]] = false;
      const bool before = IsTrue(conditions, truth);
      truth[conditions.events()[mark]] = true;
      helps |= !before && IsTrue(conditions, truth);
    }
    EXPECT_EQ(conditions.OnlyHarms(mark), !helps);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Clauses, ObjectConditionsTest,
    testing::ValuesIn(std::vector<ClausesCase>{
        {"None", {}, 0, 0},
        {"Fact", {{Has(1)}}, 1, 0},
        {"FactTwice", {{Has(1)}, {Has(1)}}, 1, 0},
        {"Either", {{Has(1), Has(2)}}, 0, 1},
        {"Dependency", {{Lacks(1), Has(2)}}, 0, 1},
        {"SettledByAFact", {{Lacks(1), Has(2)}, {Has(1)}}, 2, 0},
        {"Chain", {{Lacks(3), Has(4)}, {Lacks(2), Has(3)}, {Lacks(1), Has(2)}, {Has(1)}}, 4, 0},
        {"TrueByAFact", {{Lacks(1), Has(2), Has(3)}, {Lacks(1)}}, 1, 0},
        {"Shortened", {{Lacks(1), Has(2), Lacks(3)}, {Has(1)}}, 1, 1},
        {"Contrary", {{Has(1)}, {Lacks(1)}}, 0, 0, true},
        {"ContraryInTurn", {{Lacks(1), Has(2)}, {Lacks(2)}, {Has(1)}}, 0, 0, true},
        {"False", {{}}, 0, 0, true},
        {"FailingMember", {{Fails(K::kProperties, 1)}, {Lacks(2), Holds(K::kProperties, 1)}}, 2, 0},
        {"EachMemberHolds", {{Holds(K::kAdditionalProperties, 1)}}, 1, 0},
        {"SomeMemberFails", {{Fails(K::kAdditionalProperties, 1)}}, 0, 1},
        {"SomeOfAPatternFails", {{Fails(K::kPatternProperties, 1)}, {Has(2)}}, 1, 1},
        {"BothSigns", {{Has(1), Lacks(2)}, {Has(2), Lacks(1)}}, 0, 2},
        {"OneSign", {{Lacks(1), Has(2)}, {Lacks(1), Holds(K::kProperties, 3)}}, 0, 2},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ObjectConditions, SomeOtherMemberMayHelpByAPatternOrTheRest) {
  const auto needs = [](const Claim& literal) {
    return ObjectConditions({{literal, Has(1)}}).NeedsSomeOther();
  };
  EXPECT_TRUE(needs(Fails(K::kPatternProperties, 2)));
  EXPECT_TRUE(needs(Fails(K::kAdditionalProperties, 2)));
  EXPECT_TRUE(needs(Fails(K::kUnevaluatedProperties, 2)));
  EXPECT_FALSE(needs(Holds(K::kAdditionalProperties, 2)));
  EXPECT_FALSE(needs(Fails(K::kProperties, 2)));
  EXPECT_FALSE(needs(Has(2)));
}

}  // namespace
}  // namespace maskd
