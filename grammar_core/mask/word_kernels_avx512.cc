// Sixteen words at a time; the rest at once, as the lanes of a masked vector.
#include "grammar_core/mask/word_kernels.h"

#if defined(__x86_64__)
#include <array>
#include <bit>
#include <numeric>

#include <immintrin.h>

#include "cpu/level.h"

namespace maskd {
namespace {

constexpr std::size_t kLanes = 16;

// The lanes of `count` words, fewer than kLanes.
inline __mmask16 FirstLanes(std::size_t count) { return static_cast<__mmask16>((1U << count) - 1); }

// Operators of the compilers' vector types: g++ 12 warns of its own header's intrinsics.
struct Or {
  MASKD_AVX512 static __m512i Of(__m512i into, __m512i words) { return into | words; }
};
struct And {
  MASKD_AVX512 static __m512i Of(__m512i into, __m512i words) { return into & words; }
};
struct AndNot {
  MASKD_AVX512 static __m512i Of(__m512i into, __m512i words) { return into & ~words; }
};

template <typename Operation>
MASKD_AVX512 void Combine(std::int32_t* into, const std::int32_t* words, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    _mm512_storeu_si512(into + i,
                        Operation::Of(_mm512_loadu_si512(into + i), _mm512_loadu_si512(words + i)));
  }
  const __mmask16 rest = FirstLanes(count - i);
  _mm512_mask_storeu_epi32(into + i, rest,
                           Operation::Of(_mm512_maskz_loadu_epi32(rest, into + i),
                                         _mm512_maskz_loadu_epi32(rest, words + i)));
}

// The bits of 64 bytes, looked up by their halves, as eight sums. No VPOPCNTDQ: it is not of this
// level.
MASKD_AVX512 inline __m512i BitSums(__m512i bytes) {
  const __m512i bits_of_half = _mm512_set4_epi32(0x04030302, 0x03020201, 0x03020201, 0x02010100);
  const __m512i low_half = _mm512_set1_epi8(0x0F);
  const __m512i high = _mm512_srli_epi16(bytes, 4) & low_half;
  const __m512i bits = _mm512_add_epi8(_mm512_shuffle_epi8(bits_of_half, bytes & low_half),
                                       _mm512_shuffle_epi8(bits_of_half, high));
  return _mm512_sad_epu8(bits, _mm512_setzero_si512());
}

MASKD_AVX512 std::int64_t CountBits(const std::int32_t* words, std::size_t count) {
  std::size_t i = 0;
  __m512i sums = _mm512_setzero_si512();
  for (; i + kLanes <= count; i += kLanes)
    sums = _mm512_add_epi64(sums, BitSums(_mm512_loadu_si512(words + i)));
  sums =
      _mm512_add_epi64(sums, BitSums(_mm512_maskz_loadu_epi32(FirstLanes(count - i), words + i)));
  std::array<std::int64_t, 8> lanes;
  _mm512_storeu_si512(lanes.data(), sums);
  return std::accumulate(lanes.begin(), lanes.end(), std::int64_t{0});
}

MASKD_AVX512 std::size_t FindNonzero(const std::int32_t* words, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m512i vector = _mm512_loadu_si512(words + i);
    const std::uint32_t nonzero = _mm512_test_epi32_mask(vector, vector);
    if (nonzero != 0) return i + static_cast<std::size_t>(std::countr_zero(nonzero));
  }
  const __m512i rest = _mm512_maskz_loadu_epi32(FirstLanes(count - i), words + i);
  const std::uint32_t nonzero = _mm512_test_epi32_mask(rest, rest);
  return nonzero == 0 ? count : i + static_cast<std::size_t>(std::countr_zero(nonzero));
}

MASKD_AVX512 std::uint64_t Differences(const std::int32_t* words, const std::int32_t* others,
                                       std::size_t count) {
  std::uint64_t different = 0;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const std::uint32_t lanes =
        _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(words + i), _mm512_loadu_si512(others + i));
    different |= std::uint64_t{lanes} << i;
  }
  if (i == count) return different;
  const __mmask16 rest = FirstLanes(count - i);
  const std::uint32_t lanes = _mm512_mask_cmpneq_epi32_mask(
      rest, _mm512_maskz_loadu_epi32(rest, words + i), _mm512_maskz_loadu_epi32(rest, others + i));
  return different | std::uint64_t{lanes} << i;
}

}  // namespace

constinit const WordKernels kAvx512WordKernels = {cpu::kAvx512,     &Combine<Or>, &Combine<And>,
                                                  &Combine<AndNot>, &CountBits,   &FindNonzero,
                                                  &Differences};

}  // namespace maskd
#endif  // defined(__x86_64__)
