// Lines go into a bounded list and a detached thread writes them. What does not fit is dropped and
// counted, and the count is a line of its own as soon as there is room: whoever does not read the
// log may lose some of it, and never holds up the server.
//
// Who wakes whom  Add() wakes the thread; the thread wakes Flush() when all is written.
// May block       the thread, in poll, for as long as the reader does not read; Flush() until its
//                 deadline. Add() never.
// Ownership       the state is shared with the thread, which may outlive the writer by one look.
#include "service/base/log_writer.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <deque>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include <poll.h>
#include <unistd.h>

#include "grammar_core/base/mutex.h"

namespace maskd::service {
namespace {

// How soon a thread that waits for a reader sees that its writer is gone.
constexpr int kLookMs = 200;

}  // namespace

struct LogWriter::State {
  State(int out, Notice say) : fd(out), notice(std::move(say)) {}

  void Run() ABSL_LOCKS_EXCLUDED(mutex);
  // False at the end.
  bool Next(std::string* line) ABSL_LOCKS_EXCLUDED(mutex);
  // The notice too, if one is due.
  void WriteLine(absl::string_view line);
  // Whether all of `text` was written.
  bool Write(absl::string_view text);
  // Whether something can be written, or a write will say why not.
  bool AwaitRoom();

  const int fd;
  const Notice notice;
  std::atomic<std::int64_t> dropped = 0;
  std::atomic<bool> stopping = false;  // changed with the lock held
  std::int64_t said = 0;               // of the dropped ones; the thread's own

  Mutex mutex;
  CondVar added;
  CondVar emptied;
  std::deque<std::string> lines ABSL_GUARDED_BY(mutex);
  std::size_t bytes ABSL_GUARDED_BY(mutex) = 0;  // of those
  bool is_writing ABSL_GUARDED_BY(mutex) = false;
  bool has_thread ABSL_GUARDED_BY(mutex) = false;
};

LogWriter::LogWriter(int fd, Notice notice)
    : state_(std::make_shared<State>(fd, std::move(notice))) {}

LogWriter::~LogWriter() {
  const MutexLock lock(&state_->mutex);
  state_->stopping = true;
  state_->added.NotifyAll();
}

void LogWriter::Add(std::string line) {
  State& state = *state_;
  const MutexLock lock(&state.mutex);
  if (state.lines.size() >= kMaxLines || state.bytes + line.size() > kMaxBytes) {
    ++state.dropped;
    return;
  }
  state.bytes += line.size();
  state.lines.push_back(std::move(line));
  state.added.NotifyOne();
  // Made with the first line: a process that logs nothing has no such thread.
  if (state.has_thread) return;
  try {
    std::thread([shared = state_] { shared->Run(); }).detach();
    state.has_thread = true;
  } catch (const std::system_error&) {  // the next line tries again
  }
}

bool LogWriter::Flush(Clock::TimePoint deadline) {
  State& state = *state_;
  const MutexLock lock(&state.mutex);
  while (!state.lines.empty() || state.is_writing)
    if (!state.emptied.WaitUntil(&state.mutex, deadline))
      return state.lines.empty() && !state.is_writing;
  return true;
}

std::int64_t LogWriter::dropped() const { return state_->dropped; }

void LogWriter::State::Run() {
  for (std::string line; Next(&line);) WriteLine(line);
}

bool LogWriter::State::Next(std::string* line) {
  const MutexLock lock(&mutex);
  is_writing = false;
  // Written and nothing left: whoever flushes may go on.
  if (lines.empty()) emptied.NotifyAll();
  while (lines.empty() && !stopping) added.Wait(&mutex);
  if (lines.empty()) return false;
  *line = std::move(lines.front());
  lines.pop_front();
  bytes -= line->size();
  is_writing = true;
  return true;
}

void LogWriter::State::WriteLine(absl::string_view line) {
  const std::int64_t count = dropped;
  if (count > said && Write(notice(count - said))) said = count;
  if (!Write(line)) ++dropped;
}

bool LogWriter::State::Write(absl::string_view text) {
  while (!text.empty()) {
    if (!AwaitRoom()) return false;
    // A pipe that has room at all has room for so much.
    const ssize_t written =
        write(fd, text.data(), std::min(text.size(), static_cast<std::size_t>(PIPE_BUF)));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool LogWriter::State::AwaitRoom() {
  while (!stopping) {
    pollfd watched = {fd, POLLOUT, 0};
    const int ready = poll(&watched, 1, kLookMs);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the write says more
  }
  return false;
}

}  // namespace maskd::service
