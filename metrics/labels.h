// The values of labels that are no enumeration: canonical codes, and the reasons of
// docs/errors.md. Each has its series from the start, so that a first event is an increase.
//
// Bound    what is in none of these lists is counted as kOther.
#ifndef MASKD_METRICS_LABELS_H_
#define MASKD_METRICS_LABELS_H_

#include <array>

namespace maskd::metrics {

inline constexpr char kOther[] = "other";

// A compile that fails does so with one of these; another code counts as UNKNOWN.
inline constexpr std::array kCompileCodes = {
    "OK",       "CANCELLED", "INVALID_ARGUMENT", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED",
    "INTERNAL", "UNKNOWN"};

// All that a call or stream may end with, but OK.
inline constexpr std::array kErrorCodes = {
    "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",   "NOT_FOUND",
    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
    "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",         "DATA_LOSS",
    "UNAUTHENTICATED"};

// Why a call or a stream is refused.
struct Refusal {
  const char* code;
  const char* reason;
};
inline constexpr std::array kRefusals = {
    Refusal{"INVALID_ARGUMENT", "INVALID_GRAMMAR"},
    Refusal{"INVALID_ARGUMENT", "INVALID_REQUEST"},
    Refusal{"UNIMPLEMENTED", "UNKNOWN_FIELD"},
    Refusal{"FAILED_PRECONDITION", "NO_HELLO"},
    Refusal{"INVALID_ARGUMENT", "WIDTH_BELOW_VOCABULARY"},
    Refusal{"INVALID_ARGUMENT", "WIDTH_ABOVE_VOCABULARY"},
    Refusal{"OUT_OF_RANGE", "TOKEN_OUT_OF_RANGE"},
    Refusal{"UNIMPLEMENTED", "UNSUPPORTED"},
    Refusal{"NOT_FOUND", "GRAMMAR_NOT_FOUND"},
    Refusal{"NOT_FOUND", "TOKENIZER_NOT_FOUND"},
    Refusal{"FAILED_PRECONDITION", "TOKENIZER_DIFFERS"},
    Refusal{"ABORTED", "STEP_OUT_OF_ORDER"},
    Refusal{"DATA_LOSS", "SHARED_MEMORY"},
    Refusal{"CANCELLED", "CANCELLED"},
    Refusal{"DEADLINE_EXCEEDED", "DEADLINE"},
    Refusal{"DEADLINE_EXCEEDED", "HELLO_LATE"},
    Refusal{"UNAVAILABLE", "IDLE"},
    Refusal{"UNAVAILABLE", "DRAINING"},
    Refusal{"UNAUTHENTICATED", "NO_TOKEN"},
    Refusal{"UNAUTHENTICATED", "UNKNOWN_TOKEN"},
    Refusal{"UNAUTHENTICATED", "NO_PROXIED_IDENTITY"},
    Refusal{"PERMISSION_DENIED", "NO_TENANT"},
    Refusal{"PERMISSION_DENIED", "INLINE_GRAMMAR"},
    Refusal{"PERMISSION_DENIED", "GRAMMAR_NOT_ALLOWED"},
    Refusal{"RESOURCE_EXHAUSTED", "LIMIT_EXCEEDED"},
    Refusal{"RESOURCE_EXHAUSTED", "STEP_LIMIT_EXCEEDED"},
    Refusal{"RESOURCE_EXHAUSTED", "COMPILE_QUEUE_FULL"},
    Refusal{"RESOURCE_EXHAUSTED", "MEMORY_SHORT"},
    Refusal{"RESOURCE_EXHAUSTED", "OUT_OF_MEMORY"},
    Refusal{"RESOURCE_EXHAUSTED", "TENANT_LIMIT"},
    Refusal{"RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS"},
    Refusal{"RESOURCE_EXHAUSTED", "TOO_MANY_MESSAGES"},
    Refusal{"RESOURCE_EXHAUSTED", "REPLIES_UNREAD"},
};

// Why a row is answered with an error.
inline constexpr std::array kRowReasons = {
    "TOKEN_REFUSED",  "TOKEN_OUT_OF_RANGE", "ROLLBACK_OUT_OF_RANGE", "DRAFT_IS_NO_TREE",
    "ROW_NOT_FOUND",  "ROW_ALREADY_OPEN",   "ROW_NOT_READY",         "STEP_LIMIT_EXCEEDED",
    "NO_ANSWER",      "NOT_ASKED_FOR",      "INVALID_GRAMMAR",       "UNSUPPORTED",
    "LIMIT_EXCEEDED", "GRAMMAR_NOT_FOUND",  "TOKENIZER_DIFFERS",     "INVALID_REQUEST",
    "UNKNOWN_FIELD",  "INLINE_GRAMMAR",     "GRAMMAR_NOT_ALLOWED",   "COMPILE_QUEUE_FULL",
    "MEMORY_SHORT",   "OUT_OF_MEMORY",      "TENANT_LIMIT",          kOther};

}  // namespace maskd::metrics

#endif  // MASKD_METRICS_LABELS_H_
