// A generation is replaced, never emptied: rows hold its states by number, and a table that were
// cleared under them would need a lock at each step. So the line of automatons is a list of owners:
// this one owns the current automaton, each row its own, and the oldest goes when its last row has
// moved on.
//
// Invariant  current_ is the newest that was made to be shared; every automaton that somebody may
//            still hold is in made_, or had expired when the last one was made.
// Cost       a renewal makes an empty automaton over the same tables; what rows take along is
//            copied by them, each at its next call.
#include "grammar_core/rows/generations.h"

#include <atomic>
#include <cassert>
#include <limits>
#include <utility>

#include "grammar_core/automaton/automaton_size.h"

namespace maskd {
namespace {

std::atomic<std::int64_t> total_renewals = 0;

}  // namespace

Generations::Generations(std::shared_ptr<const GrammarTables> tables, MaskStore* masks,
                         const Limits& limits)
    : tables_(std::move(tables)),
      masks_(masks),
      limits_(limits),
      full_bytes_(std::numeric_limits<std::int64_t>::max() / 2) {}

void Generations::EndCompile() {
  const std::shared_ptr<MaskedAutomaton> first = Current();
  const MutexLock lock(&mutex_);
  // What the compile made comes on top: a grammar that is large by itself must not be full at once,
  // or every call would begin a new automaton.
  full_bytes_ = AutomatonSize(*first).held_bytes() + AutomatonSize(*first).mask_bytes() +
                limits_.generation_bytes;
  AutomatonSize(*first).set_full_bytes(full_bytes_);
}

std::shared_ptr<MaskedAutomaton> Generations::Make() {
  auto made = std::make_shared<MaskedAutomaton>(tables_, masks_, limits_, full_bytes_);
  assert(full_bytes_ > 0 && "an automaton that is full when it is made is replaced without end");
  std::erase_if(made_, [](const std::weak_ptr<MaskedAutomaton>& one) { return one.expired(); });
  made_.push_back(made);
  return made;
}

void Generations::CountRenewal() {
  ++renewals_;
  total_renewals.fetch_add(1, std::memory_order_relaxed);
}

std::int64_t Generations::TotalRenewals() { return total_renewals.load(std::memory_order_relaxed); }

std::shared_ptr<MaskedAutomaton> Generations::Current() {
  std::shared_ptr<MaskedAutomaton> old;  // freed outside of the lock, where nobody else holds it
  const MutexLock lock(&mutex_);
  if (current_ != nullptr && !current_->full()) return current_;
  if (current_ != nullptr) CountRenewal();
  old = std::exchange(current_, Make());
  return current_;
}

std::shared_ptr<MaskedAutomaton> Generations::MakeApart() {
  const MutexLock lock(&mutex_);
  return Make();
}

void Generations::Drop() {
  std::shared_ptr<MaskedAutomaton> old;
  const MutexLock lock(&mutex_);
  if (current_ == nullptr) return;
  AutomatonSize(*current_).Retire();
  old = std::exchange(current_, nullptr);
  CountRenewal();
}

Generations::Held Generations::held() const {
  Held held;
  std::vector<std::shared_ptr<MaskedAutomaton>> alive;
  {
    const MutexLock lock(&mutex_);
    held.renewals = renewals_;
    for (const std::weak_ptr<MaskedAutomaton>& one : made_) alive.push_back(one.lock());
  }
  // Outside of the lock: the last owner of one may be this list, and freeing takes long.
  for (const std::shared_ptr<MaskedAutomaton>& automaton : alive) {
    if (automaton == nullptr) continue;
    ++held.automatons;
    held.terms += AutomatonSize(*automaton).terms();
    held.bytes += AutomatonSize(*automaton).held_bytes();
    held.mask_bytes += AutomatonSize(*automaton).mask_bytes();
  }
  return held;
}

}  // namespace maskd
