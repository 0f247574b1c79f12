// One line an event on standard error: time, event, key=value pairs.
//
//   2026-11-21T09:40:00.123Z compile_failed grammar=9f2c41aa kind=json_schema code=UNIMPLEMENTED
//
// Trace    a line of a call that belongs to one ends with trace_id= and span_id=.
// Content  never a grammar's text, a token or a prompt; nothing in a decode step.
// Waiting  nobody waits for a line to be written: a thread of the log's own does that, and what it
//          cannot keep up with is dropped and counted (log_writer.h).
// Threads  any; a line is written whole.
#ifndef MASKD_SERVICE_BASE_LOG_H_
#define MASKD_SERVICE_BASE_LOG_H_

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

#include "service/base/trace.h"

namespace maskd::service {

using LogFields = std::initializer_list<std::pair<absl::string_view, std::string>>;

// Writes one line: the event, then its fields in their order.
void LogEvent(absl::string_view event, LogFields fields, const Trace& trace = {});

// A line of plain text, for who has started the program by hand.
void LogText(absl::string_view text);

// Waits until all lines are written or dropped: before the process ends. False when `patience` is
// over.
bool FlushLog(std::chrono::milliseconds patience);

// Lines that were not written, since the process began.
std::int64_t LogLinesDropped();

// From now on LogEvent() writes nothing: for a server inside a program that logs by itself.
void SilenceLog();

// The line without its time and end: values with a space, a quote or a control character are
// quoted.
std::string FormatEvent(absl::string_view event, LogFields fields, const Trace& trace = {});

}  // namespace maskd::service

#endif  // MASKD_SERVICE_BASE_LOG_H_
