// A job finds an idle thread or gets a new one; a thread that has done its job waits for the next.
// So no job waits for another one, which may be waiting for a compile, and there are never more
// threads than there were jobs at once.
//
// Who wakes whom  Run() wakes one idle thread; the destructor wakes all.
// May block       the jobs, for as long as they like: nobody waits for these threads but the
//                 destructor.
#include "service/streams/step_threads.h"

#include <system_error>
#include <utility>

namespace maskd::service {

StepThreads::StepThreads(ThreadRole role) : role_(role) {
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
  for (std::thread& thread : threads) thread.join();
}

void StepThreads::Run(std::function<void()> job) {
  const MutexLock lock(&mutex_);
  jobs_.push_back(std::move(job));
  // Idle threads that were woken and have not run yet still count, so the jobs are compared.
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
  TakeRole(role_);
  while (const std::function<void()> job = Next()) job();
}

std::function<void()> StepThreads::Next() {
  const MutexLock lock(&mutex_);
  ++idle_;
  while (jobs_.empty() && !stopping_) changed_.Wait(&mutex_);
  --idle_;
  if (jobs_.empty()) return nullptr;
  std::function<void()> job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

}  // namespace maskd::service
