// Two pools of one thread each, since the two kinds of work must not wait for one another: a
// grammar may take 10 ms, and a place is of no use after its stream's next step.
//
// Who wakes whom  a compile that is done adds its grammar; a step that was answered adds its
// places.
//                 The next step sets `over`, which ends what is made for the last one at its next
//                 mask; nobody waits for that.
// May block       the places' thread sleeps kIdle before it begins. Rows may wait for what either
//                 thread holds: a mask or step that both need is made once.
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

WarmUpQueue::~WarmUpQueue() { cancelled_ = true; }

void WarmUpQueue::Add(const cache::GrammarPtr& grammar) {
  if (wall_ms_ == 0) return;
  grammars_.Submit([this, waiting = std::weak_ptr(grammar)] {
    const cache::GrammarPtr held = waiting.lock();
    if (held != nullptr) WarmUp(*held, {.wall_ms = wall_ms_}, &cancelled_);
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
