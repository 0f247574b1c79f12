#include "service/process/signal_watch.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>

#include <gtest/gtest.h>
#include <unistd.h>

namespace maskd::service {
namespace {

using Asked = SignalWatch::Asked;
using std::chrono::hours;
using std::chrono::milliseconds;

// What an exit status says is wrong.
enum Wrong { kNothing, kStart, kReload, kReloadTwice, kAtEnd, kAfterEnd, kNotCalled };

// In a forked process, which has no thread that the signals could reach instead.
[[noreturn]] void TakeEach(int end) {
  std::atomic<int> ends = 0;
  SignalWatch watch;
  kill(getpid(), SIGHUP);  // before anybody watches
  if (!watch.Start({.at_end = [&] { ++ends; }, .each_second = [] {}}).ok()) _exit(kStart);
  if (watch.Await(hours(1)) != Asked::kReload || watch.is_ending()) _exit(kReload);
  if (watch.Await(milliseconds(1)) != Asked::kNothing) _exit(kReloadTwice);
  kill(getpid(), end);
  if (watch.Await(hours(1)) != Asked::kEnd || !watch.is_ending()) _exit(kAtEnd);
  kill(getpid(), SIGHUP);
  if (watch.Await(hours(1)) != Asked::kEnd) _exit(kAfterEnd);
  watch.Stop();  // ThreadSanitizer takes a thread that nobody has joined for lost
  _exit(ends == 1 ? kNothing : kNotCalled);
}

TEST(SignalWatchDeathTest, SaysWhatIsAskedFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(TakeEach(SIGTERM), testing::ExitedWithCode(kNothing), "");
  EXPECT_EXIT(TakeEach(SIGINT), testing::ExitedWithCode(kNothing), "");
}

[[noreturn]] void EndUnasked() {
  {
    const SignalWatch never_started;
    SignalWatch watch;
    if (!watch.Start({.at_end = [] {}, .each_second = [] {}}).ok()) _exit(kStart);
  }
  _exit(kNothing);
}

// What it calls may go before it does, and the end may be asked for just then.
[[noreturn]] void EndWhenStopped() {
  SignalWatch watch;
  auto ends = std::make_unique<std::atomic<int>>(0);
  if (!watch.Start({.at_end = [&] { ++*ends; }, .each_second = [] {}}).ok()) _exit(kStart);
  watch.Stop();
  ends = nullptr;
  kill(getpid(), SIGTERM);
  if (watch.Await(milliseconds(1)) != Asked::kNothing) _exit(kAtEnd);
  watch.Stop();
  _exit(kNothing);
}

TEST(SignalWatchDeathTest, CallsNothingOnceItIsStopped) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(EndWhenStopped(), testing::ExitedWithCode(kNothing), "");
}

TEST(SignalWatchDeathTest, MayGoBeforeTheEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(EndUnasked(), testing::ExitedWithCode(kNothing), "");
}

}  // namespace
}  // namespace maskd::service
