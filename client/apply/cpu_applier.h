// The applier for logits in host memory: one row after the other, on the calling thread, with the
// widest kernel that the processor has.
#ifndef MASKD_CLIENT_APPLY_CPU_APPLIER_H_
#define MASKD_CLIENT_APPLY_CPU_APPLIER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/apply/applier.h"

namespace maskd::client {

absl::StatusOr<std::unique_ptr<Applier>> MakeCpuApplier();

// With the kernel of that name ("auto", "portable", "avx2", "avx512"), for tests and measurements.
// Errors: those of cpu::Find().
absl::StatusOr<std::unique_ptr<Applier>> MakeCpuApplierWithKernel(absl::string_view kernel);

// This processor and the kernel chosen for it, as "cpu (avx512)"; for messages.
std::string CpuDevice();

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_CPU_APPLIER_H_
