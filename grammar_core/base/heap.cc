#include "grammar_core/base/heap.h"

#include <climits>
#include <memory>
#include <new>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace maskd {

void ReserveHeap([[maybe_unused]] std::int64_t bytes) {
#ifdef __GLIBC__
  constexpr std::int64_t kPage = 4096;
  constexpr std::int64_t kBlock = 8 << 20;  // malloc takes larger ones from outside of its heap
  // One heap, so that what was touched serves every thread, and none of it is given back.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 2 * kBlock);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  std::vector<std::unique_ptr<char[]>> blocks;
  for (std::int64_t left = bytes; left > 0; left -= kBlock) {
    blocks.emplace_back(new (std::nothrow) char[kBlock]);
    if (blocks.back() == nullptr) return;
    for (volatile char* at = blocks.back().get(); at < blocks.back().get() + kBlock; at += kPage) {
      *at = 0;
    }
  }
#endif
}

}  // namespace maskd
