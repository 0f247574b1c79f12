// The one place where our errors become the wire's: the code as it is, and as details the reason,
// the field or what is missing, and when to come again.
// Source   google.rpc error details (google/rpc/error_details.proto).
#include "service/wire/status_map.h"

#include <optional>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

#include "cache/load_error.h"
#include "grammar_core/base/error.h"
#include "service/base/errors.h"

namespace maskd::service {
namespace {

constexpr char kDomain[] = "maskd";
constexpr std::int64_t kMsPerSecond = 1000;
constexpr std::int32_t kNanosPerMs = 1'000'000;

// Whether an error of this code is about a place in the request.
bool HasPlace(absl::StatusCode code) {
  return code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kUnimplemented ||
         code == absl::StatusCode::kOutOfRange;
}

void AddErrorInfo(const absl::Status& status, google::rpc::Status* wire) {
  google::rpc::ErrorInfo info;
  info.set_reason(WireReason(status));
  info.set_domain(kDomain);
  wire->add_details()->PackFrom(info);
}

void AddBadRequest(const absl::Status& status, google::rpc::Status* wire) {
  const std::string place = ErrorPlace(status);
  if (!HasPlace(status.code()) && place.empty()) return;
  google::rpc::BadRequest bad;
  google::rpc::BadRequest::FieldViolation* violation = bad.add_field_violations();
  violation->set_field(ValidUtf8(place));
  violation->set_description(wire->message());
  wire->add_details()->PackFrom(bad);
}

void AddResourceInfo(const absl::Status& status, google::rpc::Status* wire) {
  const std::optional<Resource> resource = MissingResource(status);
  if (!resource.has_value()) return;
  google::rpc::ResourceInfo info;
  info.set_resource_type(resource->type);
  info.set_resource_name(resource->name);
  info.set_description(wire->message());
  wire->add_details()->PackFrom(info);
}

void AddRetryInfo(const absl::Status& status, google::rpc::Status* wire) {
  const std::optional<std::int64_t> ms = cache::RetryAfterMs(status);
  if (!ms.has_value()) return;
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(*ms / kMsPerSecond);
  info.mutable_retry_delay()->set_nanos(static_cast<std::int32_t>(*ms % kMsPerSecond) *
                                        kNanosPerMs);
  wire->add_details()->PackFrom(info);
}

}  // namespace

// The bytes of google.rpc.Status travel in the trailers as grpc-status-details-bin, which the
// clients' libraries of each language can read.
grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  google::rpc::Status wire;
  wire.set_code(static_cast<int>(status.code()));
  wire.set_message(ValidUtf8(status.message()));
  AddErrorInfo(status, &wire);
  AddBadRequest(status, &wire);
  AddResourceInfo(status, &wire);
  AddRetryInfo(status, &wire);
  return grpc::Status(static_cast<grpc::StatusCode>(wire.code()), wire.message(),
                      wire.SerializeAsString());
}

}  // namespace maskd::service
