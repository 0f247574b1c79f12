#include "client/cpp/base/retry.h"

#include <algorithm>
#include <optional>

#include "absl/time/clock.h"

#include "client/cpp/base/errors.h"
#include "client/cpp/base/steady_time.h"

namespace maskd::client {

absl::Status Retry(const RetryPolicy& policy, SteadyTime deadline,
                   absl::FunctionRef<absl::Status()> attempt) {
  absl::Duration delay = policy.first_delay;
  for (int tries = 1;; ++tries) {
    absl::Status status = attempt();
    const std::optional<absl::Duration> asked = ErrorRetryAfter(status);
    const bool again = absl::IsUnavailable(status) || asked.has_value();
    const absl::Duration wait = asked.value_or(delay);
    if (!again || tries >= policy.max_attempts || SteadyTime::Now() + wait >= deadline)
      return status;
    absl::SleepFor(wait);
    delay = std::min(2 * delay, policy.max_delay);
  }
}

}  // namespace maskd::client
