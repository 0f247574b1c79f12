#include "cache/load_error.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"

namespace maskd::cache {
namespace {

constexpr char kRetryPayload[] = "maskd/retry_after_ms";

}  // namespace

absl::Status OverloadedError(absl::string_view reason, absl::string_view message,
                             std::int64_t retry_after_ms) {
  absl::Status status = ErrorAt(absl::StatusCode::kResourceExhausted, "", reason, message);
  status.SetPayload(kRetryPayload, absl::Cord(absl::string_view(absl::StrCat(retry_after_ms))));
  return status;
}

std::optional<std::int64_t> RetryAfterMs(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryPayload);
  std::int64_t ms = 0;
  constexpr std::int64_t kMoreMemoryMs = 1'000;
  if (ErrorReason(status) == "OUT_OF_MEMORY") return kMoreMemoryMs;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &ms)) return std::nullopt;
  return ms;
}

}  // namespace maskd::cache
