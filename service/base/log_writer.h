// Lines to a file descriptor that may be slow, full, broken or closed: whoever adds one never
// waits.
//
//   writer.Add("2026-11-24T10:00:00.000Z draining ms=5000\n");
//
// Bound    kMaxLines and kMaxBytes wait at most. A line that does not fit is dropped, and so is one
//          that cannot be written; both are counted, and the next line that can be written has a
//          notice with their number before it.
// Threads  any. One that it starts writes; where the system gives none, lines wait for the next
//          try.
// Ownership  its thread may be held up in a write for ever: it shares what it uses, is not waited
//          for, and ends soon after the writer if it can.
#ifndef MASKD_SERVICE_BASE_LOG_WRITER_H_
#define MASKD_SERVICE_BASE_LOG_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "grammar_core/base/clock.h"

namespace maskd::service {

// Lines on their way to a descriptor that may be slow.
class LogWriter {
 public:
  static constexpr std::size_t kMaxLines = 4096;
  static constexpr std::size_t kMaxBytes = 1 << 20;

  // The line that says how many were dropped.
  using Notice = std::function<std::string(std::int64_t dropped)>;

  // `fd` is not owned, and must stay open for as long as the process, or be a closed one.
  LogWriter(int fd, Notice notice);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Has `line`, which ends in a line feed, written, or counts it as dropped.
  void Add(std::string line);

  // Waits until all lines are written or dropped. False at `deadline`.
  bool Flush(Clock::TimePoint deadline);

  // Lines dropped so far.
  [[nodiscard]] std::int64_t dropped() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_BASE_LOG_WRITER_H_
