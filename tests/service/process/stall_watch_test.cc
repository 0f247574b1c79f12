#include "service/process/stall_watch.h"

#include <chrono>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/base/activity.h"
#include "tests/service/base/hand_clock.h"

namespace maskd::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(StallWatchTest, SaysWhenWorkTakesTooLongAndWhenItIsOver) {
  HandClock clock;
  std::vector<bool> told;
  StallWatch watch(seconds(10), [&](bool stalled) { told.push_back(stalled); }, &clock);
  std::optional<Clock::TimePoint> first;
  std::optional<Clock::TimePoint> second = clock.Now();
  watch.Add("first", [&] { return first; });
  watch.Add("second", [&] { return second; });
  clock.Advance(seconds(10));
  watch.Look();
  EXPECT_THAT(told, IsEmpty());
  clock.Advance(milliseconds(1));
  watch.Look();
  watch.Look();
  EXPECT_THAT(told, ElementsAre(true));
  first = clock.Now() - seconds(60);
  second.reset();
  watch.Look();
  EXPECT_THAT(told, ElementsAre(true)) << "another one is stalled now";
  first = clock.Now();  // at other work
  watch.Look();
  EXPECT_THAT(told, ElementsAre(true, false));
}

TEST(StallWatchTest, LooksByItself) {
  Mutex mutex;
  CondVar changed;
  bool is_stalled = false;
  StallWatch watch(milliseconds(4), [&](bool stalled) {
    const MutexLock lock(&mutex);
    is_stalled = stalled;
    changed.NotifyAll();
  });
  Activity activity;
  watch.Add("thread", [&] { return activity.since(); });
  ASSERT_TRUE(watch.Start().ok());
  const Activity::Work work(&activity, Clock::Steady()->Now());
  const MutexLock lock(&mutex);
  while (!is_stalled) changed.Wait(&mutex);
}

TEST(ActivityTest, IsIdleBetweenItsWorks) {
  Activity activity;
  EXPECT_FALSE(activity.since().has_value());
  {
    const Activity::Work work(&activity, Clock::Steady()->Now());
    EXPECT_TRUE(activity.since().has_value());
  }
  EXPECT_FALSE(activity.since().has_value());
}

}  // namespace
}  // namespace maskd::service
