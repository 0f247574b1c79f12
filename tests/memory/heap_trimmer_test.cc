#include "memory/heap_trimmer.h"

#include <gtest/gtest.h>

namespace maskd::memory {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kFloor = 256 << 20;
constexpr std::int64_t kMuch = std::int64_t{1} << 30;

class HeapTrimmerTest : public testing::Test {
 protected:
  // How often it trims while so much is unused for `time`.
  int TrimsIn(milliseconds time, std::int64_t unused) {
    int trims = 0;
    for (const auto end = now_ + time; now_ < end; now_ += milliseconds(100))
      trims += trimmer_.Look(now_, unused);
    return trims;
  }

  HeapTrimmer trimmer_{kFloor};
  Clock::TimePoint now_{std::chrono::hours(1)};
};

TEST_F(HeapTrimmerTest, WhatStaysUnusedGoesWithinSeconds) {
  EXPECT_EQ(TrimsIn(milliseconds(1900), kMuch), 0);
  EXPECT_EQ(TrimsIn(milliseconds(1100), kMuch), 1);
}

TEST_F(HeapTrimmerTest, WhatIsUsedAgainStays) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(TrimsIn(milliseconds(1500), kMuch), 0);
    EXPECT_EQ(TrimsIn(milliseconds(200), kFloor / 2), 0);
  }
}

TEST_F(HeapTrimmerTest, TheFloorStays) { EXPECT_EQ(TrimsIn(milliseconds(60'000), kFloor), 0); }

}  // namespace
}  // namespace maskd::memory
