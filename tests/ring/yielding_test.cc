// Who gives way to a thread that computes for long does not do it again at once.
#include "ring/yielding.h"

#include <thread>

#include <gtest/gtest.h>

namespace maskd::ring {
namespace {

void ToNobody() {}
void ToABusyThread() { std::this_thread::sleep_for(Yielding::kLong); }

TEST(YieldingTest, PaysWhereTheCoreComesBackSoon) {
  Yielding yielding(&ToNobody);
  EXPECT_TRUE(yielding.Pays());
  const bool was_soon = yielding.Yield();  // on a busy machine the core may be taken even so
  EXPECT_EQ(yielding.Pays(), was_soon);
}

TEST(YieldingTest, DoesNotPayForAWhileWhereTheCoreComesBackLate) {
  Yielding yielding(&ToABusyThread);
  EXPECT_TRUE(yielding.Pays());
  EXPECT_FALSE(yielding.Yield());
  for (int i = 0; i < Yielding::kSleepyWaits; ++i) ASSERT_FALSE(yielding.Pays()) << i;
  EXPECT_TRUE(yielding.Pays()) << "the other thread may have gone";
}

}  // namespace
}  // namespace maskd::ring
