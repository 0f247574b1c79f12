#include "client/apply/cpu_kernels.h"

#include <algorithm>
#include <array>

namespace maskd::client {
namespace {

bool Always() { return true; }

#if defined(__x86_64__)
bool HasAvx2() { return __builtin_cpu_supports("avx2") != 0; }

bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
}
#endif

constexpr std::array kKernels = {
#if defined(__x86_64__)
    CpuKernel{"avx512", &HasAvx512, &MaskRow32Avx512, &MaskRow16Avx512},
    CpuKernel{"avx2", &HasAvx2, &MaskRow32Avx2, &MaskRow16Avx2},
#endif
    CpuKernel{"portable", &Always, &MaskRow32Portable, &MaskRow16Portable},
};

}  // namespace

std::span<const CpuKernel> CpuKernels() { return kKernels; }

const CpuKernel& BestCpuKernel() {
  return *std::ranges::find_if(kKernels,
                               [](const CpuKernel& kernel) { return kernel.supported(); });
}

}  // namespace maskd::client
