// Histories against a vector each, through random pushes, pops, copies and moves.
#include "grammar_core/matcher/token_history.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

// A history and what it should hold: token n leads to state n + 1'000'000.
struct Pair {
  static constexpr std::uint32_t kStart = 7;
  TokenHistory history{kStart};
  std::vector<TokenId> tokens;

  void Push(TokenId token) {
    history.Push(token, StateOf(token));
    tokens.push_back(token);
  }
  void Pop(int count) {
    history.Pop(count);
    tokens.resize(tokens.size() - static_cast<std::size_t>(count));
  }
  // Takes all tokens off a copy, one by one.
  void ExpectSame() const {
    TokenHistory copy = history;
    ASSERT_EQ(copy.size(), static_cast<int>(tokens.size()));
    ASSERT_EQ(copy.LastTokens(copy.size() + 5), tokens);
    ASSERT_EQ(copy.LastTokens(0), std::vector<TokenId>());
    for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
      ASSERT_EQ(copy.state(), StateOf(*token)) << copy.size() << " of " << tokens.size();
      ASSERT_EQ(copy.LastTokens(1), std::vector<TokenId>{*token});
      copy.Pop(1);
    }
    ASSERT_EQ(copy.state(), kStart);
  }
  static std::uint32_t StateOf(TokenId token) {
    return static_cast<std::uint32_t>(token) + 1'000'000;
  }
};

TokenId AnyToken(Random* random) { return static_cast<TokenId>((*random)() % 200'000); }

TEST(TokenHistoryTest, RandomOperationsOnForksAreThoseOnVectors) {
  Random random(7);
  std::vector<Pair> pairs(1);
  for (int i = 0; i < 20'000; ++i) {
    Pair& pair = pairs[random() % pairs.size()];
    const int size = pair.history.size();
    switch (random() % 8) {
      case 0:
        pair.Pop(static_cast<int>(random() % static_cast<unsigned>(size + 1)));
        break;
      case 1:
        pair.Pop(std::min(size, static_cast<int>(random() % 5)));
        break;
      case 2:
        if (pairs.size() < 8)
          pairs.push_back(Pair(pair));
        else
          pair = Pair(pairs[random() % pairs.size()]);
        break;
      case 3:
        std::swap(pair, pairs.front());
        break;
      default:
        for (int n = 0; n < 40; ++n) pair.Push(AnyToken(&random));
    }
    if (i % 50 == 0)
      for (const Pair& each : pairs) each.ExpectSame();
  }
}

TEST(TokenHistoryTest, EveryCountCanBeTakenBack) {
  Pair full;
  for (TokenId token = 1; token <= 300; ++token) full.Push(token);
  for (int count = 0; count <= 300; ++count) {
    Pair part = full;
    part.Pop(count);
    EXPECT_EQ(part.history.size(), 300 - count);
    part.ExpectSame();
    // Goes on from there, and the original does not see it.
    for (TokenId token = 0; token < 70; ++token) part.Push(1'000 + token);
    part.ExpectSame();
  }
  full.ExpectSame();
}

TEST(TokenHistoryTest, MillionsOfTokensEndWithoutRecursion) {
  TokenHistory history(0);
  for (TokenId token = 1; token < 4'000'000; ++token) history.Push(token, 5);
  const TokenHistory fork = history;
  history = TokenHistory(5);
  EXPECT_EQ(history.size(), 0);
  EXPECT_EQ(fork.LastTokens(2), (std::vector<TokenId>{3'999'998, 3'999'999}));
}

}  // namespace
}  // namespace maskd
