#include "grammar_core/base/heap.h"

#include <climits>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#ifdef MASKD_JEMALLOC
#include <jemalloc/jemalloc.h>
#elif defined(__GLIBC__)
#include <malloc.h>
#endif

#ifdef MASKD_JEMALLOC
// Read by jemalloc before main(). One heap, so that what was touched serves every thread; nothing
// is given back unasked (a decay would take the touched floor, too: TrimHeap() leaves it); small
// pieces are cut from large free ones, which are what ReserveHeap() leaves; and pages are of 2 MiB
// where the system allows it (see heap.h). MALLOC_CONF in the environment goes before it.
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

// So many bytes of the heap, each page of which has been touched; fewer where there are no more.
std::vector<std::unique_ptr<char[]>> TouchedBlocks(std::int64_t bytes) {
  constexpr std::int64_t kPage = 4096;
  constexpr std::int64_t kBlock = 8 << 20;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (std::int64_t left = bytes; left > 0; left -= kBlock) {
    std::unique_ptr<char[]> block(new (std::nothrow) char[kBlock]);
    if (block == nullptr) break;
    for (volatile char* at = block.get(); at < block.get() + kBlock; at += kPage) *at = 0;
    blocks.push_back(std::move(block));
  }
  return blocks;
}

#ifdef MASKD_JEMALLOC
std::int64_t ReadFigure(const char* name) {
  std::size_t figure = 0;
  std::size_t size = sizeof(figure);
  mallctl(name, &figure, &size, nullptr, 0);
  return static_cast<std::int64_t>(figure);
}
#endif

}  // namespace

void ReserveHeap(std::int64_t bytes) {
  if (!kKeepsPages) return;
  KeepFreePages();
  TouchedBlocks(bytes);
}

void ReturnFreePages() {
#ifdef MASKD_JEMALLOC
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  mallctl("arena.0.purge", nullptr, nullptr, nullptr, 0);
#elif defined(__GLIBC__)
  malloc_trim(0);
#endif
}

// Blocks are made of free pages first: those that are kept are in use while the others go.
void TrimHeap(std::int64_t keep_bytes) {
  const auto kept = TouchedBlocks(keep_bytes);
  ReturnFreePages();
}

std::optional<HeapBytes> ReadHeap() {
#ifdef MASKD_JEMALLOC
  std::uint64_t epoch = 1;
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  HeapBytes bytes;
  bytes.allocated = ReadFigure("stats.allocated");
  bytes.resident = ReadFigure("stats.resident");
  bytes.unused = ReadFigure("stats.arenas.0.pdirty") * ReadFigure("arenas.page");
  return bytes;
#else
  return std::nullopt;
#endif
}

}  // namespace maskd
