#include "cache/item_blocks.h"

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace maskd::cache {
namespace {

// What one worker is dealt while nobody else takes any.
std::vector<std::size_t> TakeAll(ItemBlocks* blocks, std::size_t worker) {
  std::vector<std::size_t> items;
  for (std::size_t item = 0; blocks->Take(worker, &item);) items.push_back(item);
  return items;
}

TEST(ItemBlocksTest, AWorkerBeginsWithItsOwnBlockAndGoesOnWithTheNext) {
  using Items = std::vector<std::size_t>;
  ItemBlocks blocks(7, 3);
  EXPECT_EQ(TakeAll(&blocks, 1), (Items{2, 3, 4, 5, 6, 0, 1}));
  EXPECT_EQ(TakeAll(&blocks, 0), Items());
}

TEST(ItemBlocksTest, WhatAnotherHasTakenIsNotTakenAgain) {
  ItemBlocks blocks(4, 2);
  std::size_t item = 0;
  ASSERT_TRUE(blocks.Take(1, &item));
  EXPECT_EQ(item, 2U);
  ASSERT_TRUE(blocks.Take(0, &item));
  EXPECT_EQ(item, 0U);
  EXPECT_EQ(TakeAll(&blocks, 0), (std::vector<std::size_t>{1, 3}));
}

TEST(ItemBlocksTest, FewerItemsThanWorkersAndNone) {
  ItemBlocks few(2, 5);
  EXPECT_EQ(TakeAll(&few, 4).size(), 2U);
  ItemBlocks none(0, 3);
  EXPECT_TRUE(TakeAll(&none, 2).empty());
}

TEST(ItemBlocksTest, ThreadsTakeEachItemOnce) {
  constexpr std::size_t kItems = 100'000;
  ItemBlocks blocks(kItems, 3);
  std::vector<std::atomic<int>> taken(kItems);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 6; ++i) {
    threads.emplace_back([&blocks, &taken, worker = i % 3] {
      for (std::size_t item = 0; blocks.Take(worker, &item);) ++taken[item];
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t once = 0;
  for (const std::atomic<int>& each : taken) once += each == 1 ? 1 : 0;
  EXPECT_EQ(once, kItems);
}

}  // namespace
}  // namespace maskd::cache
