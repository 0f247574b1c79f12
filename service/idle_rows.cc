// A counter of the process tells that some grammar was renewed. Which one is not asked: a stream
// looks at its rows in less time than a list of who holds what would take to keep.
//
// Who wakes whom  a stream that has answered a step calls RestAfterRenewals(); the pool's thread
//                 then calls each stream, which rests its rows unless a step has them
//                 (session_turns.h).
// May block       the pool's thread alone, on the lock of the list. A stream that ends waits for
// it.
#include "service/idle_rows.h"

#include <utility>

#include "grammar_core/compile/compiled_grammar.h"

namespace maskd::service {

IdleRows::Registration::Registration(IdleRows* owner, std::function<void()> rest) : owner_(owner) {
  const MutexLock lock(&owner_->mutex_);
  owner_->streams_.push_front(std::move(rest));
  at_ = owner_->streams_.begin();
}

IdleRows::Registration::~Registration() {
  const MutexLock lock(&owner_->mutex_);
  owner_->streams_.erase(at_);
}

void IdleRows::RestAfterRenewals() {
  const std::int64_t renewals = CompiledGrammar::TotalRenewals();
  if (renewals_seen_.exchange(renewals, std::memory_order_relaxed) == renewals) return;
  // One that waits already will see this renewal, too.
  pool_.Submit([this] { RestAll(); });
}

void IdleRows::RestAll() {
  const MutexLock lock(&mutex_);
  for (const std::function<void()>& rest : streams_) rest();
}

}  // namespace maskd::service
