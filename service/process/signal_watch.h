// The signals that end a server or have it read its configuration again, taken on a thread of their
// own: a start and a reload may take minutes on main's thread, and the end must not wait for them.
//
// Signals  SIGTERM and SIGINT ask for the end, SIGHUP for a reload. They are blocked for the thread
//          that makes a watch and for all that are started after it, so it comes before those.
// Threads  one, until the end is asked for. Await() is main's; is_ending() any thread's.
#ifndef MASKD_SERVICE_PROCESS_SIGNAL_WATCH_H_
#define MASKD_SERVICE_PROCESS_SIGNAL_WATCH_H_

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "grammar_core/base/mutex.h"

namespace maskd::service {

// The watch. Signals that come before Start() wait for it.
class SignalWatch {
 public:
  enum class Asked : std::uint8_t { kNothing, kReload, kEnd };

  // What the watch's thread calls. Neither waits.
  struct Calls {
    std::function<void()> at_end;       // once, before Await() says so
    std::function<void()> each_second;  // until then
  };

  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Once. Errors: UNAVAILABLE, no thread.
  absl::Status Start(Calls calls);
  // From then on the watch calls nothing, nor does what it called run. The signals stay blocked.
  void Stop();
  // What was asked for since the last call, waited for until then or for so long. Of several
  // reloads one is said, and after the end nothing else.
  Asked Await(std::chrono::milliseconds patience) ABSL_LOCKS_EXCLUDED(mutex_);
  [[nodiscard]] bool is_ending() const { return is_ending_; }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  Calls calls_;
  sigset_t signals_{};
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> is_ending_ = false;  // changed with the lock held
  Mutex mutex_;
  CondVar asked_;
  bool reload_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PROCESS_SIGNAL_WATCH_H_
