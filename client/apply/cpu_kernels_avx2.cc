// Eight words at a time, compared with all ones and with all zeros at once: the first are passed
// over, the second filled. In other blocks whole vectors are blended, for AVX2's own masked store
// exists for 32-bit elements only and is slow on AMD: those of the cache lines that forbid
// something, or of all lines where these are many.
//
// Cost     measured on Zen 3 beside asking word for word, us a row of 128,256 with half allowed,
//          and with 99.9 %: 64 rows of float32 27 in place of 41, and 3.3 in place of 8.1; of
//          bfloat16 7.6 in place of 21, and 3.1 in place of 5.8. One row, in cache, takes as long
//          as before or up to a quarter less, around 97 % a tenth more. Streaming stores (24 us for
//          a fill that takes 20 without them, in three places) and a list of the lines to mask made
//          beforehand take longer.
#include "client/apply/cpu_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "client/apply/float_bits.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

constexpr std::int64_t kBlockWords = 8;
constexpr std::int64_t kLineBytes = 64;
// As in cpu_kernels_avx512.cc: the places of a row that are masked in turn, here for two thirds of
// the time where logits stream, and how far ahead words are fetched.
constexpr std::int64_t kPlaces = 3;
constexpr std::int64_t kWordsAhead = 4 * kBlockWords;

template <typename Bits>
constexpr std::int64_t kWordBytes = 32 * sizeof(Bits);
template <typename Bits>
constexpr int kBlockLines = kBlockWords * kWordBytes<Bits> / kLineBytes;
// Lines of a block that forbid something from which on all words are blended, without asking which.
// Where logits stream, lines that are left out cost more than they save: at 97 % allowed two lines
// of five are to be masked, and take 1.5 times as long alone as all of them do.
template <typename Bits>
constexpr int kManyLines = kBlockLines<Bits> / 4;

// Blends 8 elements: those whose bit of `lane_bits` is 0 in `word` become `value`.
MASKD_AVX2 inline void Blend8(std::byte* elements, __m256i word, __m256i lane_bits, __m256i value) {
  auto* const vector = reinterpret_cast<__m256i*>(elements);
  const __m256i allowed = _mm256_cmpeq_epi32(_mm256_and_si256(word, lane_bits), lane_bits);
  _mm256_storeu_si256(vector, _mm256_blendv_epi8(value, _mm256_loadu_si256(vector), allowed));
}

// The same for 16 elements of 16 bits.
MASKD_AVX2 inline void Blend16(std::byte* elements, __m256i half_word, __m256i lane_bits,
                               __m256i value) {
  auto* const vector = reinterpret_cast<__m256i*>(elements);
  const __m256i allowed = _mm256_cmpeq_epi16(_mm256_and_si256(half_word, lane_bits), lane_bits);
  _mm256_storeu_si256(vector, _mm256_blendv_epi8(value, _mm256_loadu_si256(vector), allowed));
}

// The bits that each element of a vector has in the lowest bits of a word.
template <typename Bits>
MASKD_AVX2 inline __m256i LaneBits() {
  if constexpr (sizeof(Bits) == 4) return _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
                           static_cast<std::int16_t>(0x8000));
}

// Masks the 32 elements of the word.
template <typename Bits>
MASKD_AVX2 inline void BlendWord(std::byte* elements, std::int32_t word, __m256i value) {
  const __m256i lanes = LaneBits<Bits>();
  if constexpr (sizeof(Bits) == 4) {
    const __m256i bits = _mm256_set1_epi32(word);
    Blend8(elements, bits, lanes, value);
    Blend8(elements + 32, bits, _mm256_slli_epi32(lanes, 8), value);
    Blend8(elements + 64, bits, _mm256_slli_epi32(lanes, 16), value);
    Blend8(elements + 96, bits, _mm256_slli_epi32(lanes, 24), value);
  } else {
    Blend16(elements, _mm256_set1_epi16(static_cast<std::int16_t>(word)), lanes, value);
    Blend16(elements + 32, _mm256_set1_epi16(static_cast<std::int16_t>(word >> 16)), lanes, value);
  }
}

// Masks one of the lines of a block.
template <typename Bits>
MASKD_AVX2 inline void BlendLine(std::byte* elements, const std::int32_t* words, int line,
                                 __m256i value) {
  if constexpr (sizeof(Bits) == 4) {
    const __m256i lanes = LaneBits<Bits>();
    const __m256i bits = _mm256_set1_epi32(words[line / 2] >> (line % 2 * 16));
    Blend8(elements + line * kLineBytes, bits, lanes, value);
    Blend8(elements + line * kLineBytes + 32, bits, _mm256_slli_epi32(lanes, 8), value);
  } else {
    BlendWord<Bits>(elements + line * kLineBytes, words[line], value);
  }
}

// A bit for each line of the block that forbids something.
template <typename Bits>
MASKD_AVX2 inline std::uint32_t LinesToMask(__m256i block) {
  const __m256i ones = _mm256_set1_epi32(-1);
  if constexpr (sizeof(Bits) == 4) {
    const __m256i open = _mm256_cmpeq_epi16(block, ones);
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(open), _mm256_extracti128_si256(open, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes)) ^ 0xFFFF;
  } else {
    const __m256i open = _mm256_cmpeq_epi32(block, ones);
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(open))) ^ 0xFF;
  }
}

