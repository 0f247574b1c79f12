// Who holds a slot is in a list by age; who waits sleeps until the oldest has had its time, cancels
// it, and sleeps again until one is given back. So somebody who sends slowly is only ended by
// somebody who needs the slot.
//
// Who wakes whom  a slot that is given back wakes one who waits.
// May block       Take(), for at most twice kPatience.
#include "service/callers/receive_slots.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"

#include "cache/load_error.h"

namespace maskd::service {
namespace {

constexpr std::int64_t kRetryAfterMs = 1000;

absl::Status NoSlot(int count) {
  return cache::OverloadedError("TOO_MANY_MESSAGES",
                                absl::StrCat("limit max_receiving_bytes lets ", count,
                                             " calls send their message at once, and others wait"),
                                kRetryAfterMs);
}

}  // namespace

absl::StatusOr<ReceiveSlots::Slot> ReceiveSlots::Take(std::function<void()> cancel) {
  const MutexLock lock(&mutex_);
  if (std::ssize(holders_) >= count_ && waiting_ >= kMaxWaiting) return NoSlot(count_);
  ++waiting_;
  // Twice: a late holder is cancelled when the first has passed, and has still to go.
  const Clock::TimePoint end = clock_->Now() + 2 * kPatience;
  while (std::ssize(holders_) >= count_) {
    const Clock::TimePoint now = clock_->Now();
    if (now >= end) break;
    clock_->WaitUntil(&given_back_, &mutex_, std::min(end, CancelLate(now)));
  }
  --waiting_;
  if (std::ssize(holders_) >= count_) return NoSlot(count_);
  holders_.push_back({clock_->Now(), std::move(cancel)});
  ++held_;
  return Slot(this, std::prev(holders_.end()));
}

Clock::TimePoint ReceiveSlots::CancelLate(Clock::TimePoint now) {
  for (Holder& holder : holders_) {
    if (holder.cancel == nullptr) continue;
    if (holder.since + kPatience > now) return holder.since + kPatience;
    // Once: it gives the slot back by itself when its call has ended.
    std::exchange(holder.cancel, nullptr)();
  }
  return now + kPatience;
}

void ReceiveSlots::GiveBack(std::list<Holder>::iterator holder) {
  const MutexLock lock(&mutex_);
  holders_.erase(holder);
  --held_;
  given_back_.NotifyOne();
}

}  // namespace maskd::service
