// The appliers that every case must hold for, by name: the CPU's kernels, and the devices.
#ifndef MASKD_TESTS_APPLY_APPLIERS_H_
#define MASKD_TESTS_APPLY_APPLIERS_H_

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"

#include "client/apply/applier.h"
#include "client/apply/cpu_applier.h"
#include "client/apply/cpu_kernels.h"
#include "client/apply/opencl/opencl_applier.h"

namespace maskd::client {

// Drivers of OpenCL are not built for ThreadSanitizer, which would report what it cannot see.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MASKD_TSAN 1
#endif
#endif
#if defined(MASKD_TSAN) || defined(__SANITIZE_THREAD__)
inline constexpr bool kOpenClIsTestable = false;
#else
inline constexpr bool kOpenClIsTestable = true;
#endif

// On the first device, with the kernels of both shapes and both ways to reach host memory.
inline constexpr std::array kOpenClNames = {"opencl_words", "opencl_tokens", "opencl_copied"};

// The CPU's kernels of this build, one architecture's; the best of them with threads; OpenCL.
inline std::vector<std::string> ApplierNames() {
  std::vector<std::string> names(kOpenClNames.begin(), kOpenClNames.end());
  for (const CpuKernel* kernel : CpuKernels()) names.emplace_back(kernel->level);
  names.emplace_back("threads");
  return names;
}

inline OpenClOptions OpenClOptionsOf(const std::string& name) {
  OpenClOptions options;
  if (name == "opencl_words") options.kernels = "words";
  if (name == "opencl_tokens") options.kernels = "tokens";
  options.always_copy = name == "opencl_copied";
  return options;
}

inline constexpr std::array kLogitsTypes = {LogitsType::kFloat32, LogitsType::kFloat16,
                                            LogitsType::kBFloat16};

inline const char* TypeName(LogitsType type) {
  constexpr std::array kNames = {"Float32", "Float16", "BFloat16"};
  return kNames[static_cast<std::size_t>(type)];
}

// UNIMPLEMENTED where this machine has no such applier. OpenCL's is made once, as it takes a while,
// and shared; its users hold it through a handle of their own.
inline absl::StatusOr<std::shared_ptr<Applier>> MakeNamedApplier(const std::string& name) {
  static auto& made = *new std::map<std::string, std::shared_ptr<Applier>>();
  if (const auto found = made.find(name); found != made.end()) return found->second;
  if (name == "threads") return MakeCpuApplier({.threads = 3, .share_from_bytes = 0});
  if (!absl::StartsWith(name, "opencl")) return MakeCpuApplierWithKernel(name);
  if (!kOpenClIsTestable) return absl::UnimplementedError("opencl under ThreadSanitizer");
  absl::StatusOr<std::shared_ptr<Applier>> applier = OpenClApplier::Make(OpenClOptionsOf(name));
  if (applier.ok()) made.emplace(name, *applier);
  return applier;
}

}  // namespace maskd::client

#endif  // MASKD_TESTS_APPLY_APPLIERS_H_
