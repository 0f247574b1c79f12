// A thread that stands back does so by itself, once.
#include "cpu/thread_priority.h"

#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace maskd {
namespace {

TEST(ThreadPriorityTest, AThreadStandsBackAloneAndOnce) {
  const int own = getpriority(PRIO_PROCESS, 0);
  int once = 0;
  int twice = 0;
  std::thread thread([&] {
    StandBack(3);
    once = getpriority(PRIO_PROCESS, 0);
    StandBack(3);
    twice = getpriority(PRIO_PROCESS, 0);
  });
  thread.join();
  EXPECT_EQ(once, own + 3);
  EXPECT_EQ(twice, own + 3);
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), own);
}

}  // namespace
}  // namespace maskd
