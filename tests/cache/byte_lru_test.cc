#include "cache/byte_lru.h"

#include <gtest/gtest.h>

#include "cache/share.h"
#include "tests/cache/fake_grammar.h"

namespace maskd::cache {
namespace {

TEST(ByteLruTest, DropsTheLeastRecentlyUsedOverItsBudget) {
  ByteLru lru(100);
  EXPECT_TRUE(lru.Put("a", FakeGrammar(1), 40).empty());
  EXPECT_TRUE(lru.Put("b", FakeGrammar(2), 40).empty());
  EXPECT_NE(lru.Use("a"), nullptr);
  const std::vector<GrammarPtr> dropped = lru.Put("c", FakeGrammar(3), 40);
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(NumberOf(dropped[0]), 2);
  EXPECT_EQ(lru.Use("b"), nullptr);
  EXPECT_EQ(lru.held_bytes(), 80);
}

TEST(ByteLruTest, CountsGrowth) {
  ByteLru lru(100);
  lru.Put("a", FakeGrammar(1), 10);
  lru.Put("b", FakeGrammar(2), 10);
  EXPECT_EQ(lru.Resize("b", 95).size(), 1U);
  EXPECT_EQ(lru.held_bytes(), 95);
  EXPECT_EQ(lru.Use("a"), nullptr);
  EXPECT_TRUE(lru.Resize("a", 1000).empty()) << "an absent grammar has no size";
  EXPECT_EQ(lru.held_bytes(), 95);
}

TEST(ByteLruTest, AShareThatIsFullDropsItsOwn) {
  ByteLru lru(1000);
  const auto red = std::make_shared<Share>();
  const auto blue = std::make_shared<Share>();
  red->capacity_bytes = 100;
  lru.Put("b1", FakeGrammar(1), 400, blue);  // without a limit of its own
  lru.Put("r1", FakeGrammar(2), 60, red);
  lru.Put("r2", FakeGrammar(3), 40, red);
  EXPECT_NE(lru.Use("r1"), nullptr);
  const std::vector<GrammarPtr> dropped = lru.Put("r3", FakeGrammar(4), 30, red);
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(NumberOf(dropped[0]), 3) << "the least recently used of the share";
  EXPECT_TRUE(lru.Has("b1"));
  EXPECT_EQ(red->held_bytes, 90);
  EXPECT_EQ(blue->held_bytes, 400);
  EXPECT_EQ(lru.held_bytes(), 490);
}

TEST(ByteLruTest, WhatGrowsPastItsShareStaysAndTheOthersOfItGo) {
  ByteLru lru(1000);
  const auto red = std::make_shared<Share>();
  red->capacity_bytes = 100;
  lru.Put("r1", FakeGrammar(1), 40, red);
  lru.Put("r2", FakeGrammar(2), 40, red);
  EXPECT_EQ(lru.Resize("r1", 500).size(), 1U);
  EXPECT_TRUE(lru.Has("r1"));
  EXPECT_EQ(red->held_bytes, 500);
  red->capacity_bytes = 0;
  EXPECT_TRUE(lru.Put("r3", FakeGrammar(3), 400, red).empty());
  EXPECT_EQ(lru.Put("r4", FakeGrammar(4), 200, red).size(), 1U) << "the cache's own limit";
  EXPECT_EQ(red->held_bytes, 600);
}

TEST(ByteLruTest, KeepsTheLastUsedHoweverLarge) {
  ByteLru lru(100);
  EXPECT_TRUE(lru.Put("huge", FakeGrammar(1), 1'000'000).empty());
  EXPECT_NE(lru.Use("huge"), nullptr);
  EXPECT_EQ(lru.Put("next", FakeGrammar(2), 1).size(), 1U);
  EXPECT_EQ(lru.Use("huge"), nullptr);
}

TEST(ByteLruTest, ReplacesWithoutCountingTwice) {
  ByteLru lru(100);
  lru.Put("a", FakeGrammar(1), 60);
  lru.Put("a", FakeGrammar(2), 70);
  EXPECT_EQ(lru.held_bytes(), 70);
  EXPECT_EQ(lru.size(), 1U);
  EXPECT_EQ(NumberOf(lru.Use("a")), 2);
}

}  // namespace
}  // namespace maskd::cache
