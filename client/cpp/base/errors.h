// What a server says beside the code and the message of an error.
//
// Every absl::Status of this library keeps the server's google.rpc details (ErrorInfo, BadRequest,
// RetryInfo) as payloads under their type URLs; these functions read the usual ones.
// Codes    those of the call's own comment in protos/maskd/v1; UNAVAILABLE when no server answers,
//          DEADLINE_EXCEEDED when it does not answer in time, INTERNAL when it breaks the protocol.
// Threads  pure functions.
#ifndef MASKD_CLIENT_CPP_BASE_ERRORS_H_
#define MASKD_CLIENT_CPP_BASE_ERRORS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace maskd::client {

// The place in the caller's own source (JSON Pointer, line:column) or the request's field; empty
// when the error has none.
std::string ErrorPlace(const absl::Status& status);

// The stable reason in UPPER_SNAKE_CASE; empty when the error has none.
std::string ErrorReason(const absl::Status& status);

// How long to wait before the same call may succeed; nothing when the error is not one of load.
std::optional<absl::Duration> ErrorRetryAfter(const absl::Status& status);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_BASE_ERRORS_H_
