#include "grammar_core/base/heap.h"

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

namespace maskd {
namespace {

constexpr std::size_t kBlock = 256 << 10;

void* Free(void* block) {
  std::free(block);
  return nullptr;
}

// A pool's thread may begin so: it destroys what another thread has made.
TEST(HeapTest, AThreadMayBeginByFreeingWhatLiesBesideFreePages) {
  TrimHeap(0);
  std::vector<void*> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(std::malloc(kBlock));
  for (std::size_t i = 0; i < blocks.size(); i += 2) std::free(blocks[i]);
  alarm(60);  // it would wait for itself for good
  for (std::size_t i = 1; i < blocks.size(); i += 2) {
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, nullptr, &Free, blocks[i]), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
  }
  alarm(0);
}

#ifdef __linux__
// A first touch then takes no longer than a small page does.
TEST(HeapTest, WhatComesBehindTheReserveIsNotInHugePages) {
  ReserveHeap(4 << 20);
  const std::size_t bytes = 64 << 20;
  auto* const block = static_cast<char*>(std::malloc(bytes));
  ASSERT_NE(block, nullptr);
  for (std::size_t at = 0; at < bytes; at += 4096) block[at] = 1;
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  int looked = 0;
  while (std::getline(smaps, line)) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
      begin = from;
      end = to;
    }
    const auto at = reinterpret_cast<std::uintptr_t>(block) + bytes / 2;
    if (!line.starts_with("AnonHugePages:") || at < begin || at >= end) continue;
    ++looked;
    EXPECT_LE(std::strtoull(line.c_str() + std::strlen("AnonHugePages:"), nullptr, 10), 32U << 10);
  }
  EXPECT_EQ(looked, 1);
  std::free(block);
}
#endif

}  // namespace
}  // namespace maskd
