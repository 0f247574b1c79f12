// A refusal for load: the same request may succeed a little later.
#ifndef MASKD_CACHE_LOAD_ERROR_H_
#define MASKD_CACHE_LOAD_ERROR_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace maskd::cache {

// RESOURCE_EXHAUSTED with `reason` in UPPER_SNAKE_CASE and a hint of when to try again.
absl::Status OverloadedError(absl::string_view reason, absl::string_view message,
                             std::int64_t retry_after_ms);

// The hint of an OverloadedError or OutOfMemoryError; nothing for any other status.
std::optional<std::int64_t> RetryAfterMs(const absl::Status& status);

}  // namespace maskd::cache

#endif  // MASKD_CACHE_LOAD_ERROR_H_
