// A fixed number of threads and a bounded queue of jobs, first come first served.
//
// Memory   a job that runs out of it ends there; the thread goes on.
// Threads  every method from any thread, also from a job. The destructor runs no further job, waits
//          for the running ones and must not run in a job.
#ifndef MASKD_CACHE_WORK_POOL_H_
#define MASKD_CACHE_WORK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "grammar_core/base/mutex.h"

namespace maskd::cache {

// The compiles of a cache run here: as many at once as the pool has threads.
class WorkPool {
 public:
  using JobId = std::uint64_t;

  // Told of each change of the number of waiting jobs, without a lock held. Calls may overtake each
  // other, so it is told by how much; the sum is never negative, and 0 once no job waits.
  using WaitingChanged = std::function<void(int change)>;

  // `thread_count` of at least 0, at 0 all jobs are run by whoever takes them; `queue_limit` jobs
  // may wait for a thread. An empty `waiting_changed` is not called. Where the system has fewer
  // threads to give the pool has those; throws std::system_error where it has none. `niceness`:
  // that of the threads, beyond the process's.
  WorkPool(int thread_count, std::size_t queue_limit, WaitingChanged waiting_changed = {},
           int niceness = 0);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // Nothing when the queue is full.
  std::optional<JobId> Submit(std::function<void()> job) ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes a job out of the queue. False when it has begun.
  bool Withdraw(JobId id) ABSL_LOCKS_EXCLUDED(mutex_);

  // The job that has waited longest, begun and the caller's to run; empty when none waits.
  std::function<void()> Take() ABSL_LOCKS_EXCLUDED(mutex_);

  // Jobs that may wait, and those that do now.
  [[nodiscard]] std::size_t queue_limit() const { return queue_limit_; }
  [[nodiscard]] std::size_t waiting() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Threads that there are, and those of them that have a job.
  [[nodiscard]] std::size_t thread_count() const { return threads_.size(); }
  [[nodiscard]] std::size_t working() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // The thread's next job, now that it has no other; empty when the pool stops.
  std::function<void()> Next(bool had_job) ABSL_LOCKS_EXCLUDED(mutex_);
  // Nothing when the queue is full.
  std::optional<JobId> Push(std::function<void()> job) ABSL_LOCKS_EXCLUDED(mutex_);
  void Report(int change) const;

  const std::size_t queue_limit_;
  const WaitingChanged waiting_changed_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<JobId, std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);  // ids ascend in time
  JobId next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t working_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_WORK_POOL_H_
