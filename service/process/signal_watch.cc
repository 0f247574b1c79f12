#include "service/process/signal_watch.h"

#include <ctime>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/clock.h"

namespace maskd::service {

SignalWatch::SignalWatch() {
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

absl::Status SignalWatch::Start(Calls calls) {
  calls_ = std::move(calls);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("the system gives no thread: ", error.what()));
  }
  return absl::OkStatus();
}

SignalWatch::~SignalWatch() { Stop(); }

void SignalWatch::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  // One of those it waits for, to this thread alone.
  pthread_kill(thread_.native_handle(), SIGHUP);
  thread_.join();
}

void SignalWatch::Run() {
  constexpr timespec kSecond = {.tv_sec = 1, .tv_nsec = 0};
  while (!stopping_ && !is_ending_) {
    const int signal = sigtimedwait(&signals_, nullptr, &kSecond);
    if (stopping_) return;
    const bool is_end = signal == SIGTERM || signal == SIGINT;
    (is_end ? calls_.at_end : calls_.each_second)();
    const MutexLock lock(&mutex_);
    if (is_end) is_ending_ = true;
    if (signal == SIGHUP) reload_ = true;
    if (is_end || signal == SIGHUP) asked_.NotifyAll();
  }
}

SignalWatch::Asked SignalWatch::Await(std::chrono::milliseconds patience) {
  const Clock::TimePoint end = Clock::Steady()->Now() + patience;
  const MutexLock lock(&mutex_);
  while (!is_ending_ && !reload_)
    if (!asked_.WaitUntil(&mutex_, end)) break;
  if (is_ending_) return Asked::kEnd;
  return std::exchange(reload_, false) ? Asked::kReload : Asked::kNothing;
}

}  // namespace maskd::service
