// A look-up asks in the order of what an answer costs: grammars, errors that would come again,
// compiles on their way; and only then a compile begins.
//
// Invariant  a compile that ends puts its grammar into the cache before its flight is gone, so who
//            finds no flight and looks again finds the grammar.
// Cost       a look in a table under the lock, and the grammar's bytes, measured without it.
#include "cache/grammar_cache.h"

#include <utility>

#include "cpu/thread_priority.h"

namespace maskd::cache {
namespace {

WorkPool::WaitingChanged Tell(metrics::Metrics* metrics, WorkPool::WaitingChanged further) {
  return [metrics, further = std::move(further)](int change) {
    if (metrics != nullptr) metrics->CompileQueueChanged(change);
    if (further != nullptr) further(change);
  };
}

}  // namespace

GrammarCache::GrammarCache(Options options, metrics::Metrics* metrics)
    : options_(std::move(options)),
      metrics_(metrics),
      grammars_(options_.capacity_bytes),
      errors_(options_.negative_entries, options_.negative_time_to_live),
      flights_(options_.clock),
      pool_(options_.compile_threads, options_.compile_queue,
            Tell(metrics, options_.waiting_changed), ThreadRole::kLongWork,
            options_.compile_threads > 0 ? 1 : 0) {}

metrics::CacheOutcome GrammarCache::OutcomeOf(const absl::StatusOr<Ticket>& ticket) {
  if (!ticket.ok() || ticket->origin() == Ticket::Origin::kStarted)
    return metrics::CacheOutcome::kMiss;
  return ticket->origin() == Ticket::Origin::kKnown ? metrics::CacheOutcome::kHit
                                                    : metrics::CacheOutcome::kJoined;
}

GrammarPtr GrammarCache::Find(const std::string& id) {
  GrammarPtr found = Use(id);
  Report(found != nullptr ? metrics::CacheOutcome::kHit : metrics::CacheOutcome::kMiss);
  return found;
}

absl::Status GrammarCache::CheckQueue() const {
  return pool_.waiting() < pool_.queue_limit() ? absl::OkStatus() : QueueFullError(pool_);
}

std::optional<Ticket> GrammarCache::FindKnown(const std::string& id) {
  if (GrammarPtr found = Use(id); found != nullptr) {
    Report(metrics::CacheOutcome::kHit);
    return Ticket(std::move(found));
  }
  if (std::optional<absl::Status> error = FindError(id); error.has_value()) {
    Report(metrics::CacheOutcome::kNegativeHit);
    return Ticket(*std::move(error));
  }
  std::optional<Ticket> running = flights_.JoinRunning(id);
  if (running.has_value()) Report(metrics::CacheOutcome::kJoined);
  return running;
}

absl::StatusOr<Ticket> GrammarCache::Get(const std::string& id, CompileWork work,
                                         std::shared_ptr<Share> share, const WorkPool::Turn& turn) {
  if (std::optional<Ticket> known = FindKnown(id); known.has_value()) return *std::move(known);
  absl::StatusOr<Ticket> ticket = flights_.Join(
      id, [&] { return Use(id); },
      [this, id, work = std::move(work), share = std::move(share)](
          const std::atomic<bool>& cancelled) { return Compile(id, work, share, cancelled); },
      &pool_, turn);
  Report(OutcomeOf(ticket));
  return ticket;
}

CompileResult GrammarCache::Compile(const std::string& id, const CompileWork& work,
                                    const std::shared_ptr<Share>& share,
                                    const std::atomic<bool>& cancelled) {
  CompileResult result = work(cancelled);
  if (result.ok()) {
    Keep(id, *result, share);
  } else if (options_.is_lasting(result.status())) {
    const MutexLock lock(&mutex_);
    errors_.Put(id, OwnCopy(result.status()), options_.clock->Now());
  }
  return result;
}

void GrammarCache::Keep(const std::string& id, const GrammarPtr& grammar,
                        const std::shared_ptr<Share>& share) {
  const std::int64_t bytes = options_.held_bytes(grammar);
  std::vector<GrammarPtr> dropped;  // freed after the lock
  {
    const MutexLock lock(&mutex_);
    dropped = grammars_.Put(id, grammar, bytes, share);
  }
  ReportSize(dropped.size());
}

void GrammarCache::Remeasure(const std::string& id, const GrammarPtr& grammar) {
  const std::int64_t bytes = options_.held_bytes(grammar);
  std::vector<GrammarPtr> dropped;  // freed after the lock
  {
    const MutexLock lock(&mutex_);
    dropped = grammars_.Resize(id, bytes);
  }
  ReportSize(dropped.size());
}

void GrammarCache::Shrink(std::int64_t bytes) {
  std::vector<GrammarPtr> dropped;  // freed after the lock
  {
    const MutexLock lock(&mutex_);
    dropped = grammars_.Shrink(bytes);
  }
  ReportSize(dropped.size());
}

GrammarPtr GrammarCache::Use(const std::string& id) {
  GrammarPtr found;
  {
    const MutexLock lock(&mutex_);
    found = grammars_.Use(id);
  }
  if (found != nullptr) Remeasure(id, found);
  return found;
}

std::optional<absl::Status> GrammarCache::FindError(const std::string& id) {
  const MutexLock lock(&mutex_);
  const std::optional<absl::Status> error = errors_.Find(id, options_.clock->Now());
  return error.has_value() ? std::optional(OwnCopy(*error)) : std::nullopt;
}

std::int64_t GrammarCache::held_bytes() const {
  const MutexLock lock(&mutex_);
  return grammars_.held_bytes();
}

std::size_t GrammarCache::size() const {
  const MutexLock lock(&mutex_);
  return grammars_.size();
}

void GrammarCache::Report(metrics::CacheOutcome outcome) const {
  if (metrics_ != nullptr) metrics_->CacheRequest(outcome);
}

void GrammarCache::ReportSize(std::size_t evictions) const {
  if (metrics_ != nullptr) {
    metrics_->CacheEvictions(static_cast<int>(evictions));
    metrics_->CacheSize(held_bytes(), static_cast<std::int64_t>(size()));
  }
}

}  // namespace maskd::cache
