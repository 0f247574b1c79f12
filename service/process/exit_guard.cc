// The last resort of an orderly end. A thread sleeps until it is told how long the end may take,
// and then ends the process whatever is running. It was started with the process, so that it is
// there when nothing else works.
//
// Invariant  it takes no lock but its own, and _exit() runs no destructor: it cannot hang on what
//            hangs.
#include "service/process/exit_guard.h"

#include <system_error>

#include "absl/strings/str_cat.h"
#include <unistd.h>

#include "service/base/log.h"

namespace maskd::service {

std::unique_ptr<ExitGuard> ExitGuard::Start() {
  try {
    return std::unique_ptr<ExitGuard>(new ExitGuard());
  } catch (const std::system_error&) {
    return nullptr;
  }
}

ExitGuard::ExitGuard() : thread_([this] { Run(); }) {}

ExitGuard::~ExitGuard() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void ExitGuard::EndWithin(std::chrono::milliseconds time) {
  const MutexLock lock(&mutex_);
  end_ = Clock::Steady()->Now() + time;
  changed_.NotifyAll();
}

void ExitGuard::Run() {
  {
    const MutexLock lock(&mutex_);
    while (!stopping_ && !end_.has_value()) changed_.Wait(&mutex_);
    while (!stopping_ && changed_.WaitUntil(&mutex_, *end_)) {
    }
    if (stopping_) return;
  }
  LogEvent("drain_overrun", {{"status", absl::StrCat(kOverrun)}});
  FlushLog(kLastLine);
  _exit(kOverrun);
}

}  // namespace maskd::service
