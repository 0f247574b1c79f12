// A fixed number of threads and a bounded queue of jobs, of which each owner has its turn.
//
// Order    long jobs and short ones have a queue each, whose owners take turns (work_turns.h). The
//          pool's threads take of both by turns; one thread more may be there for short ones alone,
//          so that a short job never stands behind a long one. Jobs that say nothing of themselves
//          are run in the order in which they came.
// Memory   a job that runs out of it ends there; the thread goes on.
// Threads  every method from any thread, also from a job. The destructor runs no further job, waits
//          for the running ones and must not run in a job.
#ifndef MASKD_CACHE_WORK_POOL_H_
#define MASKD_CACHE_WORK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "cache/work_turns.h"
#include "cpu/thread_priority.h"
#include "grammar_core/base/mutex.h"

namespace maskd::cache {

// The compiles of a cache run here: as many at once as the pool has threads.
class WorkPool {
 public:
  using JobId = std::uint64_t;

  // Whose job it is, and what it takes.
  struct Turn {
    std::string owner = {};
    std::int64_t cost = 0;  // at least 0, of the same unit for all long jobs and for all short ones
    bool is_short = false;
  };

  // Told of each change of the number of waiting jobs, without a lock held. Calls may overtake each
  // other, so it is told by how much; the sum is never negative, and 0 once no job waits.
  using WaitingChanged = std::function<void(int change)>;

  // `thread_count` of at least 0, at 0 all jobs are run by whoever takes them; `queue_limit` jobs
  // may wait for a thread. An empty `waiting_changed` is not called. Where the system has fewer
  // threads to give the pool has those; throws std::system_error where it has none. `role`: what
  // the jobs are. `short_threads`: 0, or 1 for a thread beside those that takes short jobs alone.
  WorkPool(int thread_count, std::size_t queue_limit, WaitingChanged waiting_changed = {},
           ThreadRole role = ThreadRole::kAnswers, int short_threads = 0);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // Nothing when the queue is full.
  std::optional<JobId> Submit(std::function<void()> job, const Turn& turn)
      ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<JobId> Submit(std::function<void()> job) { return Submit(std::move(job), Turn()); }

  // Takes a job out of the queue. False when it has begun.
  bool Withdraw(JobId id) ABSL_LOCKS_EXCLUDED(mutex_);

  // The job whose turn it is, begun and the caller's to run; empty when none waits.
  std::function<void()> Take() ABSL_LOCKS_EXCLUDED(mutex_);

  // Jobs that may wait, and those that do now.
  [[nodiscard]] std::size_t queue_limit() const { return queue_limit_; }
  [[nodiscard]] std::size_t waiting() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Threads that there are, and those of them that have a job; without the one for short jobs.
  [[nodiscard]] std::size_t thread_count() const { return threads_.size(); }
  [[nodiscard]] std::size_t working() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  enum class Takes : std::uint8_t { kAll, kShort };

  void Run(Takes takes) ABSL_LOCKS_EXCLUDED(mutex_);
  // The thread's next job, now that it has no other; empty when the pool stops.
  std::function<void()> Next(bool had_job) ABSL_LOCKS_EXCLUDED(mutex_);
  std::function<void()> NextShort() ABSL_LOCKS_EXCLUDED(mutex_);
  // Of both queues by turns; empty when none waits.
  std::function<void()> TakeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Nothing when the queues are full.
  std::optional<JobId> Push(std::function<void()> job, const Turn& turn)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Report(int change) const;

  const std::size_t queue_limit_;
  const WaitingChanged waiting_changed_;
  mutable Mutex mutex_;
  CondVar changed_;
  CondVar short_changed_;  // for the thread of short jobs
  WorkTurns long_ ABSL_GUARDED_BY(mutex_);
  WorkTurns short_ ABSL_GUARDED_BY(mutex_);
  bool took_short_ ABSL_GUARDED_BY(mutex_) = false;  // TakeOne() last
  JobId next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t working_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
  std::vector<std::thread> short_threads_;
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_WORK_POOL_H_
