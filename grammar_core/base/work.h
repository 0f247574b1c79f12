// The budget of one compile or step on its way through the automaton, with the first error it met.
//
// Functions that take a Work return a meaningless result once ok() is false, and keep nothing of
// it.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_BASE_WORK_H_
#define MASKD_GRAMMAR_CORE_BASE_WORK_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"

#include "grammar_core/base/budget.h"

namespace maskd {

// UNAVAILABLE: see NewMasks.
inline absl::Status NotMadeYet() { return absl::UnavailableError("the mask is not made yet"); }
// The error of a call that would make an automaton hold more than it may: `limit_name` of Limits.
// The same call may succeed in an empty automaton.
absl::Status AutomatonFull(const char* limit_name, std::int64_t limit, std::int64_t needed);
bool IsAutomatonFull(const absl::Status& status);

// What becomes of a mask that is not there yet.
enum class NewMasks : std::uint8_t {
  kMade,
  kNarrowed,  // made from one that is there, by the bounds of a row; UNAVAILABLE of a state
  kRefused,   // UNAVAILABLE, at once: for a caller who may not take long
};

// Passed down by reference; a function says by it that its result may be meaningless.
class Work {
 public:
  // `budget` must outlive this.
  explicit Work(Budget& budget, NewMasks new_masks = NewMasks::kMade)
      : budget_(&budget), new_masks_(new_masks) {}

  // The first error stays and is the one that the caller reports.
  [[nodiscard]] bool ok() const { return error_.ok(); }
  [[nodiscard]] const absl::Status& error() const { return error_; }

  // Takes `units` of the budget; false, for good, when it is spent.
  bool Spend(std::int64_t units = 1) {
    if (!error_.ok()) return false;
    error_ = budget_->Spend(units);
    return error_.ok();
  }

  // Whether a mask may be made; where not, that is the error.
  bool MayMakeMask() {
    if (new_masks_ != NewMasks::kMade) Fail(NotMadeYet());
    return error_.ok();
  }

  // Says that the work failed. A later error is dropped.
  void Fail(absl::Status error) {
    if (error_.ok()) error_ = std::move(error);
  }

 private:
  Budget* budget_;
  NewMasks new_masks_;
  absl::Status error_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_WORK_H_
