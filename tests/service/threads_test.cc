// Where the system has no thread to give.
#include <array>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cache/work_pool.h"
#include "ring/handover.h"
#include "service/accept_loop.h"
#include "service/exit_guard.h"
#include "service/log_writer.h"
#include "service/metrics_port.h"
#include "service/stall_watch.h"
#include "service/standby_thread.h"
#include "service/step_threads.h"
#include "tests/service/no_threads.h"

namespace maskd::service {
namespace {

TEST(ThreadsTest, AStandbyThreadIsThereBeforeItsJob) {
  auto thread = StandbyThread::Start();
  ASSERT_NE(thread, nullptr);
  std::latch done(1);
  thread->Run([&] { done.count_down(); });
  done.wait();
  EXPECT_NE(StandbyThread::Start(), nullptr) << "one that is never used ends";
}

TEST(ThreadsTest, NoStandbyThreadIsNoCrash) {
  const NoThreads none;
  EXPECT_EQ(StandbyThread::Start(), nullptr);
}

TEST(ThreadsTest, AJobWaitsForAThreadThatIsThere) {
  StepThreads threads;
  std::latch first_begun(1);
  std::latch first_may_end(1);
  std::latch second_done(1);
  threads.Run([&] {
    first_begun.count_down();
    first_may_end.wait();
  });
  first_begun.wait();
  {
    const NoThreads none;
    threads.Run([&] { second_done.count_down(); });
  }
  first_may_end.count_down();
  second_done.wait();
}

TEST(ThreadsTest, WhatNeedsOneAtTheStartSaysSo) {
  const std::string path = absl::StrCat("/tmp/maskd_threads.", getpid());
  const metrics::Metrics metrics("1");
  std::atomic<std::int64_t> shortages = 0;
  StallWatch watch(std::chrono::hours(1), [](bool /*stalled*/) {});
  const NoThreads none;
  EXPECT_EQ(ExitGuard::Start(), nullptr);
  EXPECT_TRUE(absl::IsUnavailable(AcceptLoop::Start({}, {}, &shortages).status()));
  EXPECT_TRUE(absl::IsUnavailable(MetricsPort::Start("127.0.0.1:0", metrics).status()));
  EXPECT_TRUE(absl::IsUnavailable(watch.Start()));
  EXPECT_TRUE(absl::IsUnavailable(ring::HandoverPort::Listen(path, [](absl::string_view) {
                                    return ring::UniqueFd();
                                  }).status()));
  EXPECT_THROW(cache::WorkPool(2, 1), std::system_error);
}

TEST(ThreadsTest, ALineOfTheLogWaitsForAThread) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const ring::UniqueFd reader(ends[0]);
  const ring::UniqueFd writer(ends[1]);
  LogWriter log(writer.get(), [](std::int64_t /*dropped*/) { return "dropped\n"; });
  {
    const NoThreads none;
    log.Add("one\n");
  }
  log.Add("two\n");
  EXPECT_TRUE(log.Flush(Clock::Steady()->Now() + std::chrono::minutes(1)));
  std::array<char, 20> text = {};
  EXPECT_EQ(read(reader.get(), text.data(), text.size()), 8);
  EXPECT_STREQ(text.data(), "one\ntwo\n");
}

}  // namespace
}  // namespace maskd::service
