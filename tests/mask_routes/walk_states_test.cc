// A walk's own table against the automaton and the prefix oracle.
#include "grammar_core/mask_routes/walk_states.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/automaton/automaton_size.h"
#include "tests/oracle/prefix_oracle.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

constexpr char kGrammar[] =
    R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}},)"
    R"("s":{"type":"string","pattern":"x.y","allOf":[{"pattern":"[0-9]$"}]}},)"
    R"("required":["a"],"additionalProperties":false})";

class WalkStatesTest : public testing::Test {
 protected:
  SmallGrammar grammar_{"json_schema", kGrammar};
};

TEST_F(WalkStatesTest, StepsAreThoseOfTheOracle) {
  PrefixOracle oracle(grammar_.ir());
  std::mt19937_64 random(9);
  int steps = 0;
  for (int walk = 0; walk < 20; ++walk) {
    WalkStates states(&grammar_.automaton(), &grammar_.work());
    WalkStates::State at = states.Enter(grammar_.automaton().start());
    PrefixOracle::State expected = oracle.start();
    for (int length = 0; length < 50; ++length) {
      std::vector<unsigned char> alive;
      for (int byte = 0; byte < 256; ++byte) {
        const WalkStates::State next = states.Step(at, static_cast<unsigned char>(byte));
        ASSERT_NE(next, WalkStates::kFailed);
        const auto behind = oracle.Step(expected, static_cast<unsigned char>(byte));
        ASSERT_EQ(next != WalkStates::kDead, behind != PrefixOracle::kDead) << byte;
        if (next != WalkStates::kDead) alive.push_back(static_cast<unsigned char>(byte));
      }
      if (alive.empty()) break;
      const unsigned char byte = alive[random() % alive.size()];
      at = states.Step(at, byte);
      expected = oracle.Step(expected, byte);
      ++steps;
    }
  }
  EXPECT_GT(steps, 300);
}

