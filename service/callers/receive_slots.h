// Which unary calls may receive their message now.
//
//   slots.Take(TurnOwner(caller), [context] { context->TryCancel(); },
//              [call](absl::StatusOr<ReceiveSlots::Slot> slot) { call->Receive(slot); });
//   next_look = slots.Look();
//
// Bounds   so many at once that their largest messages fit into a bound of bytes. Few of these may
//          be younger than kFresh: more messages at work than there are processors would only keep
//          everybody else of the process waiting.
// Waiting  a call that finds no slot waits for one, up to kMaxWaiting of them for kPatience each;
//          further ones are refused. It holds no thread. Callers have their turns by work_turns.h,
//          so who makes one call waits for one call of each other caller. What a call brings is not
//          known before it is read, so a caller's turn costs what its call before has brought: who
//          sends little goes before all who send much.
// Time     passes for those who wait when somebody looks.
// Slow     who sends slowly, or never, is in nobody's way after kFresh. It has its slot for as long
//          as there are others: where one waits and all are held, calls that have had kPatience are
//          cancelled, the oldest first.
// Threads  any. A call is cancelled with the lock held: what cancels it must not come back here.
#ifndef MASKD_SERVICE_CALLERS_RECEIVE_SLOTS_H_
#define MASKD_SERVICE_CALLERS_RECEIVE_SLOTS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cache/work_turns.h"
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
  using HolderAt = std::list<Holder>::iterator;

 public:
  static constexpr std::chrono::seconds kPatience{5};
  static constexpr std::chrono::milliseconds kFresh{20};
  static constexpr int kMaxWaiting = 1'024;

  // `count` slots, of which `at_work` may be younger than kFresh. Both at least 1.
  ReceiveSlots(int count, int at_work, Clock* clock = Clock::Steady())
      : count_(count), at_work_(at_work), clock_(clock) {}

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
    Slot(ReceiveSlots* slots, HolderAt holder) : slots_(slots), holder_(holder) {}

    ReceiveSlots* slots_;
    HolderAt holder_;
  };

  // Told once, with no lock held. Errors: RESOURCE_EXHAUSTED with a retry hint.
  using Taken = std::function<void(absl::StatusOr<Slot> slot)>;

  // `owner` is whose turn the call takes. `cancel` ends the call; it is called at most once, while
  // the slot is held. `taken` is called before this returns, or later by whoever gives a slot back
  // or looks.
  void Take(const std::string& owner, std::function<void()> cancel, Taken taken)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Does what is due: gives slots to those whose turn it is, cancels who has had its time, refuses
  // who has waited in vain. When to look again; the end of time where nobody waits.
  Clock::TimePoint Look() ABSL_LOCKS_EXCLUDED(mutex_);

  // What the call of `owner` has brought: what its next turn costs.
  void Charge(const std::string& owner, std::int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Slots that are held, and all.
  [[nodiscard]] int held() const { return held_.load(std::memory_order_relaxed); }
  [[nodiscard]] int count() const { return count_; }
  // Calls that wait for one.
  [[nodiscard]] int waiting() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A call without a slot.
  struct Waiter {
    std::uint64_t id;
    Clock::TimePoint end;  // it waits until then
    std::function<void()> cancel;
    Taken taken;
  };
  // Who is to be told what, once the lock is given back.
  struct News {
    Taken taken;
    absl::StatusOr<Slot> slot;
  };
  static void Tell(std::vector<News> news);

  [[nodiscard]] std::int64_t CostOf(const std::string& owner) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] bool IsFull() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // When as few slots are fresh as may be; now or before: they are already.
  [[nodiscard]] Clock::TimePoint FreshUntil() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  HolderAt Hold(Clock::TimePoint now, std::function<void()> cancel)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveBack(HolderAt holder) ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives slots to those whose turn it is, as far as there are.
  void Share(Clock::TimePoint now, std::vector<News>* news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Cancels those who have had their time.
  void CancelLate(Clock::TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Refuse(Clock::TimePoint now, std::vector<News>* news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int count_;
  const int at_work_;
  Clock* const clock_;
  std::atomic<int> held_ = 0;  // changed with the lock held
  Mutex mutex_;
  std::list<Holder> holders_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  std::list<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  cache::WorkTurns turns_ ABSL_GUARDED_BY(mutex_);     // of the waiters
  // Of callers whose turn costs more than the least. At most kMaxCosts.
  absl::flat_hash_map<std::string, std::int64_t> costs_ ABSL_GUARDED_BY(mutex_);
  Waiter next_ ABSL_GUARDED_BY(mutex_) = {};  // whose turn it is, within Share()
  std::uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_RECEIVE_SLOTS_H_
