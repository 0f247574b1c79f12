// The numbers that logits of each type stand for: read as float32, which holds all of them, and
// rounded back to the nearest, ties to even. A NaN stays one.
#ifndef MASKD_CLIENT_APPLY_FLOAT_BITS_H_
#define MASKD_CLIENT_APPLY_FLOAT_BITS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "client/apply/logits.h"

namespace maskd::client {

template <LogitsType kType>
using LogitBits = std::conditional_t<kType == LogitsType::kFloat32, std::uint32_t, std::uint16_t>;

// Exact, as every half is a float. Without a branch on NaN: its bits are carried over.
inline float FromFloat16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t rest = half & 0x7FFFU;
  if (rest >= 0x7C00) return std::bit_cast<float>(sign | 0x7F800000U | (rest & 0x3FFU) << 13);
  if (rest >= 0x0400) return std::bit_cast<float>(sign | ((rest << 13) + (112U << 23)));
  const float subnormal = static_cast<float>(rest) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
}

// The nearest half, ties to even; what is 2^16 or larger becomes infinity.
inline std::uint16_t ToFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  std::uint32_t rest = bits & 0x7FFFFFFFU;
  if (rest > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U | (rest >> 13 & 0x3FFU));
  if (rest >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // 2^16 and more
  if (rest >= 0x38800000U) {                                                   // 2^-14 and more
    rest -= 112U << 23;
    return static_cast<std::uint16_t>(sign | ((rest + 0xFFFU + (rest >> 13 & 1U)) >> 13));
  }
  // From 0.5 to 1 a float's last bit is 2^-24, as that of a subnormal half: the sum rounds to it.
  const float sum = std::bit_cast<float>(rest) + 0.5F;
  return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - 0x3F000000U));
}

// Exact: the upper half of a float's bits.
inline float FromBFloat16(std::uint16_t upper) {
  return std::bit_cast<float>(std::uint32_t{upper} << 16);
}

// The nearest one, ties to even; a NaN keeps its upper bits and stays one.
inline std::uint16_t ToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

// By the type's own reader above; of float32 the bits as they are.
template <LogitsType kType>
float ToNumber(LogitBits<kType> bits) {
  if constexpr (kType == LogitsType::kFloat32) return std::bit_cast<float>(bits);
  if constexpr (kType == LogitsType::kFloat16) return FromFloat16(bits);
  if constexpr (kType == LogitsType::kBFloat16) return FromBFloat16(bits);
}

// By the type's own rounding.
template <LogitsType kType>
LogitBits<kType> ToBits(float number) {
  if constexpr (kType == LogitsType::kFloat32) return std::bit_cast<std::uint32_t>(number);
  if constexpr (kType == LogitsType::kFloat16) return ToFloat16(number);
  if constexpr (kType == LogitsType::kBFloat16) return ToBFloat16(number);
}

// Multiplies `count` elements by `scale`.
template <LogitsType kType>
void ScaleElements(std::byte* at, std::int64_t count, float scale) {
  for (std::int64_t i = 0; i < count; ++i, at += sizeof(LogitBits<kType>)) {
    LogitBits<kType> bits = 0;
    std::memcpy(&bits, at, sizeof(bits));
    bits = ToBits<kType>(ToNumber<kType>(bits) * scale);
    std::memcpy(at, &bits, sizeof(bits));
  }
}

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_FLOAT_BITS_H_
