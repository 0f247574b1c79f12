#include "grammar_core/base/budget.h"

#include <algorithm>

#include "grammar_core/base/error.h"
#include "grammar_core/base/memory_reserve.h"

namespace maskd {
namespace {

// Units between two looks at the clock; a unit is far below a microsecond on average.
constexpr std::int64_t kUnitsPerCheck = 512;

}  // namespace

Budget Budget::Unlimited() {
  Bounds bounds;
  bounds.work = INT64_MAX / 2;
  bounds.wall_ms = std::chrono::milliseconds(std::chrono::hours(24 * 365)).count();
  return Budget(bounds);
}

absl::Status Budget::Check() {
  if (!error_.ok()) return error_;
  const Clock::time_point now = Clock::now();
  if (granted_ == 0) wall_end_ = now + std::chrono::milliseconds(bounds_.wall_ms);
  checked_units_ += granted_ - until_check_;
  if (checked_units_ > bounds_.work) {
    error_ = LimitExceeded("", bounds_.work_name, bounds_.work, checked_units_);
  } else if (bounds_.cancelled != nullptr && bounds_.cancelled->load(std::memory_order_relaxed)) {
    error_ = ErrorAt(absl::StatusCode::kCancelled, "", "CANCELLED", "the caller cancelled");
  } else if (IsOutOfMemory()) {
    error_ = OutOfMemoryError();
  } else if (now >= bounds_.deadline) {
    error_ = ErrorAt(absl::StatusCode::kDeadlineExceeded, "", "DEADLINE", "the deadline passed");
  } else if (now >= wall_end_) {
    error_ = LimitExceeded("", bounds_.wall_name, bounds_.wall_ms, bounds_.wall_ms + 1);
  }
  const std::int64_t left = std::max(std::int64_t{1}, bounds_.work - checked_units_);
  until_check_ = error_.ok() ? std::min(kUnitsPerCheck, left) : 0;
  granted_ = until_check_;
  return error_;
}

}  // namespace maskd
