// The appliers that every case must hold for, by name: the CPU's kernels, and the devices.
#ifndef MASKD_TESTS_APPLY_APPLIERS_H_
#define MASKD_TESTS_APPLY_APPLIERS_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "client/apply/applier.h"
#include "client/apply/cpu_applier.h"
#include "client/apply/cpu_kernels.h"

namespace maskd::client {

// The kernels that this build has: one architecture's.
inline std::vector<std::string> ApplierNames() {
  std::vector<std::string> names;
  for (const CpuKernel* kernel : CpuKernels()) names.emplace_back(kernel->level);
  return names;
}

inline constexpr std::array kLogitsTypes = {LogitsType::kFloat32, LogitsType::kFloat16,
                                            LogitsType::kBFloat16};

inline const char* TypeName(LogitsType type) {
  constexpr std::array kNames = {"Float32", "Float16", "BFloat16"};
  return kNames[static_cast<std::size_t>(type)];
}

// UNIMPLEMENTED where this machine has no such applier.
inline absl::StatusOr<std::unique_ptr<Applier>> MakeNamedApplier(const std::string& name) {
  return MakeCpuApplierWithKernel(name);
}

}  // namespace maskd::client

#endif  // MASKD_TESTS_APPLY_APPLIERS_H_
