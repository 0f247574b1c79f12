// Four words at a time, the rest one by one. Compilers make the same of the portable loops, except
// the count and the search.
#include "grammar_core/mask/word_kernels.h"

#if defined(__aarch64__)
#include <bit>

#include <arm_neon.h>

#include "cpu/level.h"

namespace maskd {
namespace {

constexpr std::size_t kLanes = 4;

struct Or {
  static int32x4_t Of(int32x4_t into, int32x4_t words) { return vorrq_s32(into, words); }
  static std::int32_t Of(std::int32_t into, std::int32_t word) { return into | word; }
};
struct And {
  static int32x4_t Of(int32x4_t into, int32x4_t words) { return vandq_s32(into, words); }
  static std::int32_t Of(std::int32_t into, std::int32_t word) { return into & word; }
};
struct AndNot {
  static int32x4_t Of(int32x4_t into, int32x4_t words) { return vbicq_s32(into, words); }
  static std::int32_t Of(std::int32_t into, std::int32_t word) { return into & ~word; }
};

template <typename Operation>
void Combine(std::int32_t* into, const std::int32_t* words, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    vst1q_s32(into + i, Operation::Of(vld1q_s32(into + i), vld1q_s32(words + i)));
  for (; i < count; ++i) into[i] = Operation::Of(into[i], words[i]);
}

std::int64_t CountBits(const std::int32_t* words, std::size_t count) {
  uint64x2_t sums = vdupq_n_u64(0);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const uint8x16_t bits = vcntq_u8(vreinterpretq_u8_s32(vld1q_s32(words + i)));
    sums = vpadalq_u32(sums, vpaddlq_u16(vpaddlq_u8(bits)));
  }
  auto bits = static_cast<std::int64_t>(vaddvq_u64(sums));
  for (; i < count; ++i) bits += std::popcount(static_cast<std::uint32_t>(words[i]));
  return bits;
}

std::size_t FindNonzero(const std::int32_t* words, std::size_t count) {
  std::size_t i = 0;
  while (i + kLanes <= count && vmaxvq_u32(vreinterpretq_u32_s32(vld1q_s32(words + i))) == 0)
    i += kLanes;
  while (i < count && words[i] == 0) ++i;
  return i;
}

std::uint64_t Differences(const std::int32_t* words, const std::int32_t* others,
                          std::size_t count) {
  constexpr std::uint32_t kBits[kLanes] = {1, 2, 4, 8};
  const uint32x4_t bits = vld1q_u32(kBits);
  std::uint64_t different = 0;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const uint32x4_t equal = vceqq_s32(vld1q_s32(words + i), vld1q_s32(others + i));
    different |= std::uint64_t{vaddvq_u32(vbicq_u32(bits, equal))} << i;
  }
  for (; i < count; ++i) different |= std::uint64_t{words[i] != others[i] ? 1U : 0U} << i;
  return different;
}

}  // namespace

constinit const WordKernels kNeonWordKernels = {cpu::kNeon,       &Combine<Or>, &Combine<And>,
                                                &Combine<AndNot>, &CountBits,   &FindNonzero,
                                                &Differences};

}  // namespace maskd
#endif  // defined(__aarch64__)
