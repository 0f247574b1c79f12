#include "grammar_core/base/budget.h"

#include <algorithm>

#include "cpu/thread_priority.h"
#include "grammar_core/base/error.h"
#include "grammar_core/base/memory_reserve.h"

namespace maskd {
namespace {

// Units between two looks at the caller's flag and clock, and two offers of a core.
constexpr std::int64_t kUnitsPerCheck = 512;

}  // namespace

Budget Budget::Unlimited() {
  Bounds bounds;
  bounds.work = INT64_MAX / 2;
  return Budget(bounds);
}

absl::Status Budget::Check() {
  if (!error_.ok()) return error_;
  OfferCore();
  checked_units_ += granted_ - until_check_;
  if (checked_units_ > bounds_.work)
    error_ = LimitExceeded("", bounds_.work_name, bounds_.work, checked_units_);
  else if (bounds_.cancelled != nullptr && bounds_.cancelled->load(std::memory_order_relaxed))
    error_ = ErrorAt(absl::StatusCode::kCancelled, "", "CANCELLED", "the caller cancelled");
  else if (IsOutOfMemory())
    error_ = OutOfMemoryError();
  else if (bounds_.deadline != Clock::time_point::max() && Clock::now() >= bounds_.deadline)
    error_ = ErrorAt(absl::StatusCode::kDeadlineExceeded, "", "DEADLINE", "the deadline passed");
  const std::int64_t left = std::max(std::int64_t{1}, bounds_.work - checked_units_);
  until_check_ = error_.ok() ? std::min(kUnitsPerCheck, left) : 0;
  granted_ = until_check_;
  return error_;
}

}  // namespace maskd
