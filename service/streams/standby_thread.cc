// A stream is offered shared memory only with a thread to serve it, so the thread is made before
// the offer, when it can still be left out. It sleeps until it gets its one job, or its end.
#include "service/streams/standby_thread.h"

#include <system_error>
#include <utility>

namespace maskd::service {

// Null where the system gives no thread: the stream is then served without shared memory.
std::unique_ptr<StandbyThread> StandbyThread::Start() {
  try {
    return std::unique_ptr<StandbyThread>(new StandbyThread());
  } catch (const std::system_error&) {
    return nullptr;
  }
}

StandbyThread::StandbyThread() : thread_([this] { Work(); }) {}

// Waits for the thread. A job that was given before is still run to its end.
StandbyThread::~StandbyThread() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyOne();
  }
  thread_.join();
}

void StandbyThread::Run(std::function<void()> job) {
  const MutexLock lock(&mutex_);
  job_ = std::move(job);
  changed_.NotifyOne();
}

void StandbyThread::Work() {
  std::function<void()> job;
  {
    const MutexLock lock(&mutex_);
    while (job_ == nullptr && !stopping_) changed_.Wait(&mutex_);
    job = std::move(job_);
  }
  if (job != nullptr) job();
}

}  // namespace maskd::service
