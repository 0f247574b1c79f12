#include "service/row_errors.h"

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "service/errors.h"

namespace maskd::service {

absl::Status RowNotFound(RowId id) { return NotFound("row", absl::StrCat(id)); }

absl::Status RowExists(RowId id) {
  return ErrorAt(absl::StatusCode::kAlreadyExists, "", "ROW_ALREADY_OPEN",
                 absl::StrCat("row ", id, " is open; it was left as it is"));
}

absl::Status NotReady(RowId id, absl::string_view why) {
  return ErrorAt(absl::StatusCode::kFailedPrecondition, "", "ROW_NOT_READY",
                 absl::StrCat("row ", id, " ", why));
}

absl::Status TokenError(const absl::Status& refused, std::size_t index) {
  const char* reason = absl::IsInvalidArgument(refused) ? "TOKEN_REFUSED"
                       : absl::IsOutOfRange(refused)    ? "TOKEN_OUT_OF_RANGE"
                                                        : "STEP_LIMIT_EXCEEDED";
  return ErrorAt(refused.code(), absl::StrCat("tokens[", index, "]"), reason, refused.message());
}

}  // namespace maskd::service
