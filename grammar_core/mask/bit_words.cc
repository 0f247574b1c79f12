#include "grammar_core/mask/bit_words.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace maskd {

namespace {

// Both halves of a product, so that every bit of either factor counts.
std::uint64_t Fold(std::uint64_t x, std::uint64_t y) {
  const auto product = static_cast<unsigned __int128>(x) * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Odd, with as many bits as not: no two alike, or factors could change places.
constexpr std::array<std::uint64_t, kHashedWords / 2> kOdd = {
    0x9E3779B97F4A7C15ULL, 0x243F6A8885A308D3ULL, 0xB7E151628AED2A6BULL, 0x13198A2E03707345ULL,
    0xA4093822299F31D1ULL, 0x082EFA98EC4E6C89ULL, 0x452821E638D01377ULL, 0xBE5466CF34E90C6DULL};
// Two multiples of it differ in many bits.
constexpr std::uint64_t kPlace = 0xD6E8FEB86659FD93ULL;

}  // namespace

// Most masks are nearly empty: blocks without a bit are told in a few instructions and left out.
// The products do not wait for one another.
std::uint64_t HashBlock(std::span<const std::int32_t, kHashedWords> words, std::size_t block) {
  std::array<std::uint64_t, kHashedWords / 2> pairs;
  std::memcpy(pairs.data(), words.data(), sizeof pairs);
  std::uint64_t any = 0;
  for (const std::uint64_t pair : pairs) any |= pair;
  if (any == 0) return 0;
  const std::uint64_t place = (block + 1) * kPlace;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    hash += Fold(pairs[i] ^ kOdd[i] ^ place, pairs[i + 1] ^ kOdd[i + 1]);
  return hash;
}

std::uint64_t HashWords(std::span<const std::int32_t> words) {
  std::uint64_t hash = 0;
  std::size_t block = 0;
  for (; (block + 1) * kHashedWords <= words.size(); ++block)
    hash += HashBlock(words.subspan(block * kHashedWords).first<kHashedWords>(), block);
  std::array<std::int32_t, kHashedWords> rest = {};
  std::ranges::copy(words.subspan(block * kHashedWords), rest.begin());
  return hash + HashBlock(rest, block);
}

std::uint64_t HashOfFilled(std::size_t word_count) {
  thread_local std::size_t known_count = 0;
  thread_local std::uint64_t known = 0;
  if (known_count != word_count) {
    known = HashWords(std::vector<std::int32_t>(word_count, -1));
    known_count = word_count;
  }
  return known;
}

}  // namespace maskd
