// A thread takes its role by itself; only those of long work offer their core.
#include "cpu/thread_priority.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace maskd {
namespace {

int NicenessOfThread() { return getpriority(PRIO_PROCESS, 0); }

// The slice of the calling thread in nanoseconds; 0 where the kernel does not tell. As in
// sched_getattr(2): the fields before it have 24 bytes, those up to its end 48.
std::uint64_t SliceOfThread() {
  std::array<std::uint64_t, 6> attributes = {48};
  if (syscall(SYS_sched_getattr, 0, attributes.data(), 48, 0) != 0) return 0;
  return attributes[3];
}

// Another thread's, once it has each of these roles.
template <typename Value>
Value After(std::initializer_list<ThreadRole> roles, Value (*read)()) {
  Value value{};
  std::thread([&] {
    for (const ThreadRole role : roles) TakeRole(role);
    value = read();
  }).join();
  return value;
}

TEST(ThreadPriorityTest, AThreadStandsBackAloneAndOnce) {
  using enum ThreadRole;
  const int own = NicenessOfThread();
  EXPECT_EQ(After({kAnswers}, &NicenessOfThread), own);
  EXPECT_EQ(After({kLongWork}, &NicenessOfThread), own + 5);
  EXPECT_EQ(After({kLongWork, kLongWork}, &NicenessOfThread), own + 5);
  EXPECT_EQ(NicenessOfThread(), own);
}

TEST(ThreadPriorityTest, WhoAnswersHasTheShortestSlices) {
  using enum ThreadRole;
  const std::uint64_t own = SliceOfThread();
  if (own == 0) GTEST_SKIP() << "a kernel before 6.12, or another policy";
  EXPECT_EQ(After({kAnswers}, &SliceOfThread), 100'000);
  EXPECT_EQ(After({kLongWork}, &SliceOfThread), 200'000);
  EXPECT_EQ(After({kLongWork, kAnswers}, &SliceOfThread), 100'000);
  EXPECT_EQ(SliceOfThread(), own);
}

thread_local int offers = 0;

int OffersAs(ThreadRole role) {
  int counted = 0;
  std::thread([&] {
    TakeRole(role, [] { ++offers; });
    for (int i = 0; i < 3; ++i) OfferCore();
    counted = offers;
  }).join();
  return counted;
}

TEST(ThreadPriorityTest, LongWorkAloneOffersItsCore) {
  EXPECT_EQ(OffersAs(ThreadRole::kAnswers), 0);
  EXPECT_EQ(OffersAs(ThreadRole::kLongWork), 3);
}

TEST(ThreadPriorityTest, SmallPiecesOfWorkAreOneOfferInSoManyUnits) {
  int counted = 0;
  std::thread([&] {
    TakeRole(ThreadRole::kLongWork, [] { ++offers; });
    for (int i = 0; i < 5'120; ++i) OfferCoreAfter(1);
    OfferCoreAfter(100'000);
    counted = offers;
  }).join();
  EXPECT_EQ(counted, 11);
}

TEST(ThreadPriorityTest, AThreadThatLeavesLongWorkOffersNoMore) {
  int counted = -1;
  std::thread([&] {
    TakeRole(ThreadRole::kLongWork, [] { ++offers; });
    OfferCore();
    TakeRole(ThreadRole::kAnswers);
    OfferCore();
    counted = offers;
  }).join();
  EXPECT_EQ(counted, 1);
}

TEST(ThreadPriorityTest, LongWorkIsNotRealTime) {
  int policy = -1;
  bool is_allowed = false;
  std::thread([&] {
    const sched_param first{.sched_priority = 1};
    is_allowed = sched_setscheduler(0, SCHED_FIFO, &first) == 0;
    TakeRole(ThreadRole::kLongWork);
    policy = sched_getscheduler(0);
  }).join();
  if (!is_allowed) GTEST_SKIP() << "real-time priorities are not allowed here";
  EXPECT_EQ(policy, SCHED_OTHER);
}

}  // namespace
}  // namespace maskd
