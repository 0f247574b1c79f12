#include "cache/work_pool.h"

#include <atomic>
#include <latch>

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

}  // namespace
}  // namespace maskd::cache
