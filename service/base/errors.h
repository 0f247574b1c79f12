// Errors of requests, as absl::Status with payloads that status_map turns into wire details, and
// text made fit for the wire.
#ifndef MASKD_SERVICE_BASE_ERRORS_H_
#define MASKD_SERVICE_BASE_ERRORS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace maskd::service {

// INVALID_ARGUMENT at a field of the request, reason INVALID_REQUEST.
absl::Status BadField(absl::string_view field, absl::string_view message);

// OUT_OF_RANGE at `place` for a token that a vocabulary of `size` tokens does not have, reason
// TOKEN_OUT_OF_RANGE.
absl::Status TokenOutOfRange(absl::string_view place, std::int64_t token, std::int64_t size);

// What was not found, for google.rpc.ResourceInfo.
struct Resource {
  std::string type;
  std::string name;
};

// NOT_FOUND with reason TYPE_NOT_FOUND in upper case. `type` is one of ours: "tokenizer",
// "grammar", "row".
absl::Status NotFound(absl::string_view type, absl::string_view name,
                      absl::string_view advice = "");

// The resource of a NotFound(); nothing for any other status.
std::optional<Resource> MissingResource(const absl::Status& status);

// The reason of an error as callers see it: its own, or the name of its code.
std::string WireReason(const absl::Status& status);

// `text` with U+FFFD in place of each byte that is not UTF-8: what proto3 strings must hold.
std::string ValidUtf8(absl::string_view text);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_BASE_ERRORS_H_
