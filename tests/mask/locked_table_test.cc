#include "grammar_core/mask/locked_table.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace maskd {
namespace {

// The value, or -1 where there is none.
constexpr auto kValue = [](const int* found) { return found == nullptr ? -1 : *found; };

TEST(LockedTableTest, FindsWhatWasPutInAnyShard) {
  LockedTable<std::uint64_t, int, NoBytes, 16> table({.entries = 4'000});
  for (int i = 0; i < 1'000; ++i) table.Put(static_cast<std::uint64_t>(i), i);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(table.Find(static_cast<std::uint64_t>(i), kValue), i);
  EXPECT_EQ(table.Find(1'000, kValue), -1);
  EXPECT_EQ(table.size(), 1'000);
  table.Put(7, 70);
  EXPECT_EQ(table.Find(7, kValue), 70);
  EXPECT_EQ(table.size(), 1'000);
}

TEST(LockedTableTest, TheBoundIsThatOfAllShards) {
  LockedTable<std::uint64_t, int, NoBytes, 16> table({.entries = 320});
  for (int i = 0; i < 10'000; ++i) table.Put(static_cast<std::uint64_t>(i), i);
  EXPECT_LE(table.size(), 320);
  EXPECT_GE(table.size(), 160) << "each shard has at least its younger half";
}

TEST(LockedTableTest, WhatIsNotUsedIsForgottenByTwoAges) {
  LockedTable<std::string, int> table({});
  table.Put("used", 1);
  table.Put("unused", 2);
  table.Age();
  EXPECT_EQ(table.Find("used", kValue), 1);
  table.Age();
  EXPECT_EQ(table.Find("used", kValue), 1);
  EXPECT_EQ(table.Find("unused", kValue), -1);
}

struct BytesOfText {
  std::int64_t operator()(int /*key*/, const std::shared_ptr<std::string>& text) const {
    return static_cast<std::int64_t>(text->size());
  }
};

TEST(LockedTableTest, BytesAreThoseOfAllShards) {
  LockedTable<int, std::shared_ptr<std::string>, BytesOfText, 4> table({});
  for (int i = 0; i < 100; ++i) table.Put(i, std::make_shared<std::string>(10, 'x'));
  EXPECT_EQ(table.value_bytes(), 1'000);
  EXPECT_GT(table.held_bytes(), 1'000);
  table.Age();
  table.Age();
  EXPECT_EQ(table.value_bytes(), 0);
}

// Ends by asking its table, so it must not end under the table's lock.
struct AsksAtItsEnd {
  LockedTable<int, std::shared_ptr<AsksAtItsEnd>>* table;
  int* ended;
  ~AsksAtItsEnd() {
    ++*ended;
    EXPECT_EQ(table->Find(-1, [](const auto* found) { return found; }), nullptr);
  }
};

TEST(LockedTableTest, WhatIsDroppedEndsOutsideOfTheLock) {
  int ended = 0;
  LockedTable<int, std::shared_ptr<AsksAtItsEnd>> table({.entries = 8});
  for (int i = 0; i < 40; ++i)
    table.Put(i, std::shared_ptr<AsksAtItsEnd>(new AsksAtItsEnd{&table, &ended}));
  EXPECT_GE(ended, 32);
  table.Age();
  table.Age();
  EXPECT_EQ(ended, 40);
}

TEST(LockedTableTest, ThreadsShareIt) {
  LockedTable<std::uint64_t, std::uint64_t, NoBytes, 16> table({.entries = 512});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&table, &wrong, seed] {
      std::uint64_t at = seed;
      for (int i = 0; i < 20'000; ++i) {
        at = at * 6'364'136'223'846'793'005U + 1;
        const std::uint64_t key = (at >> 33) % 1'000;
        table.Put(key, key * 3);
        const std::uint64_t found = table.Find(
            key, [](const std::uint64_t* value) { return value == nullptr ? 0 : *value; });
        if (found != 0 && found != key * 3) ++wrong;
        if (i % 1'000 == 0) table.Age();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace maskd
