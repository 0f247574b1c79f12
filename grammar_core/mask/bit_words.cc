#include "grammar_core/mask/bit_words.h"

#include <bit>

namespace maskd {

void OrInto(std::span<std::int32_t> into, std::span<const std::int32_t> words) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] |= words[i];
}

void AndInto(std::span<std::int32_t> into, std::span<const std::int32_t> words) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] &= words[i];
}

void AndNotInto(std::span<std::int32_t> into, std::span<const std::int32_t> words) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] &= ~words[i];
}

std::int64_t CountBits(std::span<const std::int32_t> words) {
  std::int64_t bits = 0;
  for (const std::int32_t word : words) bits += std::popcount(static_cast<std::uint32_t>(word));
  return bits;
}

}  // namespace maskd
