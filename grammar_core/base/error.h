// Errors that a caller's input can cause: a canonical code, the place in the input, a stable
// reason.
//
// Codes    INVALID_ARGUMENT: the text is wrong or unsatisfiable. UNIMPLEMENTED: valid, not
//          supported; the message names the keyword. RESOURCE_EXHAUSTED: a limit, with its name,
//          its value and what was needed. NOT_FOUND: an unknown grammar, row or tokenizer.
//          FAILED_PRECONDITION: right call, wrong time. DEADLINE_EXCEEDED and CANCELLED: the
//          caller's own time or wish.
// Message  "PLACE: what is wrong", where PLACE is a JSON Pointer or line:column and may be empty.
// Place    also kept as a payload, so that the service can make a field violation of it.
#ifndef MASKD_GRAMMAR_CORE_BASE_ERROR_H_
#define MASKD_GRAMMAR_CORE_BASE_ERROR_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace maskd {

// An error at `place` with a `reason` in UPPER_SNAKE_CASE that callers may compare.
absl::Status ErrorAt(absl::StatusCode code, absl::string_view place, absl::string_view reason,
                     absl::string_view message);

// INVALID_ARGUMENT, reason INVALID_GRAMMAR.
absl::Status InvalidAt(absl::string_view place, absl::string_view message);

// UNIMPLEMENTED, reason UNSUPPORTED; `construct` is the keyword or operator that is not supported.
absl::Status UnsupportedAt(absl::string_view place, absl::string_view construct,
                           absl::string_view why = "");

// RESOURCE_EXHAUSTED, reason LIMIT_EXCEEDED: "limit NAME is LIMIT, NEEDED needed".
absl::Status LimitExceeded(absl::string_view place, absl::string_view limit_name,
                           std::int64_t limit, std::int64_t needed);

// The place and the reason that one of the above put into `status`; empty for another status.
std::string ErrorPlace(const absl::Status& status);
std::string ErrorReason(const absl::Status& status);

// A JSON Pointer (RFC 6901) under construction. A plain value; "" is the root.
class FieldPath {
 public:
  FieldPath() = default;

  // The place one level down; `~` and `/` of a key are escaped. This stays as it is.
  [[nodiscard]] FieldPath Child(absl::string_view key) const;
  [[nodiscard]] FieldPath Child(std::int64_t index) const;

  // With its escapes, as a message's PLACE has it.
  [[nodiscard]] const std::string& str() const { return pointer_; }

 private:
  explicit FieldPath(std::string pointer) : pointer_(std::move(pointer)) {}
  std::string pointer_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_ERROR_H_
