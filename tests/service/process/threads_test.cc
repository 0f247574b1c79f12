// Where the system has no thread to give, and whose turn it is on one that many share.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cache/work_pool.h"
#include "ring/handover.h"
#include "service/base/log_writer.h"
#include "service/ports/accept_loop.h"
#include "service/ports/metrics_port.h"
#include "service/process/exit_guard.h"
#include "service/process/stall_watch.h"
#include "service/streams/fair_turns.h"
#include "service/streams/standby_thread.h"
#include "service/streams/step_threads.h"
#include "tests/service/base/no_threads.h"

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
  EXPECT_TRUE(absl::IsUnavailable(
      MetricsPort::Start("127.0.0.1:0", {.metrics = &metrics, .is_live = {}, .is_ready = {}})
          .status()));
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

// One thread and those whose events it handles. Time goes on by what an event takes, or up to the
// next that comes.
class SharedThread {
 public:
  using Duration = FairTurns::Duration;

  // Comes `pause` after its last event was handled, or `every` after that came.
  struct Owner {
    Duration takes;
    Duration pause{0};
    Duration every{0};
    Duration next{0};
    Duration came{0};
    Duration worst_wait{0};
    int handled = 0;
    std::shared_ptr<FairTurns::Share> share = std::make_shared<FairTurns::Share>();
  };

  std::vector<Owner> owners;

  void RunUntil(Duration end) {
    while (now_ < end) {
      for (Owner& owner : owners) {
        if (owner.next > now_) continue;
        turns_.Add({owner.share, &owner, true});
        owner.came = std::exchange(owner.next, Duration::max());
      }
      turns_.empty() ? Wait() : Handle();
    }
  }

 private:
  void Wait() {
    const auto by_next = [](const Owner& owner) { return owner.next; };
    now_ = std::ranges::min(owners, {}, by_next).next;
  }
  void Handle() {
    const FairTurns::Event event = turns_.Next();
    Owner& owner = *static_cast<Owner*>(event.tag);
    owner.worst_wait = std::max(owner.worst_wait, now_ - owner.came);
    ++owner.handled;
    now_ += owner.takes;
    turns_.Spend(event, owner.takes);
    owner.next = owner.every > Duration(0) ? owner.came + owner.every : now_ + owner.pause;
  }

  FairTurns turns_;
  Duration now_{0};
};

TEST(FairTurnsTest, LongStepsOfManyHoldUpAShortOneByOneOfThem) {
  using std::chrono::microseconds;
  SharedThread thread;
  for (int i = 0; i < 63; ++i) thread.owners.push_back({.takes = microseconds(200)});
  thread.RunUntil(std::chrono::milliseconds(20));  // what each takes is known now
  thread.owners.push_back({.takes = microseconds(10),
                           .every = microseconds(1000),
                           .next = std::chrono::milliseconds(20)});
  thread.RunUntil(std::chrono::milliseconds(1000));
  const SharedThread::Owner& light = thread.owners.back();
  EXPECT_GT(light.handled, 970);
  EXPECT_LE(light.worst_wait, microseconds(200)) << "in the order they come: 12.6 ms";
  for (int i = 0; i < 63; ++i) EXPECT_NEAR(thread.owners[i].handled, 78, 2) << i;
}

TEST(FairTurnsTest, ShortStepsWithoutEndLeaveLongOnesTheirPart) {
  using std::chrono::microseconds;
  SharedThread thread;
  thread.owners = {
      {.takes = microseconds(200)}, {.takes = microseconds(10)}, {.takes = microseconds(10)}};
  thread.RunUntil(std::chrono::milliseconds(600));
  EXPECT_NEAR(thread.owners[0].handled, 1000, 10) << "a third of the time";
  EXPECT_NEAR(thread.owners[1].handled, 20000, 200);
}

TEST(FairTurnsTest, EventsOfOneOwnerKeepTheirOrder) {
  FairTurns turns;
  const auto share = std::make_shared<FairTurns::Share>();
  std::array<int, 4> tags = {};
  turns.Add({share, &tags[0], true});
  turns.Spend(turns.Next(), std::chrono::milliseconds(1));
  turns.Add({share, &tags[1], true});
  turns.Add({share, &tags[2], true});
  FairTurns::Event event = turns.Next();
  EXPECT_EQ(event.tag, &tags[1]);
  turns.Spend(event, std::chrono::nanoseconds(1));
  turns.Add({share, &tags[3], false});
  EXPECT_EQ(turns.Next().tag, &tags[2]);
  event = turns.Next();
  EXPECT_EQ(event.tag, &tags[3]);
  EXPECT_FALSE(event.ok);
  EXPECT_TRUE(turns.empty());
}

}  // namespace
}  // namespace maskd::service
