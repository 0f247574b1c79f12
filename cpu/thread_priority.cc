// Each role has a niceness and a slice.
//
// The idea   since Linux 6.12 a thread that is woken need not wait for the end of a longer slice
//            than its own. So answers have the shortest. Since 6.18 a thread that yields is charged
//            the rest of its slice. So what offers its core has short ones, too, and a niceness
//            that makes up for the charge.
// The cost   an offer that nobody takes is a system call, below 1 us.
#include "cpu/thread_priority.h"

#include <chrono>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace maskd {
namespace {

using std::chrono_literals::operator""us;

// How far long work stands back. With the charge for its offers it has a seventh of a core beside
// one busy thread.
constexpr int kLongWorkNiceness = 5;

// The shortest that Linux gives.
constexpr std::chrono::nanoseconds kAnswersSlice = 100us;
// About the time between two offers.
constexpr std::chrono::nanoseconds kLongWorkSlice = 200us;

// What the calling thread does at an offer; nullptr: nothing.
thread_local void (*offer_of_thread)() = nullptr;

// Of OfferCoreAfter(): between two offers, and spent since the last one.
constexpr std::int64_t kUnitsAnOffer = 512;
thread_local std::int64_t units_since_offer = 0;

void Yield() { sched_yield(); }

void LeaveRealTime() {
  const int policy = sched_getscheduler(0);
  const sched_param none{};
  if (policy == SCHED_FIFO || policy == SCHED_RR) sched_setscheduler(0, SCHED_OTHER, &none);
}

// Beyond the process's own, which is that of its first thread.
void TakeNiceness(int niceness) {
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, getpid()) + niceness);
}

#ifdef __linux__

// What sched_getattr(2) gives, as far as its first version goes.
struct Attributes {
  std::uint32_t size = 48;
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t niceness = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

// Since 6.12 a thread's runtime is its slice. Kernels before that take no notice of it.
void TakeSlices(std::chrono::nanoseconds slice) {
  Attributes attributes;
  static_assert(sizeof(attributes) == 48);
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.runtime = static_cast<std::uint64_t>(slice.count());
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

#else

void TakeSlices(std::chrono::nanoseconds) {}

#endif

}  // namespace

void TakeRole(ThreadRole role, void (*offer)()) {
  offer_of_thread = nullptr;
  switch (role) {
    case ThreadRole::kAnswers:
      TakeSlices(kAnswersSlice);
      break;
    case ThreadRole::kLongWork:
      offer_of_thread = offer != nullptr ? offer : &Yield;
      LeaveRealTime();
      TakeNiceness(kLongWorkNiceness);
      TakeSlices(kLongWorkSlice);
      break;
  }
}

void OfferCore() {
  if (offer_of_thread != nullptr) offer_of_thread();
}

void OfferCoreAfter(std::int64_t units) {
  if ((units_since_offer += units) < kUnitsAnOffer) return;
  units_since_offer = 0;
  OfferCore();
}

}  // namespace maskd
