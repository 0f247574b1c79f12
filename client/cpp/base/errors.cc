#include "client/cpp/base/errors.h"

#include "google/rpc/error_details.pb.h"

#include "client/cpp/base/wire_status.h"

namespace maskd::client {

std::string ErrorPlace(const absl::Status& status) {
  const auto request = FindDetail<google::rpc::BadRequest>(status);
  if (!request.has_value() || request->field_violations().empty()) return "";
  return request->field_violations(0).field();
}

std::string ErrorReason(const absl::Status& status) {
  const auto info = FindDetail<google::rpc::ErrorInfo>(status);
  return info.has_value() ? info->reason() : "";
}

std::optional<absl::Duration> ErrorRetryAfter(const absl::Status& status) {
  const auto info = FindDetail<google::rpc::RetryInfo>(status);
  if (!info.has_value()) return std::nullopt;
  return absl::Seconds(info->retry_delay().seconds()) +
         absl::Nanoseconds(info->retry_delay().nanos());
}

}  // namespace maskd::client
