#include "grammar_core/mask/bit_words.h"

#include <algorithm>
#include <cstring>

namespace maskd {

std::uint64_t HashWords(std::span<const std::int32_t> words) {
  // Most masks are nearly empty: blocks without a bit are told in a few instructions and left out.
  // Lanes do not wait for one another's products.
  constexpr std::size_t kBlock = 16;
  constexpr std::size_t kLanes = kBlock / 2;
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  std::uint64_t lanes[kLanes] = {words.size(), 1, 2, 3, 4, 5, 6, 7};
  for (std::size_t at = 0; at < words.size(); at += kBlock) {
    std::uint64_t block[kLanes] = {};
    std::memcpy(block, &words[at], std::min(kBlock, words.size() - at) * sizeof(words[at]));
    std::uint64_t any = 0;
    for (const std::uint64_t word : block) any |= word;
    if (any == 0) continue;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t mixed = (lanes[lane] ^ block[lane] ^ at) * kOdd;
      lanes[lane] = mixed ^ (mixed >> 32);
    }
  }
  std::uint64_t hash = 0;
  for (const std::uint64_t lane : lanes) {
    hash = (hash ^ lane) * kOdd;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace maskd
