#include "bench/makespan.h"

#include <vector>

#include <gtest/gtest.h>

namespace maskd::bench {
namespace {

std::vector<LoopItem> Apart(std::initializer_list<double> micros) {
  std::vector<LoopItem> items;
  for (const double each : micros) items.push_back({each, items.size()});
  return items;
}

TEST(MakespanTest, OneThreadDoesOneItemAfterTheOther) {
  EXPECT_EQ(Makespan(Apart({3, 4, 5}), 1, 7, 7), 12);
  EXPECT_EQ(Makespan({}, 1, 7, 7), 0);
}

TEST(MakespanTest, AFreeThreadTakesItsNextItemOrAnothers) {
  EXPECT_EQ(Makespan(Apart({6, 1, 1, 1, 1}), 2, 0, 0), 6);  // the second takes the first one's 1
  EXPECT_EQ(Makespan(Apart({1, 1, 6, 1}), 2, 0, 0), 6);     // and the first one the last 1
  EXPECT_EQ(Makespan(Apart({2, 2, 2}), 8, 0, 0), 2);
}

TEST(MakespanTest, ItemsOfOneLockNeverRunAtOnce) {
  const std::vector<LoopItem> one_lock = {{2, 1}, {2, 1}, {2, 1}};
  EXPECT_EQ(Makespan(one_lock, 8, 0, 0), 6);
  // The second thread begins with the second item, which waits, and takes nothing else meanwhile.
  const std::vector<LoopItem> two_locks = {{4, 1}, {1, 1}, {3, 2}};
  EXPECT_EQ(Makespan(two_locks, 2, 0, 0), 7);
}

TEST(MakespanTest, HelpersAreCalledAndWakeUp) {
  EXPECT_EQ(Makespan(Apart({10}), 3, 1, 5), 12);          // by the caller, after two calls
  EXPECT_EQ(Makespan(Apart({10, 10, 10}), 3, 1, 5), 17);  // the second helper: 2 + 5 + 10
}

}  // namespace
}  // namespace maskd::bench
