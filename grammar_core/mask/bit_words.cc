#include "grammar_core/mask/bit_words.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace maskd {

namespace {

// Both halves of a product, so that every bit of either factor counts.
std::uint64_t Fold(std::uint64_t x, std::uint64_t y) {
  const auto product = static_cast<unsigned __int128>(x) * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

class WordHash {
 public:
  static constexpr std::size_t kBlock = 16;  // words

  explicit WordHash(std::size_t word_count) : even_(word_count + kEvenSeed) {}

  // Most masks are nearly empty: blocks without a bit are told in a few instructions and left out.
  void Add(const std::array<std::uint64_t, kBlock / 2>& block, std::size_t at) {
    std::uint64_t any = 0;
    for (const std::uint64_t word : block) any |= word;
    if (any == 0) return;
    const std::uint64_t place = (at + 1) * kPlace;  // two of them differ in many bits
    even_ = Fold(even_ ^ block[0], kOdd ^ block[1] ^ place);
    odd_ = Fold(odd_ ^ block[2], kOdd ^ block[3] ^ place);
    even_ = Fold(even_ ^ block[4], kOdd ^ block[5]);
    odd_ = Fold(odd_ ^ block[6], kOdd ^ block[7]);
  }

  [[nodiscard]] std::uint64_t value() const { return Fold(even_ ^ kOdd, odd_); }

 private:
  // Digits of the golden ratio, pi and e, and an odd number: no two alike, or factors could change
  // places.
  static constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  static constexpr std::uint64_t kPlace = 0xD6E8FEB86659FD93ULL;
  static constexpr std::uint64_t kEvenSeed = 0x243F6A8885A308D3ULL;
  static constexpr std::uint64_t kOddSeed = 0xB7E151628AED2A6BULL;
  // Two that do not wait for each other: a product takes longer than the next load.
  std::uint64_t even_;
  std::uint64_t odd_ = kOddSeed;
};

}  // namespace

std::uint64_t HashWords(std::span<const std::int32_t> words) {
  WordHash hash(words.size());
  std::size_t at = 0;
  for (; at + WordHash::kBlock <= words.size(); at += WordHash::kBlock) {
    std::array<std::uint64_t, WordHash::kBlock / 2> block;
    std::memcpy(block.data(), &words[at], sizeof block);
    hash.Add(block, at);
  }
  std::array<std::uint64_t, WordHash::kBlock / 2> rest = {};
  if (at < words.size())
    std::memcpy(rest.data(), &words[at], (words.size() - at) * sizeof(words[at]));
  hash.Add(rest, at);
  return hash.value();
}

}  // namespace maskd
