#include "cpu/level.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace maskd::cpu {

bool Supports(absl::string_view level) {
#if defined(__x86_64__)
  if (level == kAvx2) {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0 &&
           __builtin_cpu_supports("f16c") != 0;
  }
  if (level == kAvx512)
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
#elif defined(__aarch64__)
  if (level == kNeon) return true;
#endif
  return level == kPortable;
}

absl::Status NotFound(absl::string_view level, std::span<const absl::string_view> known) {
  const bool is_known = std::ranges::find(known, level) != known.end();
  std::string message =
      absl::StrCat("kernels \"", level, "\" are not ", is_known ? "supported" : "known",
                   " on this processor; supported: ", kAuto);
  for (const absl::string_view each : known)
    if (Supports(each)) absl::StrAppend(&message, ", ", each);
  return is_known ? absl::UnimplementedError(message) : absl::InvalidArgumentError(message);
}

}  // namespace maskd::cpu
