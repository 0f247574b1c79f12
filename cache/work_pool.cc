#include "cache/work_pool.h"

#include <utility>

namespace maskd::cache {

WorkPool::WorkPool(int thread_count, std::size_t queue_limit) : queue_limit_(queue_limit) {
  threads_.reserve(static_cast<std::size_t>(thread_count));
  for (int i = 0; i < thread_count; ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

WorkPool::~WorkPool() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

std::optional<WorkPool::JobId> WorkPool::Submit(std::function<void()> job) {
  const MutexLock lock(&mutex_);
  if (queue_.size() >= queue_limit_) {
    return std::nullopt;
  }
  const JobId id = next_id_++;
  queue_.emplace(id, std::move(job));
  changed_.NotifyOne();
  return id;
}

bool WorkPool::Withdraw(JobId id) {
  std::function<void()> dropped;  // outlives the lock: a job's own destructors may be long
  const MutexLock lock(&mutex_);
  const auto found = queue_.find(id);
  if (found == queue_.end()) {
    return false;
  }
  dropped = std::move(found->second);
  queue_.erase(found);
  return true;
}

std::size_t WorkPool::waiting() const {
  const MutexLock lock(&mutex_);
  return queue_.size();
}

void WorkPool::Run() {
  while (std::function<void()> job = Next()) {
    job();
  }
}

std::function<void()> WorkPool::Next() {
  const MutexLock lock(&mutex_);
  while (queue_.empty() && !stopping_) {
    changed_.Wait(&mutex_);
  }
  if (stopping_) {
    return nullptr;
  }
  std::function<void()> job = std::move(queue_.begin()->second);
  queue_.erase(queue_.begin());
  return job;
}

}  // namespace maskd::cache
