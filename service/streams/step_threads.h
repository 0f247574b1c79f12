// Threads for steps that cannot be answered at once: those that wait for a compile, those that
// bring grammars to read, those that take long. As many as there are such steps at a time, kept for
// later ones.
//
// None to be had  where the system gives no further thread a job waits for one of those there are.
// Bound    whoever calls Run() bounds it: a stream has one step at a time.
// Threads  Run() from any thread. The destructor waits for the jobs.
#ifndef MASKD_SERVICE_STREAMS_STEP_THREADS_H_
#define MASKD_SERVICE_STREAMS_STEP_THREADS_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "cpu/thread_priority.h"
#include "grammar_core/base/mutex.h"

namespace maskd::service {

// Threads that come with the jobs and stay for later ones.
class StepThreads {
 public:
  // `role`: what the jobs are.
  explicit StepThreads(ThreadRole role = ThreadRole::kAnswers);
  ~StepThreads();
  StepThreads(const StepThreads&) = delete;
  StepThreads& operator=(const StepThreads&) = delete;

  // Runs `job` on another thread, now if it can be.
  void Run(std::function<void()> job) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);
  // The next job; empty at the end.
  std::function<void()> Next() ABSL_LOCKS_EXCLUDED(mutex_);

  const ThreadRole role_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> jobs_ ABSL_GUARDED_BY(mutex_);
  std::size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_STEP_THREADS_H_
