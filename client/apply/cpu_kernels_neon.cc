// Blends whole vectors: NEON has no masked store.
#include "client/apply/cpu_kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include "client/apply/float_bits.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

// The bit of each lane, in a word and in half a word.
alignas(16) constexpr std::uint32_t kBits32[4] = {1, 2, 4, 8};
alignas(16) constexpr std::uint16_t kBits16[8] = {1, 2, 4, 8, 16, 32, 64, 128};

// Elements need no alignment, so they are loaded and stored as bytes.
inline uint8x16_t Load(const std::byte* at) {
  return vld1q_u8(reinterpret_cast<const std::uint8_t*>(at));
}
inline void Store(std::byte* at, uint8x16_t value) {
  vst1q_u8(reinterpret_cast<std::uint8_t*>(at), value);
}

// Sets the 4 elements whose bit of `lane_bits` is 0 in `word`.
inline void Blend4(std::byte* at, uint32x4_t word, uint32x4_t lane_bits, uint8x16_t value) {
  const uint8x16_t allowed = vreinterpretq_u8_u32(vtstq_u32(word, lane_bits));
  Store(at, vbslq_u8(allowed, Load(at), value));
}

// The same for 8 elements of 16 bits.
inline void Blend8(std::byte* at, uint16x8_t byte, uint16x8_t lane_bits, uint8x16_t value) {
  const uint8x16_t allowed = vreinterpretq_u8_u16(vtstq_u16(byte, lane_bits));
  Store(at, vbslq_u8(allowed, Load(at), value));
}

void MaskRow32(const RowJob& job) {
  const uint8x16_t value = vreinterpretq_u8_u32(vdupq_n_u32(job.minus_infinity));
  const uint32x4_t lanes = vld1q_u32(kBits32);
  for (std::int64_t i = 0; i < job.vocab_size / 32; ++i) {
    const auto word = static_cast<std::uint32_t>(job.words[i]);
    if (word == ~0U) continue;
    for (int four = 0; four < 8; ++four)
      Blend4(job.elements + i * 128 + four * 16, vdupq_n_u32(word >> (four * 4)), lanes, value);
  }
  MaskRowEnd<std::uint32_t>(job);
}

void MaskRow16(const RowJob& job) {
  const auto minus_infinity = static_cast<std::uint16_t>(job.minus_infinity);
  const uint8x16_t value = vreinterpretq_u8_u16(vdupq_n_u16(minus_infinity));
  const uint16x8_t lanes = vld1q_u16(kBits16);
  for (std::int64_t i = 0; i < job.vocab_size / 32; ++i) {
    const auto word = static_cast<std::uint32_t>(job.words[i]);
    if (word == ~0U) continue;
    for (int byte = 0; byte < 4; ++byte) {
      const auto bits = static_cast<std::uint16_t>(word >> (byte * 8));
      Blend8(job.elements + i * 64 + byte * 16, vdupq_n_u16(bits), lanes, value);
    }
  }
  MaskRowEnd<std::uint16_t>(job);
}

void Fill(std::byte* at, std::int64_t bytes, std::uint32_t pattern) {
  const uint8x16_t value = vreinterpretq_u8_u32(vdupq_n_u32(pattern));
  for (; bytes >= 16; bytes -= 16, at += 16) Store(at, value);
  FillEnd(at, bytes, pattern);
}

}  // namespace

constinit const CpuKernel kNeonCpuKernel = {
    cpu::kNeon,
    &MaskRow32,
    &MaskRow16,
    &Fill,
    {&ScaleElements<LogitsType::kFloat32>, &ScaleElements<LogitsType::kFloat16>,
     &ScaleElements<LogitsType::kBFloat16>}};

}  // namespace maskd::client
#endif  // defined(__aarch64__)
