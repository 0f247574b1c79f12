// An append-only vector whose elements never move, so that readers need no lock.
//
// Layout   chunks of 512 elements behind a fixed table of chunk pointers.
// Threads  one writer at a time appends (the caller's lock); any thread reads an element whose
//          index reached it by an acquire load of something stored after the append.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_STABLE_VECTOR_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_STABLE_VECTOR_H_

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace maskd {

template <typename T>
class StableVector {
 public:
  static constexpr std::uint32_t kChunkBits = 9;
  static constexpr std::uint32_t kChunkSize = 1U << kChunkBits;
  static constexpr std::uint32_t kMaxChunks = 1U << 12;
  static constexpr std::uint32_t kMaxSize = kChunkSize * kMaxChunks;

  StableVector() : chunks_(new std::atomic<T*>[kMaxChunks]()) {}
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;
  ~StableVector() {
    for (std::uint32_t i = 0; i < kMaxChunks; ++i) {
      delete[] chunks_[i].load(std::memory_order_relaxed);
    }
  }

  T& operator[](std::uint32_t index) {
    return chunks_[index >> kChunkBits].load(std::memory_order_acquire)[index & (kChunkSize - 1)];
  }
  const T& operator[](std::uint32_t index) const {
    return chunks_[index >> kChunkBits].load(std::memory_order_acquire)[index & (kChunkSize - 1)];
  }

  // A new, default-made element at index size() - 1. Requires size() < kMaxSize.
  T& Append() {
    const std::uint32_t index = size_.load(std::memory_order_relaxed);
    assert(index < kMaxSize);
    std::atomic<T*>& chunk = chunks_[index >> kChunkBits];
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      chunk.store(new T[kChunkSize](), std::memory_order_release);
    }
    size_.store(index + 1, std::memory_order_release);
    return (*this)[index];
  }

  [[nodiscard]] std::uint32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  std::unique_ptr<std::atomic<T*>[]> chunks_;
  std::atomic<std::uint32_t> size_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_STABLE_VECTOR_H_
