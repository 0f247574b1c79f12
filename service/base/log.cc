// A line is made on the thread that logs and written by the writer's (log_writer.h), so logging
// never waits for whoever reads the log. Values are quoted where a reader of key=value could be
// misled.
#include "service/base/log.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <unistd.h>

#include "grammar_core/base/clock.h"
#include "service/base/log_writer.h"

namespace maskd::service {
namespace {

std::atomic<bool> silent = false;

bool NeedsQuotes(absl::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](unsigned char c) {
           return c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7F;
         });
}

std::string Line(absl::string_view event, LogFields fields, const Trace& trace = {}) {
  return absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()),
                      " ", FormatEvent(event, fields, trace), "\n");
}

// Never destroyed: a thread of a server may write to the end of the process.
LogWriter& StandardError() {
  static auto* const writer = new LogWriter(STDERR_FILENO, [](std::int64_t dropped) {
    return Line("log_lines_dropped", {{"count", absl::StrCat(dropped)}});
  });
  return *writer;
}

}  // namespace

std::string FormatEvent(absl::string_view event, LogFields fields, const Trace& trace) {
  std::string line(event);
  for (const auto& [key, value] : fields) {
    absl::StrAppend(&line, " ", key, "=");
    if (NeedsQuotes(value))
      absl::StrAppend(&line, "\"", absl::Utf8SafeCEscape(value), "\"");
    else
      absl::StrAppend(&line, value);
  }
  if (!trace.trace_id.empty())
    absl::StrAppend(&line, " trace_id=", trace.trace_id, " span_id=", trace.span_id);
  return line;
}

void SilenceLog() { silent.store(true, std::memory_order_relaxed); }

void LogEvent(absl::string_view event, LogFields fields, const Trace& trace) {
  if (!silent.load(std::memory_order_relaxed)) StandardError().Add(Line(event, fields, trace));
}

void LogText(absl::string_view text) { StandardError().Add(absl::StrCat(text, "\n")); }

bool FlushLog(std::chrono::milliseconds patience) {
  return StandardError().Flush(Clock::Steady()->Now() + patience);
}

std::int64_t LogLinesDropped() { return StandardError().dropped(); }

}  // namespace maskd::service
