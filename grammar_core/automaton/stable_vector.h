// An append-only vector whose elements never move, so that readers need no lock.
//
// Layout   chunks that double in size, from 64 elements on, behind a table of chunk pointers that
//          is large enough for every 32-bit index.
// Threads  one writer at a time appends (the caller's lock); any thread reads an element whose
//          index reached it by an acquire load of something stored after the append.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_STABLE_VECTOR_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_STABLE_VECTOR_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace maskd {

template <typename T>
class StableVector {
 public:
  StableVector() = default;
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;
  ~StableVector() {
    for (std::atomic<T*>& chunk : chunks_) {
      delete[] chunk.load(std::memory_order_relaxed);
    }
  }

  T& operator[](std::uint32_t index) { return *Find(index); }
  const T& operator[](std::uint32_t index) const { return *Find(index); }

  // A new, default-made element at index size() - 1. Requires size() < 2^31.
  T& Append() {
    const std::uint32_t index = size_.load(std::memory_order_relaxed);
    const Place place = PlaceOf(index);
    std::atomic<T*>& chunk = chunks_[place.chunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      chunk.store(new T[std::size_t{kFirstSize} << place.chunk](), std::memory_order_release);
    }
    size_.store(index + 1, std::memory_order_release);
    return (*this)[index];
  }

  // Bytes of all chunks, whether their elements are in use or not.
  [[nodiscard]] std::int64_t chunk_bytes() const {
    const std::uint32_t last = size_.load(std::memory_order_relaxed);
    if (last == 0) return 0;
    const std::int64_t elements =
        (std::int64_t{kFirstSize} << (PlaceOf(last - 1).chunk + 1)) - kFirstSize;
    return elements * static_cast<std::int64_t>(sizeof(T));
  }

  [[nodiscard]] std::uint32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static constexpr int kFirstBits = 6;
  static constexpr std::uint32_t kFirstSize = 1U << kFirstBits;
  static constexpr int kChunks = 32 - kFirstBits;

  struct Place {
    int chunk;
    std::uint32_t offset;
  };
  // Counted from kFirstSize on, chunk k holds the numbers whose highest bit is bit k + kFirstBits.
  static Place PlaceOf(std::uint32_t index) {
    const std::uint32_t number = index + kFirstSize;
    const int top = std::bit_width(number) - 1;
    return {top - kFirstBits, number - (1U << top)};
  }
  T* Find(std::uint32_t index) const {
    const Place place = PlaceOf(index);
    return chunks_[place.chunk].load(std::memory_order_acquire) + place.offset;
  }

  std::array<std::atomic<T*>, kChunks> chunks_ = {};
  std::atomic<std::uint32_t> size_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_STABLE_VECTOR_H_
