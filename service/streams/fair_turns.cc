// Virtual time is the work that the thread has done for whoever has had least. An owner's tag is
// where its next event would start; it moves on by what is expected when the event is added, and is
// set right by what it took when it is done. The heap has the events by expected end.
//
// Why ends  by starts alone a stream of 200 us steps and one of 5 us steps that come together take
//           turns; by ends the short one goes first and the long one loses 5 us.
// Invariant  now_ never goes back, so an owner who was idle begins at now_ and has no credit for
//            it.
// Cost       a push and a pop of a heap of those that wait.
#include "service/streams/fair_turns.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace maskd::service {

bool FairTurns::IsLater(const Waiting& a, const Waiting& b) {
  return std::tie(a.end, a.number) > std::tie(b.end, b.number);
}

// The owner's tag goes on by what is expected, so that a second event of it waits behind the first.
void FairTurns::Add(Event event) {
  Duration start = now_;
  Duration end = now_;
  if (Share* const owner = event.owner.get(); owner != nullptr) {
    start = std::max(now_, owner->end);
    end = owner->end = start + owner->expected;
    // Events of one owner keep their order, even if less is expected of the later one.
    if (owner->waiting++ > 0) end = std::max(end, owner->last);
    owner->last = end;
  }
  const Duration expected = event.owner == nullptr ? Duration::zero() : event.owner->expected;
  waiting_.push_back({start, end, expected, ++number_, std::move(event)});
  std::ranges::push_heap(waiting_, IsLater);
}

FairTurns::Event FairTurns::Next() {
  std::ranges::pop_heap(waiting_, IsLater);
  Waiting next = std::move(waiting_.back());
  waiting_.pop_back();
  now_ = std::max(now_, next.start);
  if (Share* const owner = next.event.owner.get(); owner != nullptr) {
    owner->end -= next.expected;  // until it is known what it took
    --owner->waiting;
  }
  return std::move(next.event);
}

void FairTurns::Spend(const Event& event, Duration spent) {
  constexpr int kFall = 8;
  if (event.owner == nullptr) return;
  Share& owner = *event.owner;
  owner.end += spent;
  // Rises at once and falls slowly: one long step of a stream is not forgotten by a short one.
  owner.expected = std::max(spent, owner.expected - owner.expected / kFall);
}

}  // namespace maskd::service
