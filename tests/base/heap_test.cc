#include "grammar_core/base/heap.h"

#include <cstddef>
#include <cstdlib>
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

}  // namespace
}  // namespace maskd
