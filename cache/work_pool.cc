#include "cache/work_pool.h"

#include <iterator>
#include <system_error>
#include <utility>

#include "cpu/thread_priority.h"
#include "grammar_core/base/memory_reserve.h"

namespace maskd::cache {
namespace {

// Whoever waits for a job that may run out of memory is told by the job itself.
void RunJob(const std::function<void()>& job) {
  (void)OrOutOfMemory([&job] {
    job();
    return absl::OkStatus();
  });
}

}  // namespace

WorkPool::WorkPool(int thread_count, std::size_t queue_limit, WaitingChanged waiting_changed,
                   int niceness)
    : queue_limit_(queue_limit), waiting_changed_(std::move(waiting_changed)) {
  threads_.reserve(static_cast<std::size_t>(thread_count));
  try {
    while (std::ssize(threads_) < thread_count) {
      threads_.emplace_back([this, niceness] {
        StandBack(niceness);
        Run();
      });
    }
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;  // else those that there are do the work
  }
}

WorkPool::~WorkPool() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  Report(-static_cast<int>(waiting()));
}

std::optional<WorkPool::JobId> WorkPool::Submit(std::function<void()> job) {
  Report(1);  // before the job can begin, so that the sum is never negative
  const std::optional<JobId> id = Push(std::move(job));
  if (!id.has_value()) Report(-1);
  return id;
}

std::optional<WorkPool::JobId> WorkPool::Push(std::function<void()> job) {
  const MutexLock lock(&mutex_);
  if (queue_.size() >= queue_limit_) return std::nullopt;
  const JobId id = next_id_++;
  queue_.emplace(id, std::move(job));
  changed_.NotifyOne();
  return id;
}

bool WorkPool::Withdraw(JobId id) {
  std::function<void()> dropped;  // outlives the lock: a job's own destructors may be long
  {
    const MutexLock lock(&mutex_);
    const auto found = queue_.find(id);
    if (found == queue_.end()) return false;
    dropped = std::move(found->second);
    queue_.erase(found);
  }
  Report(-1);
  return true;
}

std::function<void()> WorkPool::Take() {
  std::function<void()> job;
  {
    const MutexLock lock(&mutex_);
    if (queue_.empty()) return nullptr;
    const auto first = queue_.begin();
    job = std::move(first->second);
    queue_.erase(first);
  }
  Report(-1);
  return job;
}

std::size_t WorkPool::waiting() const {
  const MutexLock lock(&mutex_);
  return queue_.size();
}

std::size_t WorkPool::working() const {
  const MutexLock lock(&mutex_);
  return working_;
}

void WorkPool::Run() {
  for (bool had_job = false; std::function<void()> job = Next(had_job); had_job = true) {
    Report(-1);
    RunJob(job);
  }
}

std::function<void()> WorkPool::Next(bool had_job) {
  const MutexLock lock(&mutex_);
  if (had_job) --working_;
  while (queue_.empty() && !stopping_) changed_.Wait(&mutex_);
  if (stopping_) return nullptr;
  std::function<void()> job = std::move(queue_.begin()->second);
  queue_.erase(queue_.begin());
  ++working_;
  return job;
}

void WorkPool::Report(int change) const {
  if (waiting_changed_ != nullptr && change != 0) waiting_changed_(change);
}

}  // namespace maskd::cache