template <typename Bits>
MASKD_AVX2 inline void MaskBlock(std::byte* elements, const std::int32_t* words, __m256i value) {
  const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
  if (_mm256_testc_si256(block, _mm256_set1_epi32(-1)) != 0) return;
  if (_mm256_testz_si256(block, block) != 0) {
    for (int i = 0; i < 2 * kBlockLines<Bits>; ++i)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(elements) + i, value);
    return;
  }
  std::uint32_t to_mask = LinesToMask<Bits>(block);
  if (std::popcount(to_mask) >= kManyLines<Bits>) {
    for (std::int64_t i = 0; i < kBlockWords; ++i)
      BlendWord<Bits>(elements + i * kWordBytes<Bits>, words[i], value);
    return;
  }
  for (; to_mask != 0; to_mask &= to_mask - 1)
    BlendLine<Bits>(elements, words, std::countr_zero(to_mask), value);
}

template <typename Bits>
MASKD_AVX2 inline void MaskBlockAt(const RowJob& job, std::int64_t word, __m256i value) {
  _mm_prefetch(job.words + word + kWordsAhead, _MM_HINT_T0);
  MaskBlock<Bits>(job.elements + word * kWordBytes<Bits>, job.words + word, value);
}

template <typename Bits>
MASKD_AVX2 inline void MaskWords(const RowJob& job, __m256i value) {
  const std::int64_t word_count = job.vocab_size / 32;
  const std::int64_t part = word_count / (kPlaces * kBlockWords) * kBlockWords;
  for (std::int64_t word = 0; word < part; word += kBlockWords)
    for (std::int64_t place = 0; place < kPlaces; ++place)
      MaskBlockAt<Bits>(job, place * part + word, value);
  std::int64_t word = kPlaces * part;
  for (; word + kBlockWords <= word_count; word += kBlockWords) MaskBlockAt<Bits>(job, word, value);
  for (; word < word_count; ++word)
    BlendWord<Bits>(job.elements + word * kWordBytes<Bits>, job.words[word], value);
}

MASKD_AVX2 void MaskRow32(const RowJob& job) {
  MaskWords<std::uint32_t>(job, _mm256_set1_epi32(static_cast<int>(job.minus_infinity)));
  MaskRowEnd<std::uint32_t>(job);
}

MASKD_AVX2 void MaskRow16(const RowJob& job) {
  MaskWords<std::uint16_t>(job, _mm256_set1_epi16(static_cast<std::int16_t>(job.minus_infinity)));
  MaskRowEnd<std::uint16_t>(job);
}

MASKD_AVX2 void Fill(std::byte* at, std::int64_t bytes, std::uint32_t pattern) {
  const __m256i value = _mm256_set1_epi32(static_cast<int>(pattern));
  for (; bytes >= 32; bytes -= 32, at += 32)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), value);
  FillEnd(at, bytes, pattern);
}

MASKD_AVX2 void Scale32(std::byte* at, std::int64_t count, float scale) {
  const __m256 factor = _mm256_set1_ps(scale);
  for (; count >= 8; count -= 8, at += 32) {
    auto* const numbers = reinterpret_cast<float*>(at);
    _mm256_storeu_ps(numbers, _mm256_mul_ps(_mm256_loadu_ps(numbers), factor));
  }
  ScaleElements<LogitsType::kFloat32>(at, count, scale);
}

MASKD_AVX2 void Scale16(std::byte* at, std::int64_t count, float scale) {
  const __m256 factor = _mm256_set1_ps(scale);
  for (; count >= 8; count -= 8, at += 16) {
    auto* const halves = reinterpret_cast<__m128i*>(at);
    const __m256 scaled = _mm256_mul_ps(_mm256_cvtph_ps(_mm_loadu_si128(halves)), factor);
    _mm_storeu_si128(halves, _mm256_cvtps_ph(scaled, _MM_FROUND_TO_NEAREST_INT));
  }
  ScaleElements<LogitsType::kFloat16>(at, count, scale);
}

// The upper halves of 8 float32, rounded.
MASKD_AVX2 inline __m256i RoundToUpper(__m256 numbers) {
  const __m256i bits = _mm256_castps_si256(numbers);
  const __m256i upper = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
  const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
  const __m256 nan = _mm256_cmp_ps(numbers, numbers, _CMP_UNORD_Q);
  return _mm256_blendv_epi8(_mm256_srli_epi32(up, 16), quiet, _mm256_castps_si256(nan));
}

MASKD_AVX2 void ScaleBf16(std::byte* at, std::int64_t count, float scale) {
  const __m256 factor = _mm256_set1_ps(scale);
  for (; count >= 8; count -= 8, at += 16) {
    auto* const uppers = reinterpret_cast<__m128i*>(at);
    const __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(uppers)), 16);
    const __m256i scaled = RoundToUpper(_mm256_mul_ps(_mm256_castsi256_ps(bits), factor));
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(scaled, scaled), 0x08);
    _mm_storeu_si128(uppers, _mm256_castsi256_si128(packed));
  }
  ScaleElements<LogitsType::kBFloat16>(at, count, scale);
}

}  // namespace

constinit const CpuKernel kAvx2CpuKernel = {
    cpu::kAvx2, &MaskRow32, &MaskRow16, &Fill, {&Scale32, &Scale16, &ScaleBf16}};

}  // namespace maskd::client
#endif  // defined(__x86_64__)
