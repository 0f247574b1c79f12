// A thread that stands back does so by itself, once.
#include "cpu/thread_priority.h"

#include <array>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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

// The slice of the calling thread in nanoseconds; 0 where the kernel does not tell. As in
// sched_getattr(2): the fields before it have 24 bytes, those up to its end 48.
std::uint64_t SliceOfThread() {
  std::array<std::uint64_t, 6> attributes = {48};
  if (syscall(SYS_sched_getattr, 0, attributes.data(), 48, 0) != 0) return 0;
  return attributes[3];
}

TEST(ThreadPriorityTest, AThreadThatStandsBackHasLongerSlices) {
  const std::uint64_t own = SliceOfThread();
  if (own == 0) GTEST_SKIP() << "a kernel before 6.12, or another policy";
  std::uint64_t slice = 0;
  std::thread thread([&] {
    StandBack();
    slice = SliceOfThread();
  });
  thread.join();
  EXPECT_EQ(slice, 4'000'000);
  EXPECT_LT(own, slice);
  EXPECT_EQ(SliceOfThread(), own);
}

}  // namespace
}  // namespace maskd
