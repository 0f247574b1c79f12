// Eight words at a time, the rest one by one.
#include "grammar_core/mask/word_kernels.h"

#if defined(__x86_64__)
#include <bit>

#include <immintrin.h>

#include "cpu/level.h"

namespace maskd {
namespace {

constexpr std::size_t kLanes = 8;

MASKD_AVX2 inline __m256i Load(const std::int32_t* words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}

MASKD_AVX2 inline void Store(std::int32_t* words, __m256i vector) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), vector);
}

struct Or {
  MASKD_AVX2 static __m256i Of(__m256i into, __m256i words) { return _mm256_or_si256(into, words); }
  static std::int32_t Of(std::int32_t into, std::int32_t word) { return into | word; }
};
struct And {
  MASKD_AVX2 static __m256i Of(__m256i into, __m256i words) {
    return _mm256_and_si256(into, words);
  }
  static std::int32_t Of(std::int32_t into, std::int32_t word) { return into & word; }
};
struct AndNot {
  MASKD_AVX2 static __m256i Of(__m256i into, __m256i words) {
    return _mm256_andnot_si256(words, into);
  }
  static std::int32_t Of(std::int32_t into, std::int32_t word) { return into & ~word; }
};

template <typename Operation>
MASKD_AVX2 void Combine(std::int32_t* into, const std::int32_t* words, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    Store(into + i, Operation::Of(Load(into + i), Load(words + i)));
  for (; i < count; ++i) into[i] = Operation::Of(into[i], words[i]);
}

// The bits of each byte, looked up by its halves.
MASKD_AVX2 inline __m256i BitsOfBytes(__m256i bytes, __m256i bits_of_half, __m256i low_half) {
  const __m256i low = _mm256_and_si256(bytes, low_half);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_half);
  return _mm256_add_epi8(_mm256_shuffle_epi8(bits_of_half, low),
                         _mm256_shuffle_epi8(bits_of_half, high));
}

MASKD_AVX2 std::int64_t CountBits(const std::int32_t* words, std::size_t count) {
  const __m256i bits_of_half =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m256i low_half = _mm256_set1_epi8(0x0F);
  __m256i sums = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m256i bits = BitsOfBytes(Load(words + i), bits_of_half, low_half);
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(bits, _mm256_setzero_si256()));
  }
  std::int64_t bits = _mm256_extract_epi64(sums, 0) + _mm256_extract_epi64(sums, 1) +
                      _mm256_extract_epi64(sums, 2) + _mm256_extract_epi64(sums, 3);
  for (; i < count; ++i) bits += std::popcount(static_cast<std::uint32_t>(words[i]));
  return bits;
}

MASKD_AVX2 std::size_t FindNonzero(const std::int32_t* words, std::size_t count) {
  std::size_t i = 0;
  while (i + kLanes <= count && _mm256_testz_si256(Load(words + i), Load(words + i)) != 0)
    i += kLanes;
  while (i < count && words[i] == 0) ++i;
  return i;
}

MASKD_AVX2 std::uint64_t Differences(const std::int32_t* words, const std::int32_t* others,
                                     std::size_t count) {
  std::uint64_t equal = 0;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m256i lanes = _mm256_cmpeq_epi32(Load(words + i), Load(others + i));
    const int bits = _mm256_movemask_ps(_mm256_castsi256_ps(lanes));
    equal |= std::uint64_t{static_cast<std::uint32_t>(bits)} << i;
  }
  for (; i < count; ++i) equal |= std::uint64_t{words[i] == others[i] ? 1U : 0U} << i;
  const std::uint64_t all = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  return ~equal & all;
}

}  // namespace

constinit const WordKernels kAvx2WordKernels = {cpu::kAvx2,       &Combine<Or>, &Combine<And>,
                                                &Combine<AndNot>, &CountBits,   &FindNonzero,
                                                &Differences};

}  // namespace maskd
#endif  // defined(__x86_64__)