TEST_F(WalkStatesTest, AStateThatIsNarrowedOnTheWayTakesTheBytesOfTheOracle) {
  PrefixOracle oracle(grammar_.ir());
  std::mt19937_64 random(11);
  int dead = 0;
  for (int walk = 0; walk < 20; ++walk) {
    WalkStates states(&grammar_.automaton(), &grammar_.work());
    WalkStates::State at = states.Enter(grammar_.automaton().start());
    PrefixOracle::State expected = oracle.start();
    for (int length = 0; length < 50; ++length) {
      states.Narrow(at);
      std::vector<unsigned char> alive;
      for (int i = 0; i < 256; ++i) {
        const auto byte = static_cast<unsigned char>(i);
        const bool refused = oracle.Step(expected, byte) == PrefixOracle::kDead;
        if (states.IsDead(at, byte)) ++dead;
        ASSERT_TRUE(refused || !states.IsDead(at, byte)) << i;
        ASSERT_EQ(states.Step(at, byte) == WalkStates::kDead, refused) << i;
        if (!refused) alive.push_back(byte);
      }
      if (alive.empty()) break;
      const unsigned char byte = alive[random() % alive.size()];
      at = states.Step(at, byte);
      expected = oracle.Step(expected, byte);
    }
  }
  EXPECT_GT(dead, 10'000);
}

// What the form of a state's first cells rules out, when it is entered, is what the oracle refuses.
TEST_F(WalkStatesTest, AStateThatIsEnteredTakesTheBytesOfTheOracle) {
  PrefixOracle oracle(grammar_.ir());
  std::mt19937_64 random(10);
  int entered = 0;
  for (int walk = 0; walk < 20; ++walk) {
    TermId state = grammar_.automaton().start();
    PrefixOracle::State expected = oracle.start();
    for (int length = 0; length < 50; ++length, ++entered) {
      WalkStates states(&grammar_.automaton(), &grammar_.work());
      const WalkStates::State at = states.Enter(state);
      std::vector<unsigned char> alive;
      for (int byte = 0; byte < 256; ++byte) {
        const bool taken = states.Step(at, static_cast<unsigned char>(byte)) != WalkStates::kDead;
        const auto behind = oracle.Step(expected, static_cast<unsigned char>(byte));
        ASSERT_EQ(taken, behind != PrefixOracle::kDead) << byte;
        if (taken) alive.push_back(static_cast<unsigned char>(byte));
      }
      ASSERT_EQ(states.lowest_floor(), grammar_.automaton().store().term(state).floor());
      if (alive.empty()) break;
      const unsigned char byte = alive[random() % alive.size()];
      state = grammar_.automaton().Step(state, byte, grammar_.work());
      expected = oracle.Step(expected, byte);
    }
  }
  EXPECT_GT(entered, 300);
}

TEST_F(WalkStatesTest, AStateHasOneNumber) {
  WalkStates states(&grammar_.automaton(), &grammar_.work());
  const WalkStates::State start = states.Enter(grammar_.automaton().start());
  EXPECT_GT(start, WalkStates::kFailed);
  EXPECT_EQ(states.Enter(grammar_.automaton().start()), start);
  EXPECT_EQ(states.Step(start, '{'), states.Enter(grammar_.Behind("{")));
  EXPECT_EQ(states.Step(start, '}'), WalkStates::kDead);
}

// What was stepped from is what a mask made by the walk depends on.
TEST_F(WalkStatesTest, TheFloorIsTheLowestOfWhatWasSteppedFrom) {
  WalkStates states(&grammar_.automaton(), &grammar_.work());
  const TermId inner = grammar_.Behind("{\"a\":[1,");
  const WalkStates::State at = states.Enter(inner);
  states.Step(at, '2');
  EXPECT_EQ(states.lowest_floor(), grammar_.automaton().store().term(inner).floor());
  const TermId outer = grammar_.Behind("{\"a\":[1]");
  states.Step(states.Enter(outer), '}');
  EXPECT_EQ(states.lowest_floor(), std::min(grammar_.automaton().store().term(inner).floor(),
                                            grammar_.automaton().store().term(outer).floor()));
}

// What a walk makes of a cell serves it before every tail: a second one adds nothing to the
// automaton.
TEST_F(WalkStatesTest, NoTermIsMadeOfWhatFollows) {
  const TermStore& store = grammar_.automaton().store();
  const TermStore::Parts inner = store.PartsOf(grammar_.Behind("{\"a\":[1,"));
  const TermId other = grammar_.Behind("{\"a\"");
  const auto walk = [&](TermId tail) {
    WalkStates states(&grammar_.automaton(), &grammar_.work());
    WalkStates::State at = states.Enter(inner.cell, tail);
    for (const char byte : absl::string_view("-17")) {
      at = states.Step(at, static_cast<unsigned char>(byte));
      ASSERT_GT(at, WalkStates::kFailed);
    }
  };
  ASSERT_NE(inner.tail, other);
  walk(inner.tail);
  const std::uint32_t terms = store.size();
  walk(other);
  EXPECT_EQ(store.size(), terms);
}

TEST_F(WalkStatesTest, ASpentBudgetFails) {
  Budget spent(Budget::Bounds{.work = 0});
  Work work(spent);
  WalkStates states(&grammar_.automaton(), &work);
  const WalkStates::State at = states.Enter(grammar_.automaton().start());
  EXPECT_EQ(states.Step(at, '{'), WalkStates::kFailed);
  EXPECT_FALSE(work.ok());
}

// An automaton with all its room keeps terms: they serve the next masks too.
TEST_F(WalkStatesTest, TermsAreSparedInAFullAutomatonOnly) {
  const TermId string = grammar_.Behind("{\"a\":[],\"s\":\"");
  EXPECT_FALSE(WalkStates(&grammar_.automaton(), &grammar_.work()).SparesTerms(string));
  Limits narrow;
  narrow.terms = static_cast<std::int64_t>(grammar_.automaton().store().size()) + 2;
  SmallGrammar full("json_schema", kGrammar, {}, narrow);
  const TermId same = full.Behind("{\"a\":[],\"s\":\"");
  ASSERT_LT(AutomatonSize(full.automaton()).room(), 0.5);
  EXPECT_TRUE(WalkStates(&full.automaton(), &full.work()).SparesTerms(same));
}

}  // namespace
}  // namespace maskd
