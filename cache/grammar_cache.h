// Compiled grammars by id: finds, compiles once for any number of callers, keeps within a budget.
//
//   absl::StatusOr<Ticket> ticket = cache.Get(id, [&](const std::atomic<bool>& cancelled) {...});
//   if (ticket.ok() && ticket->WaitUntil(deadline)) use(ticket->result());
//
// Budget    bytes that the grammars hold, measured when they come in and each time they are used. A
//           grammar in use lives on after it was evicted.
// Errors    one that the same text would cause again is kept for a while and answered without a
//           compile; a deadline, a cancellation or a refusal for load never is.
// Threads   any. The lock is held for look-ups, never for a compile or for freeing a grammar.
// Ownership tickets must not outlive the cache.
#ifndef MASKD_CACHE_GRAMMAR_CACHE_H_
#define MASKD_CACHE_GRAMMAR_CACHE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"

#include "cache/byte_lru.h"
#include "cache/negative_cache.h"
#include "cache/share.h"
#include "cache/single_flight.h"
#include "cache/work_pool.h"
#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"
#include "metrics/registry.h"

namespace maskd::cache {

// The one place of a server where compiles are begun; see the parts it joins in this folder.
class GrammarCache {
 public:
  // Read once, when the cache is made.
  struct Options {
    std::int64_t capacity_bytes = std::int64_t{1} << 30;
    int compile_threads = 1;  // 0: TakeCompile() alone; else there is one more for short compiles
    std::size_t compile_queue = 256;
    std::size_t negative_entries = 1024;
    std::chrono::seconds negative_time_to_live{60};
    // Bytes that a grammar holds by now. Required.
    std::function<std::int64_t(const GrammarPtr& grammar)> held_bytes;
    // Whether a compile's error would come again for the same text. Required.
    std::function<bool(const absl::Status& error)> is_lasting;
    // Told of each change of the number of compiles that wait for a thread; may be empty.
    WorkPool::WaitingChanged waiting_changed;
    Clock* clock = Clock::Steady();  // not owned
  };

  // `metrics` may be null; not owned.
  GrammarCache(Options options, metrics::Metrics* metrics);

  // The grammar, or null.
  GrammarPtr Find(const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);

  // What is known of it: the grammar, its error, or a compile on its way. Nothing where Get() would
  // begin one.
  std::optional<Ticket> FindKnown(const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);

  // The grammar or its error, known, already in the making, or made by `work` on a thread of the
  // cache. Errors: RESOURCE_EXHAUSTED with a retry hint when too many compiles wait.
  // A grammar that is made counts for `share`, if there is one; a compile waits for its `turn`.
  absl::StatusOr<Ticket> Get(const std::string& id, CompileWork work,
                             std::shared_ptr<Share> share = nullptr,
                             const WorkPool::Turn& turn = {}) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether a compile would find a place in the queue now. Errors: Get()'s.
  [[nodiscard]] absl::Status CheckQueue() const;

  // Measures `id` again: for callers that have used a grammar for long.
  void Remeasure(const std::string& id, const GrammarPtr& grammar) ABSL_LOCKS_EXCLUDED(mutex_);

  // Drops what was used least recently, so that the cache holds about `bytes` less. Memory that a
  // dropped grammar's users still hold comes back with the last of them.
  void Shrink(std::int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // A compile that waits, begun and the caller's to run; empty when there is none.
  std::function<void()> TakeCompile() { return pool_.Take(); }

  // Who compiles, and what waits for them.
  [[nodiscard]] const WorkPool& pool() const { return pool_; }

  // As configured, and as last measured; the sums leave out what was dropped and still lives.
  [[nodiscard]] std::int64_t capacity_bytes() const { return options_.capacity_bytes; }
  [[nodiscard]] std::int64_t held_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);
  [[nodiscard]] std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  CompileResult Compile(const std::string& id, const CompileWork& work,
                        const std::shared_ptr<Share>& share, const std::atomic<bool>& cancelled)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Keep(const std::string& id, const GrammarPtr& grammar, const std::shared_ptr<Share>& share)
      ABSL_LOCKS_EXCLUDED(mutex_);
  GrammarPtr Use(const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<absl::Status> FindError(const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);
  [[nodiscard]] static metrics::CacheOutcome OutcomeOf(const absl::StatusOr<Ticket>& ticket);
  void Report(metrics::CacheOutcome outcome) const;
  void ReportSize(std::size_t evictions) const ABSL_LOCKS_EXCLUDED(mutex_);

  const Options options_;
  metrics::Metrics* const metrics_;
  mutable Mutex mutex_;
  ByteLru grammars_ ABSL_GUARDED_BY(mutex_);
  NegativeCache errors_ ABSL_GUARDED_BY(mutex_);
  SingleFlight flights_;
  WorkPool pool_;  // last: its threads use all of the above
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_GRAMMAR_CACHE_H_
