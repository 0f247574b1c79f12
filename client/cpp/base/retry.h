// When a failed call is tried again. All unary calls of maskd are idempotent, so all may be.
//
// Rule     UNAVAILABLE (no server, or one that drains) and errors with RetryInfo (load) are tried
//          again, after the server's own delay or one that doubles; others are not.
// Bound    max_attempts, and the call's deadline: no wait begins that would pass it.
// Threads  pure function of its arguments and the clock.
#ifndef MASKD_CLIENT_CPP_BASE_RETRY_H_
#define MASKD_CLIENT_CPP_BASE_RETRY_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "client/cpp/base/steady_time.h"

namespace maskd::client {

// The default gives up after some 150 ms of waits.
struct RetryPolicy {
  // Tries in all. 1: never again.
  int max_attempts = 4;
  // Wait before the second try; doubled before each later one, up to max_delay.
  absl::Duration first_delay = absl::Milliseconds(20);
  absl::Duration max_delay = absl::Seconds(1);
};

// The last try's status.
absl::Status Retry(const RetryPolicy& policy, SteadyTime deadline,
                   absl::FunctionRef<absl::Status()> attempt);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_BASE_RETRY_H_
