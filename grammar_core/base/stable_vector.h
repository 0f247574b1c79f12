// An append-only vector whose elements never move, so that readers need no lock.
//
// Layout   chunks behind a table of their addresses. From 64 elements on capacity doubles by
//          2^kStepBits chunks: with 0 the table is short, with 2 at most a fifth is not in use yet.
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

namespace maskd {

// For what is published once and read by many threads, such as terms and transitions.
template <typename T, int kStepBits = 0>
class StableVector {
 public:
  StableVector() = default;
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;
  // No reader may be left.
  ~StableVector() {
    for (std::atomic<T*>& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }

  // Two loads and a shift; see Threads on which index a thread may ask for.
  T& operator[](std::uint32_t index) { return *Find(index); }
  const T& operator[](std::uint32_t index) const { return *Find(index); }

  // Requires size() < kMostElements before Append().
  static constexpr std::uint32_t kMostElements = 1U << (kStepBits == 0 ? 31 : 28);

  // A new, default-made element at index size() - 1.
  T& Append() {
    const std::uint32_t index = size_.load(std::memory_order_relaxed);
    const Place place = PlaceOf(index);
    std::atomic<T*>& chunk = chunks_[place.chunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr)
      chunk.store(new T[place.chunk_size](), std::memory_order_release);
    size_.store(index + 1, std::memory_order_release);
    return (*this)[index];
  }

  // Bytes of all chunks, whether their elements are in use or not.
  [[nodiscard]] std::int64_t chunk_bytes() const {
    const std::uint32_t size = size_.load(std::memory_order_relaxed);
    if (size == 0) return 0;
    const Place last = PlaceOf(size - 1);
    return (std::int64_t{size} + last.chunk_size - 1 - last.offset) *
           static_cast<std::int64_t>(sizeof(T));
  }

  // What the writer had appended; elements below it can be read.
  [[nodiscard]] std::uint32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static constexpr int kFirstBits = 6;
  static constexpr std::uint32_t kFirstSize = 1U << kFirstBits;
  static constexpr int kChunks = (std::bit_width(kMostElements) - kFirstBits) << kStepBits;

  struct Place {
    int chunk;
    std::uint32_t offset;
    std::uint32_t chunk_size;
  };
  // Counted from kFirstSize on, a chunk holds the numbers that share their highest bit and the
  // kStepBits bits behind it.
  static Place PlaceOf(std::uint32_t index) {
    const std::uint32_t number = index + kFirstSize;
    const int top = std::bit_width(number) - 1;
    const int below = top - kStepBits;
    const std::uint32_t size = 1U << below;
    const auto step = static_cast<int>((number >> below) & ((1U << kStepBits) - 1));
    return {((top - kFirstBits) << kStepBits) + step, number & (size - 1), size};
  }
  T* Find(std::uint32_t index) const {
    assert(index < size());
    const Place place = PlaceOf(index);
    return chunks_[place.chunk].load(std::memory_order_acquire) + place.offset;
  }

  std::array<std::atomic<T*>, kChunks> chunks_ = {};
  std::atomic<std::uint32_t> size_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_STABLE_VECTOR_H_
