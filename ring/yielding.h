// Giving the core away between two looks for what is to come, while that pays.
//
// Why      the other side may have to run on this very core. But where a third thread computes on
//          it, the kernel gives the core back after a slice of milliseconds, whatever has come
//          meanwhile: who yields is ready to run and is not woken. Who sleeps is woken at once.
// Rule     a yield that took kLong was to such a thread: so many of the next waits sleep at once.
// Threads  one thread at a time.
#ifndef MASKD_RING_YIELDING_H_
#define MASKD_RING_YIELDING_H_

#include <chrono>

#include <sched.h>

namespace maskd::ring {

// Kept by whoever waits, from one wait to the next.
class Yielding {
 public:
  // Waits that sleep at once, until it is tried again: one slice in so many waits is lost.
  static constexpr int kSleepyWaits = 1000;
  // Longer than the other side takes for a step, and shorter than a slice.
  static constexpr std::chrono::microseconds kLong{500};

  // `yield` gives the core away.
  explicit Yielding(void (*yield)() = [] { sched_yield(); }) : yield_(yield) {}

  // Once at the begin of each wait: whether to look again and again before one sleeps.
  [[nodiscard]] bool Pays() {
    if (sleepy_waits_ == 0) return true;
    --sleepy_waits_;
    return false;
  }
  // Gives the core away once. False: rather sleep now.
  bool Yield() {
    const auto begin = std::chrono::steady_clock::now();
    yield_();
    if (std::chrono::steady_clock::now() - begin < kLong) return true;
    sleepy_waits_ = kSleepyWaits;
    return false;
  }

 private:
  void (*const yield_)();
  int sleepy_waits_ = 0;
};

}  // namespace maskd::ring

#endif  // MASKD_RING_YIELDING_H_
