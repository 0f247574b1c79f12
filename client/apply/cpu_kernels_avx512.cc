// Sixteen words at a time, compared with all ones at once, which makes wide masks nearly free.
//
// In other blocks a word is the mask of a store, negated, so that allowed logits are neither read
// nor written: one word after the other where many forbid something, else those that do. Blocks
// that allow nothing are no case of their own: filling them saves less than telling them apart.
//
// Where logits stream, a masked store waits for its line; so lines are fetched before.
//
// Cost     measured on Zen 5, us a row of 128,256 with half allowed, 64 rows, lines fetched one by
//          one as others are stored, beside none fetched: float32 7.1 in place of 25 (memset 4.4, a
//          loop of stores 10), bfloat16 2.6 in place of 3.9 (2.1, 2.4). A block's lines fetched at
//          once gain nothing, nor does the loop unrolled (float32 17, and 4.4 in place of 2.5 in
//          cache). In cache loading, blending and storing takes longer (3.6 in place of 2.5, 2.0 in
//          place of 1.5).
#include "client/apply/cpu_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "client/apply/float_bits.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

constexpr std::int64_t kBlockWords = 16;
// Words of a block that forbid something from which on all are stored, without asking which.
constexpr int kManyWords = 6;
constexpr std::int64_t kVectorBytes = 64;
// A row of so many vectors a word is masked in so many places in turn: one place alone, of 32-bit
// elements, fetches a page after the other; 16-bit ones wait less in one place than in two.
template <int kVectors>
constexpr std::int64_t kPlaces = kVectors;
// How far ahead a place's lines are fetched, in bytes of logits, and its words.
constexpr std::int64_t kBytesAhead = 8192;
constexpr std::int64_t kWordsAhead = 2 * kBlockWords;
// From so many bytes on the processor's own fill is used, which does not read what it overwrites:
// 64 rows of float32 in 4.3 us each in place of 10. One in cache takes 3 us in place of 2.
constexpr std::int64_t kManyBytes = 1 << 17;

// A word's 32 elements are so many vectors: one of 16-bit elements, two of 32-bit ones.
template <int kVectors>
constexpr std::int64_t kWordBytes = kVectors * kVectorBytes;

// Sets those of the 32 elements whose bit of `word` is 0; does not access the others.
template <int kVectors>
MASKD_AVX512 inline void StoreForbidden(std::byte* elements, std::int32_t word, __m512i value) {
  const std::uint32_t forbidden = ~static_cast<std::uint32_t>(word);
  if constexpr (kVectors == 1) {
    _mm512_mask_storeu_epi16(elements, static_cast<__mmask32>(forbidden), value);
  } else {
    _mm512_mask_storeu_epi32(elements, static_cast<__mmask16>(forbidden), value);
    _mm512_mask_storeu_epi32(elements + kVectorBytes, static_cast<__mmask16>(forbidden >> 16),
                             value);
  }
}

// Masks a block word by word.
template <int kVectors>
MASKD_AVX512 inline void MaskAll(std::byte* elements, const std::int32_t* words, __m512i value) {
  for (const std::int32_t* const end = words + kBlockWords; words != end; ++words) {
    for (int vector = 0; vector < kVectors; ++vector)
      _mm_prefetch(elements + vector * kVectorBytes + kBytesAhead, _MM_HINT_T0);
    StoreForbidden<kVectors>(elements, *words, value);
    elements += kWordBytes<kVectors>;
  }
}

template <int kVectors>
MASKD_AVX512 inline void MaskBlock(std::byte* elements, const std::int32_t* words, __m512i value) {
  const __m512i block = _mm512_loadu_si512(words);
  std::uint32_t to_mask = _mm512_cmpneq_epi32_mask(block, _mm512_set1_epi32(-1));
  if (to_mask == 0) return;
  if (std::popcount(to_mask) >= kManyWords) return MaskAll<kVectors>(elements, words, value);
  for (; to_mask != 0; to_mask &= to_mask - 1) {
    const std::int64_t i = std::countr_zero(to_mask);
    StoreForbidden<kVectors>(elements + i * kWordBytes<kVectors>, words[i], value);
  }
}

