// Makes an applier by its name. One file an applier, one row in the table of make_applier.cc; an
// engine's own, which this tree does not know, is added by AddApplier().
//
// Names    "auto" is the best for logits in host memory; "cpu" masks those, "opencl" also what lies
//          on a device. A colon and a variant may follow: "cpu:avx2" is a kernel, "cpu:4" a number
//          of threads for large batches, "opencl:1" and "opencl:H200" are a device, by its index
//          or a part of its name.
// Errors   INVALID_ARGUMENT for a name that is not in the table or a variant that does not exist,
//          UNIMPLEMENTED for one that this machine lacks. The message names the asked one, the
//          device and the supported list.
// Threads  any; meant to be called once, at start. An applier that is added may be made by any.
#ifndef MASKD_CLIENT_APPLY_MAKE_APPLIER_H_
#define MASKD_CLIENT_APPLY_MAKE_APPLIER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/apply/applier.h"

namespace maskd::client {

// The applier is the caller's. Errors as above; of a device those of making it.
absl::StatusOr<std::unique_ptr<Applier>> MakeApplier(absl::string_view name);

// Makes an applier, given what followed the colon of its name, or nothing.
using ApplierMaker = absl::StatusOr<std::unique_ptr<Applier>> (*)(absl::string_view variant);

// From now on `name` is chosen as "cpu" is: by argument, environment and configuration. Errors:
// INVALID_ARGUMENT (an empty name or one with a colon, no maker), ALREADY_EXISTS.
absl::Status AddApplier(absl::string_view name, ApplierMaker make);

// The applier that whoever runs the process wants: MASKD_APPLIER in the environment, or else
// `configured`, the name in the engine's own configuration, or else "auto".
absl::StatusOr<std::unique_ptr<Applier>> MakeConfiguredApplier(absl::string_view configured);

// What MakeApplier() makes on this machine, "auto" first, those added last.
std::vector<std::string> SupportedAppliers();

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_MAKE_APPLIER_H_
