// Walks in products against the prefix oracle.
#include "grammar_core/mask_routes/condition_states.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/automaton/automaton.h"
#include "tests/oracle/prefix_oracle.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

constexpr char kPatterns[] =
    R"({"type":"array","items":{"type":"string","pattern":"a+b","allOf":[{"pattern":"c$"},)"
    R"({"pattern":"^[a-cé]{3,7}$"}]}})";

class ConditionStatesTest : public testing::Test {
 protected:
  SmallGrammar grammar_{"json_schema", kPatterns};
  ConditionStates states_{&grammar_.automaton(), &grammar_.work()};
};

TEST_F(ConditionStatesTest, StepsAreThoseOfTheOracle) {
  PrefixOracle oracle(grammar_.ir());
  std::mt19937_64 random(2);
  int within = 0;
  int behind = 0;
  for (int walk = 0; walk < 60; ++walk) {
    std::optional<std::uint32_t> at = states_.Enter(grammar_.Behind("[\""));
    ASSERT_TRUE(at.has_value());
    PrefixOracle::State expected = oracle.StepText(oracle.start(), "[\"");
    while (at.has_value()) {
      std::vector<unsigned char> alive;
      for (int byte = 0; byte < 256; ++byte) {
        const ConditionStates::Next next = states_.Step(*at, static_cast<unsigned char>(byte));
        const bool goes_on = next.within.has_value() || next.behind != kNothingTerm;
        const auto after = oracle.Step(expected, static_cast<unsigned char>(byte));
        ASSERT_EQ(goes_on, after != PrefixOracle::kDead) << byte;
        if (goes_on) alive.push_back(static_cast<unsigned char>(byte));
      }
      ASSERT_FALSE(alive.empty());
      const unsigned char byte = alive[random() % alive.size()];
      const ConditionStates::Next next = states_.Step(*at, byte);
      expected = oracle.Step(expected, byte);
      at = next.within;
      ++within;
      if (next.behind == kNothingTerm) continue;
      // Behind the string it is the automaton's again.
      std::size_t taken = 0;
      grammar_.automaton().StepText(next.behind, ",\"", &taken, grammar_.work());
      EXPECT_EQ(taken, 2);
      ++behind;
    }
  }
  EXPECT_GT(within, 200);
  EXPECT_EQ(behind, 60);
}

TEST_F(ConditionStatesTest, AStateIsMetOnce) {
  const auto at = states_.Enter(grammar_.Behind("[\""));
  ASSERT_TRUE(at.has_value());
  EXPECT_EQ(states_.Enter(grammar_.Behind("[\"")), at);
  const auto one = states_.Step(*at, 'a').within;
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(states_.Step(*at, 'a').within, one);
  EXPECT_NE(one, at);
}

TEST_F(ConditionStatesTest, StepsToKnownStatesAreWorkToo) {
  Budget budget({.work = 100'000});
  Work work(budget);
  ConditionStates states(&grammar_.automaton(), &work);
  const auto at = states.Enter(grammar_.Behind("[\""));
  ASSERT_TRUE(at.has_value());
  states.Step(*at, 'a');
  const std::int64_t before = budget.spent();
  for (int i = 0; i < 800; ++i) ASSERT_TRUE(states.Step(*at, 'a').within.has_value());
  EXPECT_GE(budget.spent() - before, 100);
}

TEST_F(ConditionStatesTest, OnlyStringsUnderSeveralConditionsAreEntered) {
  EXPECT_EQ(states_.Enter(grammar_.Behind("[")), std::nullopt);
  SmallGrammar one("json_schema", R"({"type":"string","pattern":"a+b"})");
  ConditionStates states(&one.automaton(), &one.work());
  EXPECT_EQ(states.Enter(one.Behind("\"")), std::nullopt);
}

// Within the string nothing of what follows it is read.
TEST_F(ConditionStatesTest, TheFloorFallsWhereTheStringMayEnd) {
  auto at = states_.Enter(grammar_.Behind("[\""));
  ASSERT_TRUE(at.has_value());
  const std::uint32_t within = states_.floor(*at);
  for (const char byte : std::string("abc"))
    at = states_.Step(*at, static_cast<unsigned char>(byte)).within;
  ASSERT_TRUE(at.has_value());
  EXPECT_LT(states_.floor(*at), within);
}

}  // namespace
}  // namespace maskd
