// Ends the process at a time, whatever still runs in it: the last resort behind an orderly end.
//
//   const auto guard = ExitGuard::Start();      // while there are threads to be had
//   guard->EndWithin(milliseconds(5'700));
//   server.Drain();                             // too long: a last line, exit status kOverrun
//
// Threads  it starts one. EndWithin() once, from any.
#ifndef MASKD_SERVICE_PROCESS_EXIT_GUARD_H_
#define MASKD_SERVICE_PROCESS_EXIT_GUARD_H_

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "absl/base/thread_annotations.h"

#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"

namespace maskd::service {

// Ends the process if its orderly end takes too long.
class ExitGuard {
 public:
  // The exit status of a process that was ended so.
  static constexpr int kOverrun = 3;
  // What the last line may take, past the time.
  static constexpr std::chrono::milliseconds kLastLine{200};

  // Null where the system has no thread to give.
  static std::unique_ptr<ExitGuard> Start();
  // From here on nothing is ended.
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

  // Ends the process when `time` is over and this is still there.
  void EndWithin(std::chrono::milliseconds time) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  ExitGuard();
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  CondVar changed_;
  std::optional<Clock::TimePoint> end_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PROCESS_EXIT_GUARD_H_
