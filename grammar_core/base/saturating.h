// Arithmetic on unsigned counts that stays at "no end" instead of wrapping round.
#ifndef MASKD_GRAMMAR_CORE_BASE_SATURATING_H_
#define MASKD_GRAMMAR_CORE_BASE_SATURATING_H_

#include <algorithm>
#include <cstdint>

namespace maskd {

// The largest count, which stands for "no end".
inline constexpr std::uint32_t kNoEnd = 0xFFFFFFFF;

// Both are exact below kNoEnd, which stays kNoEnd under each of them; but no end times 0 is 0.
constexpr std::uint32_t SaturatingAdd(std::uint32_t x, std::uint32_t y) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{x} + y, kNoEnd));
}

constexpr std::uint32_t SaturatingMul(std::uint32_t x, std::uint32_t y) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{x} * y, kNoEnd));
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_SATURATING_H_