template <int kVectors>
MASKD_AVX512 inline void MaskWords(const RowJob& job, __m512i value) {
  std::byte* const elements = job.elements;
  const std::int32_t* const words = job.words;
  const std::int64_t word_count = job.vocab_size / 32;
  const auto mask_block = [&](std::int64_t word) MASKD_AVX512 {
    _mm_prefetch(words + word + kWordsAhead, _MM_HINT_T0);
    MaskBlock<kVectors>(elements + word * kWordBytes<kVectors>, words + word, value);
  };
  constexpr std::int64_t places = kPlaces<kVectors>;
  const std::int64_t part = word_count / (places * kBlockWords) * kBlockWords;
  for (std::int64_t word = 0; word < part; word += kBlockWords)
    for (std::int64_t place = 0; place < places; ++place) mask_block(place * part + word);
  std::int64_t word = places * part;
  for (; word + kBlockWords <= word_count; word += kBlockWords) mask_block(word);
  for (; word < word_count; ++word)
    StoreForbidden<kVectors>(elements + word * kWordBytes<kVectors>, words[word], value);
}

MASKD_AVX512 void MaskRow32(const RowJob& job) {
  MaskWords<2>(job, _mm512_set1_epi32(static_cast<int>(job.minus_infinity)));
  MaskRowEnd<std::uint32_t>(job);
}

MASKD_AVX512 void MaskRow16(const RowJob& job) {
  MaskWords<1>(job, _mm512_set1_epi16(static_cast<std::int16_t>(job.minus_infinity)));
  MaskRowEnd<std::uint16_t>(job);
}

MASKD_AVX512 void Fill(std::byte* at, std::int64_t bytes, std::uint32_t pattern) {
  if (bytes >= kManyBytes) {
    std::int64_t count = bytes / 4;
    asm volatile("rep stosl" : "+D"(at), "+c"(count) : "a"(pattern) : "memory");
    return FillEnd(at, bytes % 4, pattern);
  }
  const __m512i value = _mm512_set1_epi32(static_cast<int>(pattern));
  for (; bytes >= kVectorBytes; bytes -= kVectorBytes, at += kVectorBytes)
    _mm512_storeu_si512(at, value);
  FillEnd(at, bytes, pattern);
}

// GCC 12 takes the unmasked forms of some instructions for uses of what is not set.
constexpr __mmask16 kAllLanes = 0xFFFF;

MASKD_AVX512 void Scale32(std::byte* at, std::int64_t count, float scale) {
  const __m512 factor = _mm512_set1_ps(scale);
  for (; count >= 16; count -= 16, at += 64)
    _mm512_storeu_ps(at, _mm512_mul_ps(_mm512_loadu_ps(at), factor));
  ScaleElements<LogitsType::kFloat32>(at, count, scale);
}

MASKD_AVX512 void Scale16(std::byte* at, std::int64_t count, float scale) {
  const __m512 factor = _mm512_set1_ps(scale);
  for (; count >= 16; count -= 16, at += 32) {
    auto* const halves = reinterpret_cast<__m256i*>(at);
    const __m512 scaled =
        _mm512_mul_ps(_mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(halves)), factor);
    _mm256_storeu_si256(halves,
                        _mm512_maskz_cvtps_ph(kAllLanes, scaled, _MM_FROUND_TO_NEAREST_INT));
  }
  ScaleElements<LogitsType::kFloat16>(at, count, scale);
}

// The upper halves of 16 float32, rounded.
MASKD_AVX512 inline __m256i RoundToUpper(__m512 numbers) {
  const __m512i bits = _mm512_castps_si512(numbers);
  const __m512i upper = _mm512_maskz_srli_epi32(kAllLanes, bits, 16);
  const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
  const __m512i quiet = _mm512_or_si512(upper, _mm512_set1_epi32(0x40));
  const __mmask16 nan = _mm512_cmp_ps_mask(numbers, numbers, _CMP_UNORD_Q);
  return _mm512_maskz_cvtepi32_epi16(
      kAllLanes, _mm512_mask_mov_epi32(_mm512_maskz_srli_epi32(kAllLanes, up, 16), nan, quiet));
}

MASKD_AVX512 void ScaleBf16(std::byte* at, std::int64_t count, float scale) {
  const __m512 factor = _mm512_set1_ps(scale);
  for (; count >= 16; count -= 16, at += 32) {
    auto* const uppers = reinterpret_cast<__m256i*>(at);
    const __m512i bits = _mm512_maskz_slli_epi32(
        kAllLanes, _mm512_maskz_cvtepu16_epi32(kAllLanes, _mm256_loadu_si256(uppers)), 16);
    _mm256_storeu_si256(uppers, RoundToUpper(_mm512_mul_ps(_mm512_castsi512_ps(bits), factor)));
  }
  ScaleElements<LogitsType::kBFloat16>(at, count, scale);
}

}  // namespace

constinit const CpuKernel kAvx512CpuKernel = {
    cpu::kAvx512, &MaskRow32, &MaskRow16, &Fill, {&Scale32, &Scale16, &ScaleBf16}};

}  // namespace maskd::client
#endif  // defined(__x86_64__)
