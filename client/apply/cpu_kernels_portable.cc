// The kernel for any processor, and the one that the others are compared with.
#include "client/apply/cpu_kernels.h"
#include "client/apply/float_bits.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

template <typename Bits>
void MaskRowPortable(const RowJob& job) {
  const auto value = static_cast<Bits>(job.minus_infinity);
  for (std::int64_t word = 0; word < job.vocab_size / 32; ++word) {
    const std::uint32_t forbidden = ~static_cast<std::uint32_t>(job.words[word]);
    if (forbidden == 0) continue;
    std::byte* const elements = job.elements + word * 32 * sizeof(Bits);
    if (forbidden == ~0U)
      FillElements(elements, 32, value);
    else
      FillForbidden(elements, forbidden, value);
  }
  MaskRowEnd<Bits>(job);
}

}  // namespace

constinit const CpuKernel kPortableCpuKernel = {
    cpu::kPortable,
    &MaskRowPortable<std::uint32_t>,
    &MaskRowPortable<std::uint16_t>,
    &FillEnd,
    {&ScaleElements<LogitsType::kFloat32>, &ScaleElements<LogitsType::kFloat16>,
     &ScaleElements<LogitsType::kBFloat16>}};

}  // namespace maskd::client
