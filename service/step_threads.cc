#include "service/step_threads.h"

#include <system_error>
#include <utility>

namespace maskd::service {

StepThreads::StepThreads() {
  const MutexLock lock(&mutex_);
  threads_.emplace_back([this] { Work(); });  // one is always there
}

StepThreads::~StepThreads() {
  std::vector<std::thread> threads;  // joined without the lock
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    threads = std::move(threads_);
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void StepThreads::Run(std::function<void()> job) {
  const MutexLock lock(&mutex_);
  jobs_.push_back(std::move(job));
  if (idle_ >= jobs_.size()) {
    changed_.NotifyOne();
    return;
  }
  try {
    threads_.emplace_back([this] { Work(); });
  } catch (const std::system_error&) {
    changed_.NotifyOne();
  }
}

void StepThreads::Work() {
  while (const std::function<void()> job = Next()) {
    job();
  }
}

std::function<void()> StepThreads::Next() {
  const MutexLock lock(&mutex_);
  ++idle_;
  while (jobs_.empty() && !stopping_) {
    changed_.Wait(&mutex_);
  }
  --idle_;
  if (jobs_.empty()) {
    return nullptr;
  }
  std::function<void()> job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

}  // namespace maskd::service
