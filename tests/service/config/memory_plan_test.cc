#include "service/config/memory_plan.h"

#include <gtest/gtest.h>

namespace maskd::service {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kPod = std::int64_t{2} << 30;  // of k8s/base

TEST(MemoryPlanTest, WhatNoFlagSaysFollowsFromTheSystem) {
  const MemoryPlan plan = PlanMemory(Config(), kPod);
  EXPECT_EQ(plan.memory_bytes, kPod / 10 * 9);
  EXPECT_EQ(plan.cache_bytes, plan.memory_bytes / 3);
  EXPECT_EQ(plan.mask_store_bytes, plan.memory_bytes / 8);
  EXPECT_EQ(plan.heap_bytes, plan.memory_bytes / 8);
}

TEST(MemoryPlanTest, FlagsGoFirst) {
  Config config;
  config.memory_bytes = 1000 * kMiB;
  config.cache_bytes = 7;
  config.mask_store_bytes = 0;
  config.heap_mib = 10;
  const MemoryPlan plan = PlanMemory(config, kPod);
  EXPECT_EQ(plan.memory_bytes, 1000 * kMiB);
  EXPECT_EQ(plan.cache_bytes, 7);
  EXPECT_EQ(plan.mask_store_bytes, 0);
  EXPECT_EQ(plan.heap_bytes, 10 * kMiB);
}

TEST(MemoryPlanTest, OnALargeMachineHeapAndMasksAreAsBefore) {
  const MemoryPlan plan = PlanMemory(Config(), kPod * 64);
  EXPECT_EQ(plan.heap_bytes, 256 * kMiB);
  EXPECT_EQ(plan.mask_store_bytes, 256 * kMiB);
}

TEST(MemoryPlanTest, TokenizersShareTheMasksPart) {
  Config config;
  config.tokenizers.resize(5);
  const MemoryPlan plan = PlanMemory(config, kPod);
  EXPECT_EQ(plan.mask_store_bytes, plan.memory_bytes / 8 / 5);
}

}  // namespace
}  // namespace maskd::service
