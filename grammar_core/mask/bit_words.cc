#include "grammar_core/mask/bit_words.h"

#include <algorithm>
#include <cstring>

namespace maskd {

std::uint64_t HashWords(std::span<const std::int32_t> words) {
  // Most masks are nearly empty: blocks without a bit are told in a few instructions and left out.
  constexpr std::size_t kBlock = 16;
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = words.size();
  for (std::size_t at = 0; at < words.size(); at += kBlock) {
    std::uint64_t block[kBlock / 2] = {};
    std::memcpy(block, &words[at], std::min(kBlock, words.size() - at) * sizeof(words[at]));
    std::uint64_t any = 0;
    for (const std::uint64_t word : block) any |= word;
    if (any == 0) continue;
    hash = (hash ^ at) * kOdd;
    for (const std::uint64_t word : block) {
      hash = (hash ^ word) * kOdd;
      hash ^= hash >> 32;
    }
  }
  return hash;
}

}  // namespace maskd
