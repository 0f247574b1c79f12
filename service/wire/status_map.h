// The one place where our errors become gRPC's: same canonical code, and a google.rpc.Status with
// details in the trailing metadata.
//
//   INVALID_ARGUMENT, UNIMPLEMENTED, OUT_OF_RANGE   BadRequest: the place as a field violation
//   NOT_FOUND                                       ResourceInfo
//   a refusal for load                              RetryInfo
//   all                                             ErrorInfo: reason, domain "maskd"
#ifndef MASKD_SERVICE_WIRE_STATUS_MAP_H_
#define MASKD_SERVICE_WIRE_STATUS_MAP_H_

#include "absl/status/status.h"
#include <grpcpp/support/status.h>

namespace maskd::service {

// The wire's error, with the field violation and the reason of ours.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_WIRE_STATUS_MAP_H_
