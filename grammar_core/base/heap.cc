#include "grammar_core/base/heap.h"

#include <climits>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#ifdef MASKD_JEMALLOC
#include <jemalloc/jemalloc.h>
#elif defined(__GLIBC__)
#include <malloc.h>
#endif

#ifdef MASKD_JEMALLOC
// Read by jemalloc before main(). One heap, so that what was touched serves every thread; nothing
// is given back unasked; small pieces are cut from large free ones, which are what ReserveHeap()
// leaves; and pages are of 2 MiB where the system allows it (see heap.h). MALLOC_CONF in the
// environment goes before it.
extern "C" {
const char* malloc_conf =
    "narenas:1,dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0,lg_extent_max_active_fit:"
    "40,thp:always";
}
#endif

namespace maskd {
namespace {

// All that is freed stays with the process.
void KeepFreePages() {
#if !defined(MASKD_JEMALLOC) && defined(__GLIBC__)
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 16 << 20);  // larger blocks are taken from outside of the heap
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

#if defined(MASKD_JEMALLOC) || defined(__GLIBC__)
constexpr bool kKeepsPages = true;
#else
constexpr bool kKeepsPages = false;
#endif

}  // namespace

void ReserveHeap(std::int64_t bytes) {
  if (!kKeepsPages) return;
  constexpr std::int64_t kPage = 4096;
  constexpr std::int64_t kBlock = 8 << 20;
  KeepFreePages();
  std::vector<std::unique_ptr<char[]>> blocks;
  for (std::int64_t left = bytes; left > 0; left -= kBlock) {
    blocks.emplace_back(new (std::nothrow) char[kBlock]);
    if (blocks.back() == nullptr) return;
    for (volatile char* at = blocks.back().get(); at < blocks.back().get() + kBlock; at += kPage) {
      *at = 0;
    }
  }
}

void ReturnFreePages() {
#ifdef MASKD_JEMALLOC
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  mallctl("arena.0.purge", nullptr, nullptr, nullptr, 0);
#elif defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace maskd
