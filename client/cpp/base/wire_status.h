// Errors as they are on the wire, and as absl::Status. For this library's own files.
//
// Layout   a detail is a payload: its type URL, and its message's bytes.
// Threads  pure functions.
#ifndef MASKD_CLIENT_CPP_BASE_WIRE_STATUS_H_
#define MASKD_CLIENT_CPP_BASE_WIRE_STATUS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/support/status.h"

#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {

// The type URL under which a detail of that type travels.
template <typename Detail>
std::string DetailUrl() {
  return absl::StrCat("type.googleapis.com/", Detail::descriptor()->full_name());
}

// The detail of that type, if the status carries one that can be read.
template <typename Detail>
std::optional<Detail> FindDetail(const absl::Status& status) {
  const auto payload = status.GetPayload(DetailUrl<Detail>());
  if (!payload.has_value()) return std::nullopt;
  Detail detail;
  if (!detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

// Adds it as a payload, in place of an earlier one of the type.
template <typename Detail>
void AddDetail(const Detail& detail, absl::Status& status) {
  // By a name: clang and the packaged Abseil call the constructor from a nameless one differently.
  const std::string bytes = detail.SerializeAsString();
  status.SetPayload(DetailUrl<Detail>(), absl::Cord(bytes));
}

// The status of a call, with its details.
absl::Status FromWire(const grpc::Status& status);

// The error of a row, with the same details as a call's error would have. Never OK.
absl::Status FromWire(const v1::RowError& error);

// `status`, which is an error, with the details of `error` beside its own.
absl::Status WithDetailsOf(const absl::Status& error, absl::Status status);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_BASE_WIRE_STATUS_H_
