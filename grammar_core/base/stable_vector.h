// An append-only vector whose elements never move, so that readers need no lock.
//
// Layout   chunks behind a table of their addresses. From 2^kFirstBits elements on capacity doubles
//          by 2^kStepBits chunks: with 0 the table is short, with 2 at most a fifth is not in use.
//          An address in the table is where element 0 would be if the chunk went down to it, so an
//          element is found without its place in the chunk.
// Threads  one writer at a time appends (the caller's lock); any thread reads an element whose
//          index reached it by an acquire load of something stored after the append.
#ifndef MASKD_GRAMMAR_CORE_BASE_STABLE_VECTOR_H_
#define MASKD_GRAMMAR_CORE_BASE_STABLE_VECTOR_H_

#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MASKD_HAS_LEAK_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define MASKD_HAS_LEAK_SANITIZER 1
#endif
#ifdef MASKD_HAS_LEAK_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace maskd {

// LeakSanitizer takes a chunk for lost, as no address in the table lies within it, and all that the
// chunk alone points to. It is told to pass over both; without it this does nothing.
inline void PassOverByLeakSanitizer([[maybe_unused]] const void* chunk) {
#ifdef MASKD_HAS_LEAK_SANITIZER
  __lsan_ignore_object(chunk);
#endif
}

// For what is published once and read by many threads, such as terms and transitions.
template <typename T, int kStepBits = 0, int kFirstBits = 6>
class StableVector {
 public:
  StableVector() = default;
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;
  // No reader may be left.
  ~StableVector() {
    const std::uint32_t size = size_.load(std::memory_order_relaxed);
    const int end = size == 0 ? 0 : ChunkOf(size - 1 + kFirstSize) + 1;
    for (int chunk = 0; chunk < end; ++chunk)
      delete[] reinterpret_cast<T*>(chunks_[chunk].load(std::memory_order_relaxed) +
                                    OffsetOf(FirstOf(chunk)));
  }

  // Two loads and a shift; see Threads on which index a thread may ask for.
  T& operator[](std::uint32_t index) { return *Find(index); }
  const T& operator[](std::uint32_t index) const { return *Find(index); }

  // Requires size() < kMostElements before Append().
  static constexpr std::uint32_t kMostElements = 1U << (kStepBits == 0 ? 31 : 28);

  // A new, default-made element at index size() - 1.
  T& Append() {
    const std::uint32_t index = size_.load(std::memory_order_relaxed);
    const std::uint32_t number = index + kFirstSize;
    const int chunk = ChunkOf(number);
    if (const std::uint32_t first = FirstOf(chunk); first == number) {
      T* const elements = new T[FirstOf(chunk + 1) - first]();
      PassOverByLeakSanitizer(elements);
      chunks_[chunk].store(reinterpret_cast<std::uintptr_t>(elements) - OffsetOf(first),
                           std::memory_order_release);
    }
    size_.store(index + 1, std::memory_order_release);
    return (*this)[index];
  }

  // Bytes of all chunks, whether their elements are in use or not.
  [[nodiscard]] std::int64_t chunk_bytes() const {
    const std::uint32_t size = size_.load(std::memory_order_relaxed);
    if (size == 0) return 0;
    const std::uint32_t end = FirstOf(ChunkOf(size - 1 + kFirstSize) + 1);
    return std::int64_t{end - kFirstSize} * static_cast<std::int64_t>(sizeof(T));
  }

  // What the writer had appended; elements below it can be read.
  [[nodiscard]] std::uint32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static_assert(kFirstBits >= kStepBits);
  static constexpr std::uint32_t kFirstSize = 1U << kFirstBits;
  static constexpr int kChunks = (std::bit_width(kMostElements) - kFirstBits) << kStepBits;

  // Elements are numbered from kFirstSize on. A chunk holds the numbers that share their highest
  // bit and the kStepBits bits behind it.
  static int ChunkOf(std::uint32_t number) {
    const int below = std::bit_width(number) - 1 - kStepBits;
    // The highest bit stands in the shifted number, too, once for each doubling.
    constexpr int kBeforeFirst = ((kFirstBits - kStepBits) << kStepBits) + (1 << kStepBits);
    return (below << kStepBits) + static_cast<int>(number >> below) - kBeforeFirst;
  }
  // The first number of a chunk.
  static std::uint32_t FirstOf(int chunk) {
    const int step = (1 << kStepBits) + (chunk & ((1 << kStepBits) - 1));
    return static_cast<std::uint32_t>(step) << ((chunk >> kStepBits) + kFirstBits - kStepBits);
  }
  static std::uintptr_t OffsetOf(std::uint32_t number) {
    return std::uintptr_t{number} * sizeof(T);
  }
  T* Find(std::uint32_t index) const {
    assert(index < size());
    const std::uint32_t number = index + kFirstSize;
    return reinterpret_cast<T*>(chunks_[ChunkOf(number)].load(std::memory_order_acquire) +
                                OffsetOf(number));
  }

  // Addresses of elements, less the bytes that the numbers before would take.
  std::array<std::atomic<std::uintptr_t>, kChunks> chunks_ = {};
  std::atomic<std::uint32_t> size_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_STABLE_VECTOR_H_
