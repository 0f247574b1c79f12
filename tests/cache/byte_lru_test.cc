#include "cache/byte_lru.h"

#include <gtest/gtest.h>

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
