// What one compile or one step may still spend: work of ours, and the caller's patience.
//
// Every loop over input-sized work calls Spend(); it looks at the cancel flag and, where the caller
// has a deadline, at the clock every few hundred units, so work stops within 10 ms of a cancel. A
// verdict of ours is of work alone: the same on every machine and under every load.
//
// Units    Limits::compile_work says what a unit is worth.
// Errors   RESOURCE_EXHAUSTED (work), DEADLINE_EXCEEDED (the caller's deadline), CANCELLED. The
//          first error sticks: later calls return it again.
// Threads  one thread spends; any thread may set the cancel flag.
#ifndef MASKD_GRAMMAR_CORE_BASE_BUDGET_H_
#define MASKD_GRAMMAR_CORE_BASE_BUDGET_H_

#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdint>

#include "absl/status/status.h"

#include "grammar_core/base/limits.h"

namespace maskd {

// Passed by reference through all that one compile or step calls, so its parts share one allowance.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  // What ends it; without a word a compile's own limit and no deadline.
  struct Bounds {
    // Units of work, and the name of the limit in the error.
    std::int64_t work = Limits().compile_work;
    const char* work_name = "compile_work";
    // The caller's own deadline.
    Clock::time_point deadline = Clock::time_point::max();
    // Set by another thread to stop the work. May be null; not owned.
    const std::atomic<bool>* cancelled = nullptr;
  };

  // Looks at neither clock nor flag yet: the first Spend() does.
  explicit Budget(const Bounds& bounds) : bounds_(bounds) {}

  // A budget that never ends, for tests and tools.
  static Budget Unlimited();

  // Takes `units` from the budget. Cheap: a subtraction, and more every few hundred units.
  absl::Status Spend(std::int64_t units = 1) {
    assert(units >= 0);
    until_check_ -= units;
    return until_check_ > 0 ? absl::OkStatus() : Check();
  }

  // Units taken so far, also those that were not there any more.
  [[nodiscard]] std::int64_t spent() const { return checked_units_ + granted_ - until_check_; }

 private:
  absl::Status Check();

  Bounds bounds_;
  std::int64_t until_check_ = 0;
  std::int64_t checked_units_ = 0;
  std::int64_t granted_ = 0;  // at the last check
  absl::Status error_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_BUDGET_H_
