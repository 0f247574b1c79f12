#include "grammar_core/base/error.h"

#include <cassert>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace maskd {
namespace {

constexpr char kPlacePayload[] = "maskd/place";
constexpr char kReasonPayload[] = "maskd/reason";

std::string Payload(const absl::Status& status, absl::string_view type_url) {
  const auto payload = status.GetPayload(type_url);
  return payload.has_value() ? std::string(*payload) : std::string();
}

}  // namespace

absl::Status ErrorAt(absl::StatusCode code, absl::string_view place, absl::string_view reason,
                     absl::string_view message) {
  assert(code != absl::StatusCode::kOk);
  absl::Status status(code,
                      place.empty() ? std::string(message) : absl::StrCat(place, ": ", message));
  status.SetPayload(kPlacePayload, absl::Cord(place));
  status.SetPayload(kReasonPayload, absl::Cord(reason));
  return status;
}

absl::Status InvalidAt(absl::string_view place, absl::string_view message) {
  return ErrorAt(absl::StatusCode::kInvalidArgument, place, "INVALID_GRAMMAR", message);
}

absl::Status UnsupportedAt(absl::string_view place, absl::string_view construct,
                           absl::string_view why) {
  return ErrorAt(absl::StatusCode::kUnimplemented, place, "UNSUPPORTED",
                 absl::StrCat(construct, " is not supported", why.empty() ? "" : ": ", why));
}

absl::Status LimitExceeded(absl::string_view place, absl::string_view limit_name,
                           std::int64_t limit, std::int64_t needed) {
  return ErrorAt(absl::StatusCode::kResourceExhausted, place, "LIMIT_EXCEEDED",
                 absl::StrCat("limit ", limit_name, " is ", limit, ", ", needed, " needed"));
}

std::string ErrorPlace(const absl::Status& status) { return Payload(status, kPlacePayload); }

std::string ErrorReason(const absl::Status& status) { return Payload(status, kReasonPayload); }

FieldPath FieldPath::Child(absl::string_view key) const {
  return FieldPath(
      absl::StrCat(pointer_, "/", absl::StrReplaceAll(key, {{"~", "~0"}, {"/", "~1"}})));
}

FieldPath FieldPath::Child(std::int64_t index) const {
  return FieldPath(absl::StrCat(pointer_, "/", index));
}

}  // namespace maskd
