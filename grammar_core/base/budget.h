// What one compile or one step may still spend: work, wall time, and the caller's patience.
//
// Every loop over input-sized work calls Spend(); it looks at the clock and the cancel flag every
// few hundred units, so work stops within 10 ms of a cancel. Wall time counts from the first unit,
// so a budget of which nothing is spent costs no look at the clock.
//
// Errors   RESOURCE_EXHAUSTED (work or wall time of the limits), DEADLINE_EXCEEDED (the caller's
//          deadline), CANCELLED. The first error sticks: later calls return it again.
// Threads  one thread spends; any thread may set the cancel flag.
#ifndef MASKD_GRAMMAR_CORE_BASE_BUDGET_H_
#define MASKD_GRAMMAR_CORE_BASE_BUDGET_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/status/status.h"

namespace maskd {

class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  struct Bounds {
    // Units of work; one unit is roughly one derivative, one trie node batch or one schema node.
    std::int64_t work = 50'000'000;
    const char* work_name = "compile_work";
    // The bound of ours on wall time, and its name in the error.
    std::int64_t wall_ms = 2'000;
    const char* wall_name = "compile_ms";
    // The caller's own deadline.
    Clock::time_point deadline = Clock::time_point::max();
    // Set by another thread to stop the work. May be null; not owned.
    const std::atomic<bool>* cancelled = nullptr;
  };

  explicit Budget(const Bounds& bounds) : bounds_(bounds) {}

  // A budget that never ends, for tests and tools.
  static Budget Unlimited();

  // Takes `units` from the budget. Cheap: a subtraction but for every few hundredth unit.
  absl::Status Spend(std::int64_t units = 1) {
    until_check_ -= units;
    return until_check_ > 0 ? absl::OkStatus() : Check();
  }

 private:
  absl::Status Check();

  Bounds bounds_;
  Clock::time_point wall_end_;  // set by the first check
  std::int64_t until_check_ = 0;
  std::int64_t checked_units_ = 0;
  std::int64_t granted_ = 0;  // 0: nothing has been spent
  absl::Status error_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_BUDGET_H_
