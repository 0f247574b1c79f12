// Histories against a vector each, through random pushes, pops, copies and moves.
#include "grammar_core/matcher/state_history.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

// A history and what it should hold.
struct Pair {
  StateHistory history{0};
  std::vector<std::uint32_t> states = {0};

  void Push(std::uint32_t state) {
    history.Push(state);
    states.push_back(state);
  }
  void Pop(int count) {
    history.Pop(count);
    states.resize(states.size() - static_cast<std::size_t>(count));
  }
  // Takes all states off a copy, one by one.
  void ExpectSame() const {
    StateHistory copy = history;
    ASSERT_EQ(copy.size(), static_cast<int>(states.size()));
    for (auto state = states.rbegin(); state != states.rend(); ++state) {
      ASSERT_EQ(copy.back(), *state) << copy.size() << " of " << states.size();
      if (copy.size() > 1) copy.Pop(1);
    }
  }
};

TEST(StateHistoryTest, RandomOperationsOnForksAreThoseOnVectors) {
  Random random(7);
  std::vector<Pair> pairs(1);
  for (int i = 0; i < 20'000; ++i) {
    Pair& pair = pairs[random() % pairs.size()];
    const int size = pair.history.size();
    switch (random() % 8) {
      case 0:
        pair.Pop(static_cast<int>(random() % static_cast<unsigned>(size)));
        break;
      case 1:
        pair.Pop(std::min(size - 1, static_cast<int>(random() % 5)));
        break;
      case 2:
        if (pairs.size() < 8) {
          pairs.push_back(Pair(pair));
        } else {
          pair = Pair(pairs[random() % pairs.size()]);
        }
        break;
      case 3:
        std::swap(pair, pairs.front());
        break;
      default:
        for (int n = 0; n < 40; ++n) pair.Push(static_cast<std::uint32_t>(random()));
    }
    if (i % 50 == 0) {
      for (const Pair& each : pairs) each.ExpectSame();
    }
  }
}

TEST(StateHistoryTest, EveryCountCanBeTakenBack) {
  Pair full;
  for (std::uint32_t state = 1; state <= 300; ++state) full.Push(state);
  for (int count = 0; count <= 300; ++count) {
    Pair part = full;
    part.Pop(count);
    EXPECT_EQ(part.history.size(), 301 - count);
    part.ExpectSame();
    // Goes on from there, and the original does not see it.
    for (std::uint32_t state = 0; state < 70; ++state) part.Push(1'000 + state);
    part.ExpectSame();
  }
  full.ExpectSame();
}

TEST(StateHistoryTest, AMillionStatesEndWithoutRecursion) {
  StateHistory history(0);
  for (std::uint32_t state = 1; state < 4'000'000; ++state) history.Push(state);
  const StateHistory fork = history;
  history = StateHistory(5);
  EXPECT_EQ(history.back(), 5U);
  EXPECT_EQ(fork.back(), 3'999'999U);
}

}  // namespace
}  // namespace maskd
