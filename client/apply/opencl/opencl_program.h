// The applier's program on one device: taken from the cache, or built and kept there.
//
// Errors   INTERNAL with the compiler's own log when the source does not build; those of
//          OpenClStatus().
// Threads  Build() any; a program one at a time.
#ifndef MASKD_CLIENT_APPLY_OPENCL_OPENCL_PROGRAM_H_
#define MASKD_CLIENT_APPLY_OPENCL_OPENCL_PROGRAM_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

#include "client/apply/opencl/opencl_api.h"
#include "client/apply/opencl/opencl_device.h"
#include "client/apply/opencl/program_cache.h"

namespace maskd::client {

// Owns the cl_program; kernels made of it keep it alive by themselves.
class MaskProgram {
 public:
  // From the cache where the key fits, else from source, which is then kept.
  static absl::StatusOr<MaskProgram> Build(cl_context context, const OpenClDevice& device,
                                           ProgramCache cache);

  // Errors: those of OpenClStatus(), for a name that the source does not have, too.
  [[nodiscard]] absl::StatusOr<OpenClKernel> MakeKernel(const char* name) const;

  // Keeps the binary as it is now, when it is not what the cache has: drivers add to it what a
  // kernel's first run made (pocl: code for a local size).
  void Keep();

  // Whether no source was compiled.
  [[nodiscard]] bool from_cache() const { return from_cache_; }

 private:
  MaskProgram(OpenClProgram program, ProgramCache cache, std::string key, std::size_t kept_size)
      : program_(std::move(program)),
        cache_(std::move(cache)),
        key_(std::move(key)),
        kept_size_(kept_size),
        from_cache_(kept_size > 0) {}

  [[nodiscard]] std::string Binary() const;

  OpenClProgram program_;
  ProgramCache cache_;
  std::string key_;
  std::size_t kept_size_;
  bool from_cache_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_OPENCL_OPENCL_PROGRAM_H_
