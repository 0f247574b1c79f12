// Asks a server how it stands, for whoever has this program and nothing that speaks gRPC: a
// container's health check, an exec probe.
//
// Threads  no state.
#ifndef MASKD_SERVICE_PROCESS_HEALTH_PROBE_H_
#define MASKD_SERVICE_PROCESS_HEALTH_PROBE_H_

#include <string>

#include "absl/status/statusor.h"

#include "service/config/config.h"

namespace maskd::service {

// Whether the server that `config` is of says SERVING for the name config.health. It is asked at
// the first address that needs no certificate. Errors: FAILED_PRECONDITION (all need one),
// NOT_FOUND (a name that the server does not have), UNAVAILABLE.
absl::StatusOr<bool> AskHealth(const Config& config);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PROCESS_HEALTH_PROBE_H_
