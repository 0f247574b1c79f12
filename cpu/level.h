// What this processor can do, and the choice among variants of a kernel, in one place.
//
// Levels   named bundles of instructions; a kernel's variants bear the name of the level they need.
//          A table of variants lists the best one first and ends with "portable", which needs none.
// Code     a variant's functions carry their instructions as an attribute (MASKD_AVX2, ...), so
//          that no other code is ever compiled for a processor that may not be there.
// Threads  no state; any thread.
#ifndef MASKD_CPU_LEVEL_H_
#define MASKD_CPU_LEVEL_H_

#include <algorithm>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#define MASKD_AVX2 __attribute__((target("avx2,popcnt,f16c")))
#define MASKD_AVX512 __attribute__((target("avx512f,avx512bw")))

namespace maskd::cpu {

inline constexpr absl::string_view kAuto = "auto";
inline constexpr absl::string_view kAvx512 = "avx512";  // F and BW
inline constexpr absl::string_view kAvx2 = "avx2";      // with POPCNT and F16C
inline constexpr absl::string_view kNeon = "neon";      // every AArch64 processor
inline constexpr absl::string_view kPortable = "portable";

// Whether this processor, and its operating system, has what the level of that name needs.
bool Supports(absl::string_view level);

// The error of Find(), below: `level` is not among `known`, or not supported.
absl::Status NotFound(absl::string_view level, std::span<const absl::string_view> known);

// The first of `variants`, each with a `level`, that this processor supports.
template <typename Variant>
const Variant& Best(std::span<const Variant* const> variants) {
  return **std::ranges::find_if(variants,
                                [](const Variant* variant) { return Supports(variant->level); });
}

// The variant of that level; the best one for "auto". Errors: INVALID_ARGUMENT (no such variant),
// UNIMPLEMENTED (not on this processor); both list what there is.
template <typename Variant>
absl::StatusOr<const Variant*> Find(std::span<const Variant* const> variants,
                                    absl::string_view level) {
  if (level == kAuto) return &Best(variants);
  std::vector<absl::string_view> known;
  for (const Variant* variant : variants) {
    if (variant->level == level && Supports(level)) return variant;
    known.push_back(variant->level);
  }
  return NotFound(level, known);
}

}  // namespace maskd::cpu

#endif  // MASKD_CPU_LEVEL_H_
