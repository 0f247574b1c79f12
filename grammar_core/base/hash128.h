// 128-bit structural hashes: keys of shared stores, where a collision would be a wrong mask.
//
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_BASE_HASH128_H_
#define MASKD_GRAMMAR_CORE_BASE_HASH128_H_

#include <array>
#include <atomic>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace maskd {

// Wide enough that two of 2^32 keys collide with a chance of about 2^-65.
struct Hash128 {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;

  bool operator==(const Hash128&) const = default;

  // For tables within the process: the low word alone, which is well mixed.
  template <typename H>
  friend H AbslHashValue(H state, const Hash128& hash) {
    return H::combine(std::move(state), hash.lo);
  }
};

// The first 96 bits of a hash, for what there are many of: two of 2^32 collide with a chance of
// about 2^-33.
class Hash96 {
 public:
  Hash96() = default;
  Hash96(const Hash128& hash)  // NOLINT(google-explicit-constructor): it is the same, kept shorter
      : words_{static_cast<std::uint32_t>(hash.lo), static_cast<std::uint32_t>(hash.lo >> 32),
               static_cast<std::uint32_t>(hash.hi)} {}
  operator Hash128() const {  // NOLINT(google-explicit-constructor)
    return {std::uint64_t{words_[1]} << 32 | words_[0], words_[2]};
  }
  bool operator==(const Hash96&) const = default;

 private:
  std::array<std::uint32_t, 3> words_ = {};
};

namespace hash_internal {

inline constexpr std::uint64_t kOddLow = 0xD6E8FEB86659FD93ULL;
inline constexpr std::uint64_t kOddHigh = 0x9E3779B97F4A7C15ULL;
inline constexpr int kHalfWord = 32;

// A bijection of 64-bit words in which every input bit reaches every output bit.
inline std::uint64_t Scramble(std::uint64_t x, std::uint64_t odd) {
  x = (x ^ (x >> kHalfWord)) * odd;
  x = (x ^ (x >> kHalfWord)) * odd;
  return x ^ (x >> kHalfWord);
}

}  // namespace hash_internal

// Depends on the order of the calls: Mix(Mix(h, a), b) is not Mix(Mix(h, b), a). For a fixed value
// it is a bijection of the seed, and for a fixed seed of the value.
inline Hash128 Mix(Hash128 seed, std::uint64_t value) {
  using namespace hash_internal;  // NOLINT(google-build-using-namespace): three local names
  const std::uint64_t lo = Scramble(seed.lo ^ value, kOddLow) + kOddHigh;
  const std::uint64_t swapped = (value << kHalfWord) | (value >> kHalfWord);
  return {lo, Scramble(seed.hi + swapped, kOddHigh) ^ lo};
}

// The order counts here too, of the words as of the calls.
inline Hash128 Mix(Hash128 seed, const Hash128& value) {
  return Mix(Mix(seed, value.lo), value.hi);
}

// Does not depend on the order: for sets.
inline Hash128 MixUnordered(Hash128 seed, const Hash128& value) {
  const Hash128 mixed = Mix(Hash128{}, value);
  return {seed.lo + mixed.lo, seed.hi + mixed.hi};
}

// A hash that nothing else of this process has.
inline Hash128 UniqueHash() {
  static std::atomic<std::uint64_t> counter = 1;
  return Mix(Mix(Hash128{}, 0x756E69717565ULL), counter.fetch_add(1, std::memory_order_relaxed));
}

// The length goes in first, so texts that differ in zeros at the end differ here.
inline Hash128 MixBytes(Hash128 seed, absl::string_view bytes) {
  Hash128 hash = Mix(seed, bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = bytes.size() < sizeof(word) ? bytes.size() : sizeof(word);
    std::memcpy(&word, bytes.data(), count);
    hash = Mix(hash, word);
    bytes.remove_prefix(count);
  }
  return hash;
}

// The hash of all bits, in the order of a bitset's words in memory.
template <std::size_t kBits>
Hash128 MixBits(Hash128 seed, const std::bitset<kBits>& bits) {
  constexpr std::size_t kWordBits = 64;
  static_assert(kBits % kWordBits == 0);
  using Words = std::array<std::uint64_t, kBits / kWordBits>;
  for (const std::uint64_t word : std::bit_cast<Words>(bits)) seed = Mix(seed, word);
  return seed;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_HASH128_H_
