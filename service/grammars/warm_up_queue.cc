// Two pools of one thread each, since the two kinds of work must not wait for one another: a
// grammar may take 10 ms, and a place is of no use after its stream's next step.
//
// Who wakes whom  a compile that is done adds its grammar, and one that begins, where no other
//                 waits, wakes the grammars' thread; a step that was answered adds its places.
//                 The next step sets `over`, which ends what is made for the last one at its next
//                 mask; nobody waits for that.
// Why it waits    on one core first masks would have as much of it as compiles, for which somebody
//                 waits: tiny ones were half as many a second.
// May block       the grammars' thread waits for compiles, the places' thread sleeps kIdle before
//                 it begins. Rows may wait for what either thread holds: a mask or step that both
//                 need is made once.
// Ownership       work keeps grammars by weak references until its turn.
#include "service/grammars/warm_up_queue.h"

#include <chrono>
#include <thread>
#include <utility>

#include "cpu/thread_priority.h"
#include "grammar_core/compile/warm_up.h"

namespace maskd::service {
namespace {

constexpr std::size_t kMaxWaiting = 64;
// An engine whose next step comes sooner computes nothing, and is not to share its core.
constexpr std::chrono::microseconds kIdle{200};
// One mask can be longer; no other begins.
constexpr std::int64_t kPlaceMs = 2;

}  // namespace

WarmUpQueue::WarmUpQueue(std::int64_t wall_ms, int look_ahead_masks)
    : wall_ms_(wall_ms),
      look_ahead_masks_(look_ahead_masks),
      grammars_(wall_ms > 0 ? 1 : 0, kMaxWaiting, cache::WorkPool::WaitingChanged(),
                ThreadRole::kLongWork),
      places_(look_ahead_masks > 0 ? 1 : 0, kMaxWaiting, cache::WorkPool::WaitingChanged(),
              ThreadRole::kLongWork) {}

WarmUpQueue::~WarmUpQueue() {
  const MutexLock lock(&mutex_);
  cancelled_ = true;
  is_cut_short_ = true;
  changed_.NotifyAll();
}

void WarmUpQueue::CompilesWaitingChanged(int change) {
  const MutexLock lock(&mutex_);
  compiles_waiting_ += change;
  is_cut_short_ = cancelled_ || compiles_waiting_ > 0;
  if (compiles_waiting_ == 0) changed_.NotifyAll();
}

bool WarmUpQueue::AwaitTurn() {
  const MutexLock lock(&mutex_);
  while (compiles_waiting_ > 0 && !cancelled_) changed_.Wait(&mutex_);
  return !cancelled_;
}

void WarmUpQueue::Add(const cache::GrammarPtr& grammar) {
  if (wall_ms_ == 0) return;
  grammars_.Submit([this, waiting = std::weak_ptr(grammar)] {
    if (!AwaitTurn()) return;
    const cache::GrammarPtr held = waiting.lock();
    if (held == nullptr) return;
    WarmUp(*held, {.wall_ms = wall_ms_}, &is_cut_short_);
    if (is_cut_short_) Add(held);
  });
}

void WarmUpQueue::LookAhead(std::shared_ptr<PlacesToLookAhead> places) {
  if (!looks_ahead()) return;
  const auto begin = std::chrono::steady_clock::now() + kIdle;
  places_.Submit([this, begin, all = std::move(places)] {
    std::this_thread::sleep_until(begin);
    for (const PrefetchPlace& place : all->places) {
      if (cancelled_ || all->over) return;
      place.Prefetch({.masks = look_ahead_masks_, .wall_ms = kPlaceMs}, &all->over);
      // Else it may have been cut short, and is to be looked behind again.
      if (!all->over) ++all->finished;
    }
  });
}

}  // namespace maskd::service
