// What appliers need to know of a logit's type: its size and the bits of minus infinity.
#ifndef MASKD_CLIENT_APPLY_ELEMENT_TYPE_H_
#define MASKD_CLIENT_APPLY_ELEMENT_TYPE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "client/apply/logits.h"

namespace maskd::client {

// What masking needs: it never computes with a logit.
struct ElementType {
  std::int64_t bytes;
  std::uint32_t minus_infinity;  // in the lower 8 * bytes bits
};

// Requires a type that is in the enum.
inline const ElementType& ElementTypeOf(LogitsType type) {
  static constexpr std::array kTypes = {
      ElementType{4, 0xFF800000},
      ElementType{2, 0xFC00},
      ElementType{2, 0xFF80},
  };
  return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_ELEMENT_TYPE_H_
