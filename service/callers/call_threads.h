// Threads that do what calls compute: as few at once as there are processors, however many calls
// there are. A call that waits holds none.
//
//   threads.Run(TurnOwner(caller), [call] { call->Answer(); });
//
// Turns    jobs are begun by their owners' turns (work_turns.h), each at the same cost: who has one
//          waits for one of each other owner.
// Long     a job that has run for kFresh counts no more, and the next one begins beside it: who
//          brings much to do is in nobody's way. Up to kMost threads, which stay.
// Threads  Run() from any thread. The destructor waits for the jobs that run; those that wait are
//          dropped.
#ifndef MASKD_SERVICE_CALLERS_CALL_THREADS_H_
#define MASKD_SERVICE_CALLERS_CALL_THREADS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "cache/work_turns.h"
#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"

namespace maskd::service {

// The threads, and the jobs that wait for one.
class CallThreads {
 public:
  static constexpr std::chrono::milliseconds kFresh{20};
  static constexpr int kMost = 128;

  // At most `at_work` jobs younger than kFresh run at once. Throws std::system_error where the
  // system has no thread.
  explicit CallThreads(int at_work);
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // Whether nothing runs, and nothing waits to.
  [[nodiscard]] bool is_idle() ABSL_LOCKS_EXCLUDED(mutex_);

  // Runs `job` on one of the threads, in the turn of `owner`.
  void Run(const std::string& owner, std::function<void()> job) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using WorkingAt = std::list<Clock::TimePoint>::iterator;

  void Work() ABSL_LOCKS_EXCLUDED(mutex_);
  // The thread's next job, begun; empty at the end.
  std::function<void()> Next(WorkingAt* working) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether an idle thread is to be woken for what waits.
  [[nodiscard]] bool IsThreadNeeded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // When a job more may begin; now or before: it may already.
  [[nodiscard]] Clock::TimePoint MayBeginAt() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One thread more than those that work, if there can be one: it sees when they have worked long.
  void KeepOneIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int at_work_;
  Mutex mutex_;
  CondVar changed_;
  cache::WorkTurns jobs_ ABSL_GUARDED_BY(mutex_);  // that wait
  std::uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::list<Clock::TimePoint> working_ ABSL_GUARDED_BY(mutex_);  // since when; the oldest first
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  int watching_ ABSL_GUARDED_BY(mutex_) = 0;  // idle ones that look at the clock
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_CALL_THREADS_H_
