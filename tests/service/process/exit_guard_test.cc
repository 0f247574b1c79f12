#include "service/process/exit_guard.h"

#include <chrono>
#include <latch>

#include <gtest/gtest.h>

namespace maskd::service {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// What has no end of its own.
void Hang() {
  std::latch never(1);
  never.wait();
}

TEST(ExitGuardDeathTest, EndsWhatDoesNotEndAndSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const auto guard = ExitGuard::Start();
        guard->EndWithin(milliseconds(10));
        Hang();
      },
      testing::ExitedWithCode(ExitGuard::kOverrun), "drain_overrun status=3");
}

TEST(ExitGuardTest, NothingIsEndedOnceItIsGone) {
  const auto never_armed = ExitGuard::Start();
  ASSERT_NE(never_armed, nullptr);
  const auto guard = ExitGuard::Start();
  ASSERT_NE(guard, nullptr);
  guard->EndWithin(hours(1));
}

}  // namespace
}  // namespace maskd::service
