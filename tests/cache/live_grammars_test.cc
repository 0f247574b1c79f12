#include "cache/live_grammars.h"

#include <atomic>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cache/fake_grammar.h"

namespace maskd::cache {
namespace {

TEST(LiveGrammarsTest, CountsAGrammarUntilItsLastUserLetsGo) {
  LiveGrammars live(&NumberOf);
  GrammarPtr cached = live.Track(FakeGrammar(70));
  GrammarPtr row = cached;
  const GrammarPtr other = live.Track(FakeGrammar(5));
  EXPECT_EQ(live.held_bytes(), 75);
  cached = nullptr;  // the cache drops it
  EXPECT_EQ(live.held_bytes(), 75);
  EXPECT_EQ(NumberOf(row), 70);
  row = nullptr;
  EXPECT_EQ(live.held_bytes(), 5);
  EXPECT_EQ(live.size(), 1U);
}

TEST(LiveGrammarsTest, MeasuresAgain) {
  int bytes = 10;
  LiveGrammars live([&](const GrammarPtr&) { return bytes; });
  const GrammarPtr grammar = live.Track(FakeGrammar(1));
  bytes = 30;
  EXPECT_EQ(live.held_bytes(), 10);
  for (const GrammarPtr& each : live.all()) live.Measure(each);
  EXPECT_EQ(live.held_bytes(), 30);
}

TEST(LiveGrammarsTest, WhatIsTrackedTwiceCountsOnce) {
  LiveGrammars live(&NumberOf);
  const GrammarPtr once = live.Track(FakeGrammar(7));
  const GrammarPtr twice = live.Track(once);
  EXPECT_EQ(live.held_bytes(), 7);
}

TEST(LiveGrammarsTest, AGrammarMayOutliveTheCount) {
  GrammarPtr grammar;
  {
    LiveGrammars live(&NumberOf);
    grammar = live.Track(FakeGrammar(7));
  }
  EXPECT_EQ(NumberOf(grammar), 7);
}

TEST(LiveGrammarsTest, StandsUpToManyThreads) {
  LiveGrammars live(&NumberOf);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const GrammarPtr grammar = live.Track(FakeGrammar(i));
        for (const GrammarPtr& each : live.all()) live.Measure(each);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(live.held_bytes(), 0);
  EXPECT_EQ(live.size(), 0U);
}

TEST(LiveGrammarsTest, IsWalkedBySomeWhileGrammarsComeAndGo) {
  LiveGrammars live(&NumberOf);
  std::vector<GrammarPtr> all;
  for (int i = 0; i < 10; ++i) all.push_back(live.Track(FakeGrammar(i)));
  std::set<const CompiledGrammar*> seen;
  LiveGrammars::Some some = live.ListSome(nullptr, 3);
  EXPECT_EQ(some.listed.size(), 3U);
  for (const LiveGrammars::Listed& each : some.listed) seen.insert(each.grammar.get());
  std::erase_if(all, [&](const GrammarPtr& grammar) { return seen.contains(grammar.get()); });
  const CompiledGrammar* const last = some.next_after;
  some.listed.clear();  // those three go, the one that the walk goes on behind among them
  EXPECT_EQ(live.size(), 7U);
  for (const CompiledGrammar* after = last; after != nullptr; after = some.next_after) {
    some = live.ListSome(after, 3);
    for (const LiveGrammars::Listed& each : some.listed)
      EXPECT_TRUE(seen.insert(each.grammar.get()).second);
  }
  EXPECT_EQ(seen.size(), 10U);
}

TEST(LiveGrammarsTest, CountsRowsAndTheirCopies) {
  LiveGrammars live(&NumberOf);
  const GrammarPtr grammar = live.Track(FakeGrammar(1));
  const auto usage = live.UsageOf(grammar);
  ASSERT_NE(usage, nullptr);
  RowOfGrammar row(usage);
  {
    const RowOfGrammar fork = row;
    EXPECT_EQ(usage->rows, 2);
    row = RowOfGrammar(usage);
    EXPECT_EQ(usage->rows, 2);
  }
  const RowOfGrammar moved = std::move(row);
  EXPECT_EQ(usage->rows, 1);
  EXPECT_EQ(live.UsageOf(FakeGrammar(2)), nullptr);
}

}  // namespace
}  // namespace maskd::cache
