#include "service/callers/call_threads.h"

#include <iterator>
#include <system_error>
#include <utility>

namespace maskd::service {

CallThreads::CallThreads(int at_work) : at_work_(at_work) {
  const MutexLock lock(&mutex_);
  threads_.reserve(kMost);
  for (int i = 0; i <= at_work_; ++i) {
    threads_.emplace_back([this] { Work(); });
    ++idle_;
  }
}

CallThreads::~CallThreads() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    threads.swap(threads_);
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads) thread.join();
}

bool CallThreads::is_idle() {
  const MutexLock lock(&mutex_);
  return working_.empty() && jobs_.empty();
}

void CallThreads::Run(const std::string& owner, std::function<void()> job) {
  bool is_needed = false;
  {
    const MutexLock lock(&mutex_);
    jobs_.Add(++last_id_, owner, 1, std::move(job));
    is_needed = IsThreadNeeded();
  }
  // Without the lock: who is woken may have a higher priority, and would wait for it at once.
  if (is_needed) changed_.NotifyOne();
}

// One at least looks at the clock while a job waits.
bool CallThreads::IsThreadNeeded() const {
  return !jobs_.empty() && (std::ssize(working_) < at_work_ || watching_ == 0);
}

void CallThreads::Work() {
  WorkingAt working;
  while (const std::function<void()> job = Next(&working)) {
    job();
    const MutexLock lock(&mutex_);
    working_.erase(working);
    ++idle_;
  }
}

std::function<void()> CallThreads::Next(WorkingAt* working) {
  const MutexLock lock(&mutex_);
  while (!stopping_) {
    if (jobs_.empty()) {
      changed_.Wait(&mutex_);
      continue;
    }
    const Clock::TimePoint may_begin = MayBeginAt();
    const Clock::TimePoint now = Clock::Steady()->Now();
    if (may_begin <= now) {
      --idle_;
      *working = working_.insert(working_.end(), now);
      std::function<void()> job = jobs_.Take();
      KeepOneIdle();
      if (IsThreadNeeded()) changed_.NotifyOne();
      return job;
    }
    ++watching_;
    changed_.WaitUntil(&mutex_, may_begin);
    --watching_;
  }
  return nullptr;
}

Clock::TimePoint CallThreads::MayBeginAt() const {
  if (std::ssize(working_) < at_work_) return Clock::TimePoint::min();
  return *std::prev(working_.end(), at_work_) + kFresh;
}

void CallThreads::KeepOneIdle() {
  if (stopping_ || idle_ > 0 || std::ssize(threads_) >= kMost) return;
  try {
    threads_.emplace_back([this] { Work(); });
    ++idle_;
  } catch (const std::system_error&) {
    return;  // those that there are do the work
  }
}

}  // namespace maskd::service
