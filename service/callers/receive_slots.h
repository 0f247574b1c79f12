// Which unary calls may receive their message now: so many at once that their largest messages fit
// into a bound of bytes.
//
//   absl::StatusOr<ReceiveSlots::Slot> slot = slots.Take([context] { context->TryCancel(); });
//
// Waiting  a call that finds no slot waits for one, up to kMaxWaiting of them for kPatience each;
//          further ones are refused. While one waits, calls that have had kPatience to send their
//          message are cancelled, the oldest first: who sends slowly, or never, has a slot for as
//          long as nobody else wants it.
// Threads  any. A call is cancelled with the lock held: what cancels it must not come back here.
#ifndef MASKD_SERVICE_CALLERS_RECEIVE_SLOTS_H_
#define MASKD_SERVICE_CALLERS_RECEIVE_SLOTS_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"

namespace maskd::service {

// The slots, who holds one and who waits.
class ReceiveSlots {
 private:
  struct Holder {
    Clock::TimePoint since;
    std::function<void()> cancel;  // none: it was called
  };

 public:
  static constexpr std::chrono::seconds kPatience{5};
  static constexpr int kMaxWaiting = 1'024;

  // `count` at least 1.
  explicit ReceiveSlots(int count, Clock* clock = Clock::Steady()) : count_(count), clock_(clock) {}

  // Given back when it is destroyed.
  class Slot {
   public:
    // A slot is held by one.
    Slot(Slot&& other) noexcept
        : slots_(std::exchange(other.slots_, nullptr)), holder_(other.holder_) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (slots_ != nullptr) slots_->GiveBack(holder_);
    }

   private:
    friend class ReceiveSlots;
    Slot(ReceiveSlots* slots, std::list<Holder>::iterator holder)
        : slots_(slots), holder_(holder) {}

    ReceiveSlots* slots_;
    std::list<Holder>::iterator holder_;
  };

  // `cancel` ends the call; it is called at most once, while the slot is held. Errors:
  // RESOURCE_EXHAUSTED with a retry hint.
  absl::StatusOr<Slot> Take(std::function<void()> cancel) ABSL_LOCKS_EXCLUDED(mutex_);

  // Slots that are held, and all.
  [[nodiscard]] int held() const { return held_.load(std::memory_order_relaxed); }
  [[nodiscard]] int count() const { return count_; }

 private:
  void GiveBack(std::list<Holder>::iterator holder) ABSL_LOCKS_EXCLUDED(mutex_);
  // Cancels whoever has had its time and says when the next one will have had it.
  Clock::TimePoint CancelLate(Clock::TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int count_;
  Clock* const clock_;
  std::atomic<int> held_ = 0;  // changed with the lock held
  Mutex mutex_;
  CondVar given_back_;
  std::list<Holder> holders_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_RECEIVE_SLOTS_H_
