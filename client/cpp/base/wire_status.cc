#include "client/cpp/base/wire_status.h"

#include "absl/strings/string_view.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace maskd::client {

absl::Status FromWire(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return result;
  for (const google::protobuf::Any& detail : details.details())
    result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  return result;
}

absl::Status FromWire(const v1::RowError& error) {
  // An error that says OK is none that a server of ours sends: it is an error still.
  const auto code =
      error.code() == 0 ? absl::StatusCode::kUnknown : static_cast<absl::StatusCode>(error.code());
  absl::Status result(code, error.message());
  google::rpc::ErrorInfo info;
  info.set_reason(error.reason());
  info.set_domain("maskd");
  AddDetail(info, result);
  if (!error.place().empty()) {
    google::rpc::BadRequest request;
    google::rpc::BadRequest::FieldViolation& violation = *request.add_field_violations();
    violation.set_field(error.place());
    violation.set_description(error.message());
    AddDetail(request, result);
  }
  if (error.has_retry_after_ms()) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_seconds(error.retry_after_ms() / 1000);
    retry.mutable_retry_delay()->set_nanos(
        static_cast<int>(error.retry_after_ms() % 1000 * 1'000'000));
    AddDetail(retry, result);
  }
  return result;
}

absl::Status WithDetailsOf(const absl::Status& error, absl::Status status) {
  error.ForEachPayload([&status](absl::string_view url, const absl::Cord& detail) {
    status.SetPayload(url, detail);
  });
  return status;
}

}  // namespace maskd::client
