// Makes an applier by its name. One file an applier, one row in the table of make_applier.cc.
//
// Names    "auto" is the best for logits in host memory; "cpu" masks those, "opencl" also what lies
//          on a device. A colon and a variant may follow: "cpu:avx2" is a kernel, "cpu:4" a number
//          of threads for large batches, "opencl:1" and "opencl:H200" are a device, by its index
//          or a part of its name.
// Errors   INVALID_ARGUMENT for a name that is not in the table or a variant that does not exist,
//          UNIMPLEMENTED for one that this machine lacks. The message names the asked one, the
//          device and the supported list.
// Threads  any; meant to be called once, at start.
#ifndef MASKD_CLIENT_APPLY_MAKE_APPLIER_H_
#define MASKD_CLIENT_APPLY_MAKE_APPLIER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/apply/applier.h"

namespace maskd::client {

absl::StatusOr<std::unique_ptr<Applier>> MakeApplier(absl::string_view name);

// The applier that whoever runs the process wants: MASKD_APPLIER in the environment, or else
// `configured`, the name in the engine's own configuration, or else "auto".
absl::StatusOr<std::unique_ptr<Applier>> MakeConfiguredApplier(absl::string_view configured);

// What MakeApplier() makes on this machine, "auto" first.
std::vector<std::string> SupportedAppliers();

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_MAKE_APPLIER_H_
