#include "client/apply/cpu_kernels.h"

#include <array>

#include "cpu/level.h"

namespace maskd::client {
namespace {

constexpr std::array kKernels = {
#if defined(__x86_64__)
    &kAvx512CpuKernel,
    &kAvx2CpuKernel,
#elif defined(__aarch64__)
    &kNeonCpuKernel,
#endif
    &kPortableCpuKernel,
};

}  // namespace

std::span<const CpuKernel* const> CpuKernels() { return kKernels; }

const CpuKernel& BestCpuKernel() { return cpu::Best(CpuKernels()); }

}  // namespace maskd::client
