// Who holds a slot is in a list by age, so the fresh ones are at its end. Who waits sleeps until
// whoever gives a slot back gives it one. The oldest of them also wakes when a fresh slot gets
// stale, or when a holder has had its time. So 1,000 who wait cost what one does, and who sends
// slowly is only ended by somebody who needs the slot.
//
// Who wakes whom  a slot that is given back wakes the one whose turn it is. The oldest that waits
//                 wakes its successor when it goes.
// May block       Take(), for at most twice kPatience.
#include "service/callers/receive_slots.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"

#include "cache/load_error.h"

namespace maskd::service {
namespace {

constexpr std::int64_t kRetryAfterMs = 1000;
// A turn costs 1 for each of these bytes, and this at most.
constexpr std::int64_t kTurnBytes = 1024;
constexpr std::int64_t kMostTurnCost = 64;
// Callers whose costs are kept: as many as can wait. Where one more comes the table is emptied.
constexpr std::size_t kMaxCosts = ReceiveSlots::kMaxWaiting;

absl::Status NoSlot(int count) {
  return cache::OverloadedError("TOO_MANY_MESSAGES",
                                absl::StrCat("limit max_receiving_bytes lets ", count,
                                             " calls send their message at once, and others wait"),
                                kRetryAfterMs);
}

}  // namespace

absl::StatusOr<ReceiveSlots::Slot> ReceiveSlots::Take(const std::string& owner,
                                                      std::function<void()> cancel) {
  const MutexLock lock(&mutex_);
  const Clock::TimePoint now = clock_->Now();
  if (waiters_.empty() && !IsFull() && FreshUntil() <= now)
    return Slot(this, Hold(now, std::move(cancel)));
  if (std::ssize(waiters_) >= kMaxWaiting) return NoSlot(count_);

  Waiter waiter{.cancel = std::move(cancel)};
  const std::uint64_t id = ++last_id_;
  const auto place = waiters_.insert(waiters_.end(), &waiter);
  turns_.Add(id, owner, CostOf(owner), [this, &waiter]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    waiter.holder = Hold(clock_->Now(), std::move(waiter.cancel));
    waiter.has_slot = true;
    waiter.changed.NotifyOne();
  });
  // Twice: a late holder is cancelled when the first has passed, and has still to go.
  WaitFor(&waiter, now + 2 * kPatience);
  const bool was_oldest = place == waiters_.begin();
  waiters_.erase(place);
  if (was_oldest && !waiters_.empty()) waiters_.front()->changed.NotifyOne();
  if (waiter.has_slot) return Slot(this, waiter.holder);
  turns_.Remove(id);
  return NoSlot(count_);
}

void ReceiveSlots::Charge(const std::string& owner, std::int64_t bytes) {
  const std::int64_t cost = std::min(bytes / kTurnBytes, kMostTurnCost);
  const MutexLock lock(&mutex_);
  if (cost <= 1) {
    costs_.erase(owner);
    return;
  }
  if (costs_.size() >= kMaxCosts) costs_.clear();
  costs_.insert_or_assign(owner, cost);
}

std::int64_t ReceiveSlots::CostOf(const std::string& owner) const {
  const auto found = costs_.find(owner);
  return found == costs_.end() ? 1 : found->second;
}

int ReceiveSlots::waiting() {
  const MutexLock lock(&mutex_);
  return static_cast<int>(waiters_.size());
}

void ReceiveSlots::WaitFor(Waiter* waiter, Clock::TimePoint end) {
  while (!waiter->has_slot) {
    const Clock::TimePoint now = clock_->Now();
    if (now >= end) return;
    if (waiters_.front() != waiter) {
      clock_->WaitUntil(&waiter->changed, &mutex_, end);
      continue;
    }
    Share(now);
    if (waiter->has_slot) return;
    clock_->WaitUntil(&waiter->changed, &mutex_, std::min(end, NextLook(now)));
  }
}

bool ReceiveSlots::IsFull() const { return std::ssize(holders_) >= count_; }

Clock::TimePoint ReceiveSlots::FreshUntil() const {
  if (std::ssize(holders_) < at_work_) return Clock::TimePoint::min();
  return std::prev(holders_.end(), at_work_)->since + kFresh;
}

ReceiveSlots::HolderAt ReceiveSlots::Hold(Clock::TimePoint now, std::function<void()> cancel) {
  ++held_;
  return holders_.insert(holders_.end(), {now, std::move(cancel)});
}

void ReceiveSlots::Share(Clock::TimePoint now) {
  while (!turns_.empty() && !IsFull() && FreshUntil() <= now) turns_.Take()();
}

Clock::TimePoint ReceiveSlots::NextLook(Clock::TimePoint now) {
  if (!IsFull()) return FreshUntil();
  for (Holder& holder : holders_) {
    if (holder.cancel == nullptr) continue;
    if (holder.since + kPatience > now) return holder.since + kPatience;
    // Once: it gives the slot back by itself when its call has ended.
    std::exchange(holder.cancel, nullptr)();
  }
  return now + kPatience;
}

void ReceiveSlots::GiveBack(HolderAt holder) {
  const MutexLock lock(&mutex_);
  holders_.erase(holder);
  --held_;
  Share(clock_->Now());
}

}  // namespace maskd::service
