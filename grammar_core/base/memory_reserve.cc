#include "grammar_core/base/memory_reserve.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdlib>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

constexpr std::size_t kSliceBytes = 16 << 20;
constexpr std::size_t kMaxSlices = 16;

std::array<std::atomic<void*>, kMaxSlices> slices;  // null: given out
std::atomic<std::size_t> slice_count = 0;
thread_local bool is_out_of_memory = false;

// Memory of which no page is there, though it may be made of pages that were.
void* NewSlice() {
  void* const slice = std::malloc(kSliceBytes);
  if (slice == nullptr) return nullptr;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(slice) + page - 1) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(slice) + kSliceBytes) & ~(page - 1);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  return slice;
}

// Called by operator new, which tries again after it.
void GiveOutSlice() {
  is_out_of_memory = true;
  for (std::atomic<void*>& slice : slices) {
    if (void* const given = slice.exchange(nullptr); given != nullptr) {
      std::free(given);
      return;
    }
  }
  throw std::bad_alloc();
}

}  // namespace

void KeepMemoryReserve(std::int64_t bytes) {
  assert(bytes >= 0);
  slice_count = std::min(kMaxSlices, static_cast<std::size_t>(bytes) / kSliceBytes);
  RefillMemoryReserve();
  std::set_new_handler(&GiveOutSlice);
}

std::int64_t MemoryReserveNeeded() {
  rlimit bound{};
  if (getrlimit(RLIMIT_AS, &bound) != 0 || bound.rlim_cur == RLIM_INFINITY) return 0;
  return static_cast<std::int64_t>(
      std::min<rlim_t>(bound.rlim_cur / 8, rlim_t{kSliceBytes} * kMaxSlices));
}

bool RefillMemoryReserve() {
  for (std::size_t i = 0; i < slice_count; ++i) {
    if (slices[i].load() != nullptr) continue;
    void* const slice = NewSlice();
    if (slice == nullptr) return false;
    void* none = nullptr;
    if (!slices[i].compare_exchange_strong(none, slice)) std::free(slice);
  }
  return true;
}

std::int64_t MemoryReserveBytes() {
  const auto kept = std::ranges::count_if(slices, [](const auto& at) { return at != nullptr; });
  return kept * static_cast<std::int64_t>(kSliceBytes);
}

bool IsOutOfMemory() { return is_out_of_memory; }

void ForgetOutOfMemory() { is_out_of_memory = false; }

absl::Status OutOfMemoryError() {
  return ErrorAt(absl::StatusCode::kResourceExhausted, "", "OUT_OF_MEMORY",
                 "the system gives the server no more memory");
}

}  // namespace maskd
