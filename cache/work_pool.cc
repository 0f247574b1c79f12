#include "cache/work_pool.h"

#include <iterator>
#include <system_error>
#include <utility>

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
                   ThreadRole role, int short_threads)
    : queue_limit_(queue_limit), waiting_changed_(std::move(waiting_changed)) {
  threads_.reserve(static_cast<std::size_t>(thread_count));
  short_threads_.reserve(static_cast<std::size_t>(short_threads));
  const auto start = [&](std::vector<std::thread>* threads, int count, Takes takes) {
    while (std::ssize(*threads) < count) {
      threads->emplace_back([this, role, takes] {
        TakeRole(role);
        Run(takes);
      });
    }
  };
  try {
    start(&threads_, thread_count, Takes::kAll);
    start(&short_threads_, short_threads, Takes::kShort);
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;  // else those that there are do the work
  }
}

WorkPool::~WorkPool() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
    short_changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  for (std::thread& thread : short_threads_) thread.join();
  Report(-static_cast<int>(waiting()));
}

std::optional<WorkPool::JobId> WorkPool::Submit(std::function<void()> job, const Turn& turn) {
  Report(1);  // before the job can begin, so that the sum is never negative
  const std::optional<JobId> id = Push(std::move(job), turn);
  if (!id.has_value()) Report(-1);
  return id;
}

std::optional<WorkPool::JobId> WorkPool::Push(std::function<void()> job, const Turn& turn) {
  const MutexLock lock(&mutex_);
  if (long_.size() + short_.size() >= queue_limit_) return std::nullopt;
  const JobId id = next_id_++;
  (turn.is_short ? short_ : long_).Add(id, turn.owner, turn.cost, std::move(job));
  changed_.NotifyOne();
  if (turn.is_short) short_changed_.NotifyOne();
  return id;
}

bool WorkPool::Withdraw(JobId id) {
  std::function<void()> dropped;  // outlives the lock: a job's own destructors may be long
  {
    const MutexLock lock(&mutex_);
    dropped = long_.Remove(id);
    if (dropped == nullptr) dropped = short_.Remove(id);
  }
  if (dropped == nullptr) return false;
  Report(-1);
  return true;
}

std::function<void()> WorkPool::Take() {
  std::function<void()> job;
  {
    const MutexLock lock(&mutex_);
    job = TakeOne();
  }
  if (job != nullptr) Report(-1);
  return job;
}

std::size_t WorkPool::waiting() const {
  const MutexLock lock(&mutex_);
  return long_.size() + short_.size();
}

std::size_t WorkPool::working() const {
  const MutexLock lock(&mutex_);
  return working_;
}

void WorkPool::Run(Takes takes) {
  const auto next = [&](bool had_job) {
    return takes == Takes::kShort ? NextShort() : Next(had_job);
  };
  for (bool had_job = false; std::function<void()> job = next(had_job); had_job = true) {
    Report(-1);
    RunJob(job);
  }
}

std::function<void()> WorkPool::Next(bool had_job) {
  const MutexLock lock(&mutex_);
  if (had_job) --working_;
  while (long_.empty() && short_.empty() && !stopping_) changed_.Wait(&mutex_);
  if (stopping_) return nullptr;
  ++working_;
  return TakeOne();
}

std::function<void()> WorkPool::NextShort() {
  const MutexLock lock(&mutex_);
  while (short_.empty() && !stopping_) short_changed_.Wait(&mutex_);
  return stopping_ ? nullptr : short_.Take();
}

std::function<void()> WorkPool::TakeOne() {
  took_short_ = !short_.empty() && (!took_short_ || long_.empty());
  return took_short_ ? short_.Take() : long_.Take();
}

void WorkPool::Report(int change) const {
  if (waiting_changed_ != nullptr && change != 0) waiting_changed_(change);
}

}  // namespace maskd::cache
