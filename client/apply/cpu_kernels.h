// The kernels that mask one row of logits on a processor, and the choice among them (cpu/level.h).
//
// Meaning  all kernels give bit for bit what the portable one gives: the elements of tokens whose
//          bit is 0, and those past the vocabulary, become `minus_infinity`; no other byte is
//          written. Words of all ones are passed over without touching their logits. Scaling too
//          gives the same bits, NaNs apart.
// Layout   elements are bytes here, as the caller's type (float, half) is not ours to name.
// Threads  pure functions.
#ifndef MASKD_CLIENT_APPLY_CPU_KERNELS_H_
#define MASKD_CLIENT_APPLY_CPU_KERNELS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "absl/strings/string_view.h"

namespace maskd::client {

// One row to mask.
struct RowJob {
  std::byte* elements = nullptr;
  // The row as it was, for MaskCpuRow(): the same, or memory that is only read.
  const std::byte* source = nullptr;
  const std::int32_t* words = nullptr;  // MaskWordCount(vocab_size) of them
  std::int64_t vocab_size = 0;
  std::int64_t width = 0;  // elements in the row, at least vocab_size
  std::uint32_t minus_infinity =
      0;  // the bits of the element type; 16-bit kernels use the lower half
};

using RowKernel = void (*)(const RowJob& job);
// Writes `bytes` bytes, an even number, with the bytes of `pattern` over and over.
using FillKernel = void (*)(std::byte* at, std::int64_t bytes, std::uint32_t pattern);

// Multiplies `count` elements by `scale`, as float_bits.h says.
using ScaleKernel = void (*)(std::byte* at, std::int64_t count, float scale);

// The loops of one instruction set. None is null.
struct CpuKernel {
  absl::string_view level;
  RowKernel mask_32bit;
  RowKernel mask_16bit;
  FillKernel fill;
  std::array<ScaleKernel, 3> scale;  // by LogitsType
};

// All kernels of this build, best first; the last is the portable one.
std::span<const CpuKernel* const> CpuKernels();

// The first that this processor supports.
const CpuKernel& BestCpuKernel();

extern const CpuKernel kPortableCpuKernel;
#if defined(__x86_64__)
extern const CpuKernel kAvx2CpuKernel;
extern const CpuKernel kAvx512CpuKernel;
#elif defined(__aarch64__)
extern const CpuKernel kNeonCpuKernel;
#endif

// Sets `count` elements of type Bits at `elements`.
template <typename Bits>
void FillElements(std::byte* elements, std::int64_t count, Bits value) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(elements + i * sizeof(Bits), &value, sizeof(Bits));
}

// A fill's last bytes, fewer than a vector.
inline void FillEnd(std::byte* at, std::int64_t bytes, std::uint32_t pattern) {
  for (; bytes >= 4; bytes -= 4, at += 4) std::memcpy(at, &pattern, 4);
  std::memcpy(at, &pattern, static_cast<std::size_t>(bytes));
}

// Sets the elements whose bit in `forbidden` is 1.
template <typename Bits>
void FillForbidden(std::byte* elements, std::uint32_t forbidden, Bits value) {
  for (; forbidden != 0; forbidden &= forbidden - 1)
    std::memcpy(elements + std::countr_zero(forbidden) * sizeof(Bits), &value, sizeof(Bits));
}

// What is left of a row after its whole words: the last, partial word and the padding.
template <typename Bits>
void MaskRowEnd(const RowJob& job) {
  const auto value = static_cast<Bits>(job.minus_infinity);
  const std::int64_t whole_words = job.vocab_size / 32;
  const auto rest = static_cast<int>(job.vocab_size % 32);
  if (rest > 0) {
    const std::uint32_t forbidden =
        ~static_cast<std::uint32_t>(job.words[whole_words]) & ((1U << rest) - 1);
    FillForbidden(job.elements + whole_words * 32 * sizeof(Bits), forbidden, value);
  }
  FillElements(job.elements + job.vocab_size * sizeof(Bits), job.width - job.vocab_size, value);
}

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_CPU_KERNELS_H_
