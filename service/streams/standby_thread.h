// A thread that is there before its job is known: whoever promises to do something on another
// thread can find out first whether the system has one to give.
//
// Threads  one thread uses it.
#ifndef MASKD_SERVICE_STREAMS_STANDBY_THREAD_H_
#define MASKD_SERVICE_STREAMS_STANDBY_THREAD_H_

#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"

#include "grammar_core/base/mutex.h"

namespace maskd::service {

// A thread that is there before what it is to run.
class StandbyThread {
 public:
  // Null where the system has no thread to give.
  static std::unique_ptr<StandbyThread> Start();
  // Waits for the job, if there is one.
  ~StandbyThread();
  StandbyThread(const StandbyThread&) = delete;
  StandbyThread& operator=(const StandbyThread&) = delete;

  // Has the thread run `job`. Once.
  void Run(std::function<void()> job) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  StandbyThread();
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  CondVar changed_;
  std::function<void()> job_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_STANDBY_THREAD_H_
