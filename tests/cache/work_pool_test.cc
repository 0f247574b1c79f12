#include "cache/work_pool.h"

#include <atomic>
#include <functional>
#include <latch>
#include <new>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace maskd::cache {
namespace {

TEST(WorkPoolTest, RefusesOverItsQueueAndRunsTheRest) {
  std::latch begun(1);
  std::latch release(1);
  std::atomic<int> ran = 0;
  {
    WorkPool pool(1, 2);
    ASSERT_TRUE(pool.Submit([&] {
      begun.count_down();
      release.wait();
      ++ran;
    }));
    begun.wait();
    std::latch last(1);
    EXPECT_TRUE(pool.Submit([&] { ++ran; }));
    EXPECT_TRUE(pool.Submit([&] {
      ++ran;
      last.count_down();
    }));
    EXPECT_FALSE(pool.Submit([&] { ++ran; }));
    EXPECT_EQ(pool.waiting(), 2U);
    release.count_down();
    last.wait();
  }
  EXPECT_EQ(ran, 3);
}

TEST(WorkPoolTest, ItsThreadsWorkWhileTheyHaveAJob) {
  std::latch begun(2);
  std::latch release(1);
  WorkPool pool(3, 4);
  EXPECT_EQ(pool.thread_count(), 3U);
  EXPECT_EQ(pool.working(), 0U);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pool.Submit([&] {
      begun.count_down();
      release.wait();
    }));
  }
  begun.wait();
  EXPECT_EQ(pool.working(), 2U);
  release.count_down();
  while (pool.working() > 0) std::this_thread::yield();
}

TEST(WorkPoolTest, AJobWithoutMemoryEndsAlone) {
  std::latch done(1);
  WorkPool pool(1, 2);
  ASSERT_TRUE(pool.Submit([] { throw std::bad_alloc(); }));
  ASSERT_TRUE(pool.Submit([&] { done.count_down(); }));
  done.wait();
}

TEST(WorkPoolTest, WithdrawsOnlyWhatHasNotBegun) {
  std::latch begun(1);
  std::latch release(1);
  std::atomic<bool> withdrawn_ran = false;
  {
    WorkPool pool(1, 10);
    const auto running = pool.Submit([&] {
      begun.count_down();
      release.wait();
    });
    begun.wait();
    const auto queued = pool.Submit([&] { withdrawn_ran = true; });
    EXPECT_FALSE(pool.Withdraw(*running));
    EXPECT_TRUE(pool.Withdraw(*queued));
    EXPECT_FALSE(pool.Withdraw(*queued));
    release.count_down();
    std::latch last(1);
    pool.Submit([&] { last.count_down(); });
    last.wait();
  }
  EXPECT_FALSE(withdrawn_ran);
}

TEST(WorkPoolTest, WithoutThreadsJobsAreTakenInTheirOrderAndRunByTheCaller) {
  int waiting = 0;
  WorkPool pool(0, 2, [&](int change) { waiting += change; });
  EXPECT_EQ(pool.Take(), nullptr);
  int ran = 0;
  pool.Submit([&] { ran = 1; });
  const auto second = pool.Submit([&] { ran = 2; });
  EXPECT_EQ(waiting, 2);
  const std::function<void()> first = pool.Take();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(waiting, 1);
  EXPECT_EQ(ran, 0);
  first();
  EXPECT_EQ(ran, 1);
  const std::function<void()> begun = pool.Take();
  EXPECT_FALSE(pool.Withdraw(*second));
  begun();
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(pool.Take(), nullptr);
}

TEST(WorkPoolTest, AThreadIsThereForShortJobsAlone) {
  const WorkPool::Turn short_turn{.owner = "two", .cost = 1, .is_short = true};
  std::latch begun(1);
  std::latch release(1);
  std::latch short_ran(2);
  bool long_ran = false;
  {
    WorkPool pool(1, 10, {}, ThreadRole::kAnswers, 1);
    ASSERT_TRUE(pool.Submit([&] {
      begun.count_down();
      release.wait();
    }));
    begun.wait();
    std::latch last(1);
    ASSERT_TRUE(pool.Submit([&] {
      long_ran = true;
      last.count_down();
    }));
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(pool.Submit([&] { short_ran.count_down(); }, short_turn));
    short_ran.wait();  // though the pool's only other thread is held
    EXPECT_EQ(pool.thread_count(), 1U);
    EXPECT_EQ(pool.working(), 1U);
    EXPECT_EQ(pool.waiting(), 1U);
    EXPECT_FALSE(long_ran);
    release.count_down();
    last.wait();
  }
  EXPECT_TRUE(long_ran);
}

TEST(WorkPoolTest, ShortAndLongJobsAreTakenByTurnsAndEachOwnerHasItsOwn) {
  WorkPool pool(0, 10);
  std::string taken;
  const auto submit = [&](const std::string& name, const std::string& owner, bool is_short) {
    return pool.Submit([&taken, name] { taken += name; },
                       {.owner = owner, .cost = 1, .is_short = is_short});
  };
  for (const char* name : {"A", "B", "C"}) submit(name, "one", false);
  submit("X", "two", false);
  for (const char* name : {"a", "b"}) submit(name, "one", true);
  const auto withdrawn = submit("y", "two", true);
  EXPECT_TRUE(pool.Withdraw(*withdrawn));
  submit("x", "two", true);
  EXPECT_EQ(pool.waiting(), 7U);
  while (const std::function<void()> job = pool.Take()) job();
  EXPECT_EQ(taken, "aAxXbBC");
}

}  // namespace
}  // namespace maskd::cache
