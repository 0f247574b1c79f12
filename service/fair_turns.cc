#include "service/fair_turns.h"

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
  owner.expected = std::max(spent, owner.expected - owner.expected / kFall);
}

}  // namespace maskd::service
