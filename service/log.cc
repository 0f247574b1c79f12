#include "service/log.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace maskd::service {
namespace {

std::atomic<bool> silent = false;

bool NeedsQuotes(absl::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](unsigned char c) {
           return c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7F;
         });
}

}  // namespace

std::string FormatEvent(absl::string_view event, LogFields fields) {
  std::string line(event);
  for (const auto& [key, value] : fields) {
    absl::StrAppend(&line, " ", key, "=");
    if (NeedsQuotes(value)) {
      absl::StrAppend(&line, "\"", absl::Utf8SafeCEscape(value), "\"");
    } else {
      absl::StrAppend(&line, value);
    }
  }
  return line;
}

void SilenceLog() { silent.store(true, std::memory_order_relaxed); }

void LogEvent(absl::string_view event, LogFields fields) {
  if (silent.load(std::memory_order_relaxed)) {
    return;
  }
  const std::string line =
      absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()), " ",
                   FormatEvent(event, fields), "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace maskd::service
