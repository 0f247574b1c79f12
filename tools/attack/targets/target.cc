#include "tools/attack/targets/target.h"

#include <algorithm>
#include <cstddef>

namespace maskd::attack {

bool Allows(const MaskWords& mask, TokenId token) {
  constexpr int kBits = 32;
  const auto word = static_cast<std::uint32_t>(mask[static_cast<std::size_t>(token / kBits)]);
  return ((word >> (token % kBits)) & 1U) != 0;
}

bool IsAllZero(const MaskWords& mask) {
  return !mask.empty() && std::ranges::all_of(mask, [](std::int32_t word) { return word == 0; });
}

}  // namespace maskd::attack
