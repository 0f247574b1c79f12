// Blends whole vectors: AVX2's own masked store exists for 32-bit elements only and is slow on AMD.
#include "client/apply/cpu_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "client/apply/float_bits.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

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

MASKD_AVX2 inline void FillVectors(std::byte* elements, int count, __m256i value) {
  for (int i = 0; i < count; ++i) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(elements) + i, value);
  }
}

MASKD_AVX2 void MaskRow32(const RowJob& job) {
  const __m256i value = _mm256_set1_epi32(static_cast<int>(job.minus_infinity));
  const __m256i lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (std::int64_t i = 0; i < job.vocab_size / 32; ++i) {
    const std::int32_t word = job.words[i];
    if (word == -1) continue;
    std::byte* const elements = job.elements + i * 128;
    if (word == 0) {
      FillVectors(elements, 4, value);
      continue;
    }
    const __m256i bits = _mm256_set1_epi32(word);
    Blend8(elements, bits, lanes, value);
    Blend8(elements + 32, bits, _mm256_slli_epi32(lanes, 8), value);
    Blend8(elements + 64, bits, _mm256_slli_epi32(lanes, 16), value);
    Blend8(elements + 96, bits, _mm256_slli_epi32(lanes, 24), value);
  }
  MaskRowEnd<std::uint32_t>(job);
}

MASKD_AVX2 void MaskRow16(const RowJob& job) {
  const __m256i value = _mm256_set1_epi16(static_cast<std::int16_t>(job.minus_infinity));
  const __m256i lanes = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                          8192, 16384, static_cast<std::int16_t>(0x8000));
  for (std::int64_t i = 0; i < job.vocab_size / 32; ++i) {
    const std::int32_t word = job.words[i];
    if (word == -1) continue;
    std::byte* const elements = job.elements + i * 64;
    if (word == 0) {
      FillVectors(elements, 2, value);
      continue;
    }
    Blend16(elements, _mm256_set1_epi16(static_cast<std::int16_t>(word)), lanes, value);
    Blend16(elements + 32, _mm256_set1_epi16(static_cast<std::int16_t>(word >> 16)), lanes, value);
  }
  MaskRowEnd<std::uint16_t>(job);
}

MASKD_AVX2 void Fill(std::byte* at, std::int64_t bytes, std::uint32_t pattern) {
  const __m256i value = _mm256_set1_epi32(static_cast<int>(pattern));
  for (; bytes >= 32; bytes -= 32, at += 32) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), value);
  }
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
