// The applier for logits in host memory: with the widest kernel that the processor has, one row
// after the other on the calling thread, or large batches on several.
#ifndef MASKD_CLIENT_APPLY_CPU_APPLIER_H_
#define MASKD_CLIENT_APPLY_CPU_APPLIER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/apply/applier.h"

namespace maskd::client {

// As the variant of a name says, or the engine's own configuration.
struct CpuOptions {
  // "auto", "portable", "avx2", "avx512", "neon".
  std::string kernel = "auto";
  // Threads that share a batch, the calling one among them. 1 to 256.
  int threads = 1;
  // Bytes of logits in the named rows from which on a batch is shared: waking a thread takes as
  // long as masking some 100 KB.
  std::int64_t share_from_bytes = 1 << 20;
};

// Errors: those of cpu::Find(); INVALID_ARGUMENT for a count of threads out of range.
absl::StatusOr<std::unique_ptr<Applier>> MakeCpuApplier(const CpuOptions& options = {});

// With the kernel of that name, for tests and measurements.
absl::StatusOr<std::unique_ptr<Applier>> MakeCpuApplierWithKernel(absl::string_view kernel);

// This processor and the kernel chosen for it, as "cpu (avx512)"; for messages.
std::string CpuDevice();

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_CPU_APPLIER_H_
