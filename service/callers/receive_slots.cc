// Who holds a slot is in a list by age, so the fresh ones are at its end. Whoever gives a slot back
// gives it to the one whose turn it is. What time brings is seen by Look(), which the thread of the
// calls' queue calls between two events. So 1,000 who wait cost what one does, and who sends slowly
// is only ended by somebody who needs the slot.
//
// Invariant  a waiter is in waiters_ and in turns_, or in neither.
// May block  nothing.
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

void ReceiveSlots::Take(const std::string& owner, std::function<void()> cancel, Taken taken) {
  std::vector<News> news;
  {
    const MutexLock lock(&mutex_);
    const Clock::TimePoint now = clock_->Now();
    if (waiters_.empty() && !IsFull() && FreshUntil() <= now) {
      news.push_back({std::move(taken), Slot(this, Hold(now, std::move(cancel)))});
    } else if (std::ssize(waiters_) >= kMaxWaiting) {
      news.push_back({std::move(taken), NoSlot(count_)});
    } else {
      // Twice: a late holder is cancelled when the first has passed, and has still to go.
      waiters_.push_back({++last_id_, now + 2 * kPatience, std::move(cancel), std::move(taken)});
      const auto place = std::prev(waiters_.end());
      turns_.Add(last_id_, owner, CostOf(owner), [this, place]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        next_ = std::move(*place);
        waiters_.erase(place);
      });
      Share(now, &news);
    }
  }
  Tell(std::move(news));
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

Clock::TimePoint ReceiveSlots::Look() {
  std::vector<News> news;
  Clock::TimePoint next = Clock::TimePoint::max();
  {
    const MutexLock lock(&mutex_);
    const Clock::TimePoint now = clock_->Now();
    Share(now, &news);
    Refuse(now, &news);
    // A slot that is given back may make room at any time, for a call that is not fresh by then.
    if (!waiters_.empty()) next = std::min(now + kFresh, waiters_.front().end);
    if (!waiters_.empty() && IsFull()) CancelLate(now);
    if (!waiters_.empty() && !IsFull()) next = std::min(next, FreshUntil());
  }
  Tell(std::move(news));
  return next;
}

void ReceiveSlots::Tell(std::vector<News> news) {
  for (News& each : news) each.taken(std::move(each.slot));
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

void ReceiveSlots::Share(Clock::TimePoint now, std::vector<News>* news) {
  while (!turns_.empty() && !IsFull() && FreshUntil() <= now) {
    turns_.Take()();
    news->push_back({std::move(next_.taken), Slot(this, Hold(now, std::move(next_.cancel)))});
  }
}

void ReceiveSlots::Refuse(Clock::TimePoint now, std::vector<News>* news) {
  while (!waiters_.empty() && waiters_.front().end <= now) {
    turns_.Remove(waiters_.front().id);
    news->push_back({std::move(waiters_.front().taken), NoSlot(count_)});
    waiters_.pop_front();
  }
}

void ReceiveSlots::CancelLate(Clock::TimePoint now) {
  for (Holder& holder : holders_) {
    if (holder.cancel == nullptr) continue;
    if (holder.since + kPatience > now) return;
    // Once: it gives the slot back by itself when its call has ended.
    std::exchange(holder.cancel, nullptr)();
  }
}

void ReceiveSlots::GiveBack(HolderAt holder) {
  std::vector<News> news;
  {
    const MutexLock lock(&mutex_);
    holders_.erase(holder);
    --held_;
    Share(clock_->Now(), &news);
  }
  Tell(std::move(news));
}

}  // namespace maskd::service
