// Errors carry their place and reason as payloads of the status (base/error.h), so that they pass
// through code that only knows absl::Status; status_map.cc makes the wire's details of them.
#include "service/base/errors.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"

namespace maskd::service {
namespace {

constexpr char kTypePayload[] = "maskd/resource_type";
constexpr char kNamePayload[] = "maskd/resource_name";

}  // namespace

absl::Status BadField(absl::string_view field, absl::string_view message) {
  return ErrorAt(absl::StatusCode::kInvalidArgument, field, "INVALID_REQUEST", message);
}

absl::Status TokenOutOfRange(absl::string_view place, std::int64_t token, std::int64_t size) {
  return ErrorAt(absl::StatusCode::kOutOfRange, place, "TOKEN_OUT_OF_RANGE",
                 absl::StrCat("token ", token, " is not in [0, ", size, ")"));
}

absl::Status NotFound(absl::string_view type, absl::string_view name, absl::string_view advice) {
  absl::Status status = ErrorAt(
      absl::StatusCode::kNotFound, "", absl::StrCat(absl::AsciiStrToUpper(type), "_NOT_FOUND"),
      absl::StrCat("no ", type, " \"", name, "\"", advice.empty() ? "" : "; ", advice));
  status.SetPayload(kTypePayload, absl::Cord(type));
  status.SetPayload(kNamePayload, absl::Cord(name));
  return status;
}

std::optional<Resource> MissingResource(const absl::Status& status) {
  const auto type = status.GetPayload(kTypePayload);
  const auto name = status.GetPayload(kNamePayload);
  if (!type.has_value() || !name.has_value()) return std::nullopt;
  return Resource{std::string(*type), std::string(*name)};
}

// Never empty: a client may decide by the reason what to do, and need not read messages.
std::string WireReason(const absl::Status& status) {
  std::string reason = ErrorReason(status);
  return reason.empty() ? absl::StatusCodeToString(status.code()) : reason;
}

// A client's protobuf may refuse a whole message for one string that is not UTF-8. Messages and
// places quote what callers wrote, which can be anything.
std::string ValidUtf8(absl::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = at;
    if (DecodeUtf8(text, &next).has_value()) {
      valid.append(text.data() + at, next - at);
      at = next;
    } else {
      valid.append("\xEF\xBF\xBD");  // U+FFFD for each byte that is none of a character
      ++at;
    }
  }
  return valid;
}

}  // namespace maskd::service
