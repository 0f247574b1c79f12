// The heap is touched before it is needed: blocks are taken, each of their pages is written once,
// and the blocks are freed into an allocator that is set to give nothing back unasked. TrimHeap()
// holds such a floor while all that is free beyond it goes back to the system.
//
// Invariant  only ReturnFreePages() gives pages back, so a floor stays touched until the next trim.
// Cost       a first touch of each page of 4 KiB at the start, and of those of the floor that have
//            gone; a trim walks the free extents.
#include "grammar_core/base/heap.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifdef MASKD_JEMALLOC
#include <jemalloc/jemalloc.h>
#include <sys/mman.h>
#elif defined(__GLIBC__)
#include <malloc.h>
#endif

#ifdef MASKD_JEMALLOC
// Read by jemalloc before main(). One heap, so that what was touched serves every thread; nothing
// is given back unasked (a decay would take the touched floor, too: TrimHeap() leaves it); small
// pieces are cut from large free ones, which are what ReserveHeap() leaves; and its pages are of
// 2 MiB where the system allows it (see heap.h). MALLOC_CONF in the environment goes before it.
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

// Of what is touched from now on. What lies in huge pages stays there.
void KeepToSmallPages() {
#ifdef __linux__
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
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

// Pages that are given back within a huge page leave the process and still count for its control
// group until that has none left: the system splits such a huge page only then. MADV_COLD splits it
// at once, so that they are free (some 500 MiB of 2 GiB were not).
void SplitHugePages(std::uintptr_t begin, std::uintptr_t end) {
  constexpr std::uintptr_t kHugePage = 2 << 20;
  const std::uintptr_t first = std::min(end, (begin + kHugePage - 1) / kHugePage * kHugePage);
  const std::uintptr_t last = std::max(first, end / kHugePage * kHugePage);
  for (const auto& [from, to] : {std::pair(begin, first), std::pair(last, end)})
    if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_COLD);
}

extent_hooks_t* default_hooks = nullptr;
extent_hooks_t own_hooks;

bool GiveBack(extent_hooks_t* /*hooks*/, void* address, std::size_t size, std::size_t offset,
              std::size_t length, unsigned arena) {
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(address) + offset;
  SplitHugePages(begin, begin + length);
  return default_hooks->purge_forced(default_hooks, address, size, offset, length, arena);
}

// Pages side by side are one extent. jemalloc's own hook does no more, but it looks up the thread
// it runs on, which a thread that has not yet asked for memory sets up then: with the lock held
// that this takes. Such a thread, whose first call frees something, stood still, and with it all
// others.
bool Merge(extent_hooks_t* /*hooks*/, void* /*first*/, std::size_t /*first_size*/, void* /*second*/,
           std::size_t /*second_size*/, bool /*committed*/, unsigned /*arena*/) {
  return false;  // merged
}

void HaveHugePagesSplit() {
  std::size_t size = sizeof(default_hooks);
  if (mallctl("arena.0.extent_hooks", &default_hooks, &size, nullptr, 0) != 0) return;
  own_hooks = *default_hooks;
  own_hooks.purge_forced = &GiveBack;
  own_hooks.merge = &Merge;
  extent_hooks_t* hooks = &own_hooks;
  mallctl("arena.0.extent_hooks", nullptr, nullptr, &hooks, sizeof(hooks));
}
#endif

}  // namespace

void EmptyThreadCache() {
#ifdef MASKD_JEMALLOC
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
#endif
}

void ReserveHeap(std::int64_t bytes) {
  if (!kKeepsPages) return;
  KeepFreePages();
  TouchedBlocks(bytes);
  KeepToSmallPages();
}

void ReturnFreePages() {
#ifdef MASKD_JEMALLOC
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  mallctl("arena.0.purge", nullptr, nullptr, nullptr, 0);
#elif defined(__GLIBC__)
  malloc_trim(0);
#endif
}

// Blocks are made of free pages first: kept pages are in use while the others go.
void TrimHeap(std::int64_t keep_bytes) {
#ifdef MASKD_JEMALLOC
  static std::once_flag first;
  std::call_once(first, &HaveHugePagesSplit);
#endif
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
