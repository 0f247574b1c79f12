// A step read straight from the bytes of its DecodeRequest: the same values that request_reader
// makes of the message, without building it.
//
// Cost     a row that takes tokens and drafts: some tens of bytes read, nothing allocated. Rows
//          that open, and what else a row can be told, go through their messages.
// Threads  no state.
#ifndef MASKD_SERVICE_WIRE_STEP_READER_H_
#define MASKD_SERVICE_WIRE_STEP_READER_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "service/sequences/stream_types.h"

namespace maskd::service {

// Into `step`, whose memory is used again. Errors: those of request_reader's ReadStep(),
// INVALID_ARGUMENT for what is no message, RESOURCE_EXHAUSTED for more than `max_named_rows` rows
// in all lists of the step.
absl::Status ReadStep(absl::string_view bytes, std::size_t max_named_rows, StepRequest* step);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_WIRE_STEP_READER_H_
