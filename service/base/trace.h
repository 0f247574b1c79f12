// Which trace a call belongs to: what of the W3C header traceparent goes into lines of the log.
// Source  https://www.w3.org/TR/trace-context/, "traceparent Header Field Values".
#ifndef MASKD_SERVICE_BASE_TRACE_H_
#define MASKD_SERVICE_BASE_TRACE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace maskd::service {

// Both are empty where a call belongs to none.
struct Trace {
  std::string trace_id;  // 32 lower-case hexadecimal digits
  std::string span_id;   // of the caller's span, 16 such digits
};

// What `traceparent` says; of a malformed one nothing, as the recommendation has it.
Trace ReadTraceParent(absl::string_view traceparent);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_BASE_TRACE_H_
