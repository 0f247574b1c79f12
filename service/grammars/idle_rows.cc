// A counter of the process tells that some grammar was renewed. Which one is not asked: a stream
// looks at its rows in less time than a list of who holds what would take to keep.
//
// Who wakes whom  a stream that has answered a step calls RestAfterRenewals(); the pool's thread
//                 then calls each stream, which rests its rows unless a step has them
//                 (session_turns.h).
// May block       the pool's thread, or whoever calls RestAll(), on a stream's own lock. The list's
//                 lock is held to copy the list, so streams come and go while rows are moved, which
//                 takes up to a second where there are many.
#include "service/grammars/idle_rows.h"

#include <utility>
#include <vector>

#include "grammar_core/compile/compiled_grammar.h"

namespace maskd::service {

IdleRows::Registration::Registration(IdleRows* owner, std::function<void()> rest) : owner_(owner) {
  auto stream = std::make_shared<Stream>();
  {
    const MutexLock lock(&stream->mutex);
    stream->rest = std::move(rest);
  }
  const MutexLock lock(&owner_->mutex_);
  owner_->streams_.push_front(std::move(stream));
  at_ = owner_->streams_.begin();
}

IdleRows::Registration::~Registration() {
  const std::shared_ptr<Stream> stream = *at_;
  {
    const MutexLock lock(&owner_->mutex_);
    owner_->streams_.erase(at_);
  }
  const MutexLock lock(&stream->mutex);
  stream->rest = nullptr;  // RestAll() may have it still
}

void IdleRows::RestAfterRenewals() {
  const std::int64_t renewals = CompiledGrammar::TotalRenewals();
  if (renewals_seen_.exchange(renewals, std::memory_order_relaxed) != renewals) RestSoon();
}

// A job that waits already will see what made this one wanted, too.
void IdleRows::RestSoon() {
  pool_.Submit([this] { RestAll(); });
}

void IdleRows::RestAll() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const MutexLock lock(&mutex_);
    streams.assign(streams_.begin(), streams_.end());
  }
  for (const std::shared_ptr<Stream>& stream : streams) {
    const MutexLock lock(&stream->mutex);
    if (stream->rest != nullptr) stream->rest();
  }
}

}  // namespace maskd::service
