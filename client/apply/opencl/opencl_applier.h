// The applier for logits that an OpenCL device can reach.
//
// Logits   a cl_mem (LogitsMemory::kOpenClBuffer) of this applier's context, or host memory: masked
//          where it lies when the device is the host's processor or shares its memory, and else
//          copied to the device and back, rows named only.
// Order    an engine that brings its context and its in-order queue gets masks in the order of that
//          queue: Apply() on a device buffer then returns without waiting for the device, and
//          reads its arguments before it returns. In all other cases it returns when it is done.
// Errors   beside those of Applier: RESOURCE_EXHAUSTED and INTERNAL of the device, with the name of
//          the OpenCL function and its code. Making it gives those of opencl_device.h too.
// Kernels  are compiled when it is made, or taken from the cache on disk; some drivers compile once
//          more for sizes not seen before, which WarmUp() takes out of the first steps.
// Threads  any; calls share one queue.
#ifndef MASKD_CLIENT_APPLY_OPENCL_OPENCL_APPLIER_H_
#define MASKD_CLIENT_APPLY_OPENCL_OPENCL_APPLIER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/apply/applier.h"

namespace maskd::client {

// The default is the first GPU, a queue of the applier's own, and the cache on disk.
struct OpenClOptions {
  // An index into the devices of this machine, or a part of a device's or platform's name.
  // Empty: the first GPU, or else the first device. Not looked at when `queue` is given.
  std::string device = {};
  // The engine's own cl_command_queue. It is retained.
  void* queue = nullptr;
  // Where built programs are kept; "": nowhere.
  std::string cache_directory = {};
  // "words" (an item a word, for CPUs), "tokens" (an item a token, for GPUs), or "auto".
  std::string kernels = "auto";
  // Copies logits in host memory also where the device could mask them where they lie.
  bool always_copy = false;
};

// With the cache directory of DefaultProgramCacheDirectory().
OpenClOptions DefaultOpenClOptions();

// An Applier with what an engine that brings its own buffers has to know.
class OpenClApplier : public Applier {
 public:
  // Compiles the kernels or reads them from the cache: seconds on a first start.
  static absl::StatusOr<std::unique_ptr<OpenClApplier>> Make(const OpenClOptions& options);

  // The cl_context and cl_command_queue of buffers that it masks.
  [[nodiscard]] virtual void* context() const = 0;
  [[nodiscard]] virtual void* queue() const = 0;
  // Name and platform of the device.
  [[nodiscard]] virtual absl::string_view device() const = 0;
  // Whether its program came from the cache on disk.
  [[nodiscard]] virtual bool from_cache() const = 0;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_OPENCL_OPENCL_APPLIER_H_
