// Masked stores: a mask word is the store mask, negated, so allowed logits are neither read nor
// written. Sixteen words are compared with all ones at once, which makes wide masks nearly free.
#include "client/apply/cpu_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define MASKD_AVX512 __attribute__((target("avx512f,avx512bw")))

namespace maskd::client {
namespace {

constexpr std::int64_t kBlockWords = 16;

// Sets the elements whose bit of `forbidden` is 1; the others' memory is not accessed.
MASKD_AVX512 inline void Store32(std::byte* elements, std::uint32_t forbidden, __m512i value) {
  _mm512_mask_storeu_epi32(elements, static_cast<__mmask16>(forbidden), value);
  _mm512_mask_storeu_epi32(elements + 64, static_cast<__mmask16>(forbidden >> 16), value);
}

MASKD_AVX512 inline void Store16(std::byte* elements, std::uint32_t forbidden, __m512i value) {
  _mm512_mask_storeu_epi16(elements, static_cast<__mmask32>(forbidden), value);
}

// Which of 16 words forbid anything.
MASKD_AVX512 inline std::uint32_t WordsToMask(const std::int32_t* words) {
  return _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(words), _mm512_set1_epi32(-1));
}

}  // namespace

MASKD_AVX512 void MaskRow32Avx512(const RowJob& job) {
  const __m512i value = _mm512_set1_epi32(static_cast<int>(job.minus_infinity));
  const std::int64_t word_count = job.vocab_size / 32;
  std::int64_t word = 0;
  for (; word + kBlockWords <= word_count; word += kBlockWords) {
    for (std::uint32_t set = WordsToMask(job.words + word); set != 0; set &= set - 1) {
      const std::int64_t i = word + std::countr_zero(set);
      Store32(job.elements + i * 128, ~static_cast<std::uint32_t>(job.words[i]), value);
    }
  }
  for (; word < word_count; ++word) {
    Store32(job.elements + word * 128, ~static_cast<std::uint32_t>(job.words[word]), value);
  }
  MaskRowEnd<std::uint32_t>(job);
}

MASKD_AVX512 void MaskRow16Avx512(const RowJob& job) {
  const __m512i value = _mm512_set1_epi16(static_cast<std::int16_t>(job.minus_infinity));
  const std::int64_t word_count = job.vocab_size / 32;
  std::int64_t word = 0;
  for (; word + kBlockWords <= word_count; word += kBlockWords) {
    for (std::uint32_t set = WordsToMask(job.words + word); set != 0; set &= set - 1) {
      const std::int64_t i = word + std::countr_zero(set);
      Store16(job.elements + i * 64, ~static_cast<std::uint32_t>(job.words[i]), value);
    }
  }
  for (; word < word_count; ++word) {
    Store16(job.elements + word * 64, ~static_cast<std::uint32_t>(job.words[word]), value);
  }
  MaskRowEnd<std::uint16_t>(job);
}

}  // namespace maskd::client

#undef MASKD_AVX512
#endif  // defined(__x86_64__)
