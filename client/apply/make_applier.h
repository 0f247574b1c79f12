// Makes an applier by its name. One file an applier, one row in the table of make_applier.cc.
//
// Names    "auto" is the best that this machine supports; "cpu" masks logits in host memory.
// Errors   INVALID_ARGUMENT for a name that is not in the table, UNIMPLEMENTED for one that this
//          machine lacks. Either message names the asked one, the device and the supported list.
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

// What MakeApplier() makes on this machine, "auto" first.
std::vector<std::string> SupportedAppliers();

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_MAKE_APPLIER_H_
