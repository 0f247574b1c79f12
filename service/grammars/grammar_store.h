// From what a request names to a compiled grammar: ids, admission, the cache, the compiler.
//
// Threads   any.
// Ownership the tokenizers and the metrics outlive it; it outlives every ticket it gave.
#ifndef MASKD_SERVICE_GRAMMARS_GRAMMAR_STORE_H_
#define MASKD_SERVICE_GRAMMARS_GRAMMAR_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "cache/grammar_cache.h"
#include "cache/known_texts.h"
#include "cache/live_grammars.h"
#include "grammar_core/base/budget.h"
#include "grammar_core/base/clock.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/tokenizer_space.h"
#include "grammar_core/frontend/grammar_source.h"
#include "memory/accountant.h"
#include "metrics/registry.h"
#include "service/base/pools.h"
#include "service/base/trace.h"
#include "service/callers/caller.h"
#include "service/callers/tenant.h"
#include "service/config/config.h"
#include "service/grammars/idle_rows.h"
#include "service/grammars/tokenizer_store.h"
#include "service/grammars/warm_up_queue.h"

namespace maskd::service {

// Which grammar: by its text when there is one, else by its id.
struct GrammarTarget {
  std::string id;
  std::optional<GrammarSource> source;
};

// What a simulation brings its own of.
struct StoreMachinery {
  // Who compiles.
  enum class Compiles : std::uint8_t {
    kOnThreads,  // threads of the store's own
    kWhenTaken,  // who calls TakeCompile(), which decides the order
  };
  // As CompileParsed().
  using Compile = std::function<cache::CompileResult(ParsedSource parsed, std::string id,
                                                     std::shared_ptr<TokenizerSpace> tokenizer,
                                                     const Limits& limits, Budget& budget)>;

  Compiles compiles = Compiles::kOnThreads;
  Clock* clock = Clock::Steady();  // of waits for compiles and of kept errors; not owned
  Compile compile = &CompileParsed;
  memory::Accountant* memory = nullptr;  // null: there is always room; not owned
};

// The grammars of a server: known, being compiled, pinned, and how they are made.
class GrammarStore {
 public:
  // What was asked for: its id, and a ticket that has the grammar, now or later.
  struct Request {
    std::string id;
    cache::Ticket ticket;
  };

  // `metrics` may be null.
  GrammarStore(const Config& config, metrics::Metrics* metrics, StoreMachinery machinery = {});

  // Begins, joins or finds the compile of `target` against `tokenizer`. Errors: INVALID_ARGUMENT (a
  // source that cannot be normalised, an id that is none), NOT_FOUND (an id that is not in the
  // cache), FAILED_PRECONDITION (an id of another tokenizer's grammar), RESOURCE_EXHAUSTED (too
  // many compiles). Errors of the compile are the ticket's result; so is RESOURCE_EXHAUSTED where
  // memory is short. With a tenant it is his compile, and PERMISSION_DENIED or RESOURCE_EXHAUSTED
  // where he has no right to the grammar, or no compile left. A compile that begins is logged with
  // the caller's trace, and waits its turn among those of other callers.
  absl::StatusOr<Request> Get(const GrammarTarget& target, const LoadedTokenizer& tokenizer,
                              const Caller& caller = {});

  // Keeps these beside the cache, for whoever asks, and those that were kept so no more.
  void Pin(const std::vector<cache::GrammarPtr>& grammars) ABSL_LOCKS_EXCLUDED(pinned_mutex_);

  // Whether a row may be opened now. Errors: RESOURCE_EXHAUSTED with a retry hint.
  [[nodiscard]] absl::Status CheckRoom() const;

  // Every grammar that is held, in the cache or by its users alone.
  [[nodiscard]] const cache::LiveGrammars& live() const { return live_; }
  // Measures all of them again: they grow in use.
  void RemeasureAll();
  // Has the cache hold about `bytes` less; where it has no more, grammars that are still in use
  // forget what they have learnt.
  void Shrink(std::int64_t bytes);

  // Compiles that run, that may run at once, and that wait; and how many may wait.
  struct Compiles {
    std::int64_t running = 0;
    std::int64_t threads = 0;
    std::int64_t waiting = 0;
    std::int64_t queue = 0;
  };
  // As of the call.
  [[nodiscard]] Compiles compiles() const ABSL_LOCKS_EXCLUDED(compiling_mutex_);
  // What the cache may hold.
  [[nodiscard]] std::int64_t capacity_bytes() const { return cache_.capacity_bytes(); }

  // A compile that waits, begun and the caller's to run; empty when there is none.
  std::function<void()> TakeCompile() { return cache_.TakeCompile(); }
  // Threads that compile, and what waits for one. Any thread.
  [[nodiscard]] std::vector<Pool> pools() const;
  // Grammars in the cache, and what it counts for them.
  [[nodiscard]] std::size_t size() const { return cache_.size(); }
  [[nodiscard]] std::int64_t held_bytes() const { return cache_.held_bytes(); }

  // Tells the cache that `grammar` was used for long.
  void Remeasure(const cache::GrammarPtr& grammar) { cache_.Remeasure(grammar->id(), grammar); }

  // Since when the compile runs that began first; nothing without any. Any thread.
  [[nodiscard]] std::optional<Clock::TimePoint> compiling_since() const
      ABSL_LOCKS_EXCLUDED(compiling_mutex_);

  // What times compiles and waits.
  [[nodiscard]] Clock& clock() const { return *machinery_.clock; }

  // Where streams say how their idle rows are moved.
  [[nodiscard]] IdleRows& idle_rows() const { return idle_rows_; }

  // Makes masks ahead, see warm_up_queue.h.
  [[nodiscard]] WarmUpQueue& warm_up() const { return warm_up_; }

 private:
  // One asked for it and needed no compile.
  void CountHit(const cache::GrammarPtr& grammar) const;
  // Null without one.
  cache::GrammarPtr FindPinned(const std::string& id) const ABSL_LOCKS_EXCLUDED(pinned_mutex_);
  // A compile begins only with what its tenant has left.
  absl::StatusOr<cache::Ticket> GetTicket(ParsedSource parsed, const LoadedTokenizer& tokenizer,
                                          const std::string& id, const Caller& caller);
  absl::StatusOr<Request> GetByText(const GrammarSource& source, const LoadedTokenizer& tokenizer,
                                    const Caller& caller);
  // What needs no compile, or waits for one that was begun.
  std::optional<cache::Ticket> FindKnown(const std::string& id) ABSL_LOCKS_EXCLUDED(pinned_mutex_);
  absl::StatusOr<Request> GetById(const std::string& id, const LoadedTokenizer& tokenizer);
  cache::CompileWork CompileOf(ParsedSource parsed, const LoadedTokenizer& tokenizer,
                               const std::string& id, std::shared_ptr<Tenant::Lease> lease,
                               const Trace& trace) const;
  cache::CompileResult Compile(ParsedSource parsed, const std::string& id,
                               const std::shared_ptr<TokenizerSpace>& space,
                               const std::atomic<bool>& cancelled) const;
  absl::Status MemoryShort() const;

  // A compile that runs, for as long as this lives.
  class Compiling;

  const Limits limits_;
  metrics::Metrics* const metrics_;
  const StoreMachinery machinery_;
  mutable WarmUpQueue warm_up_;
  mutable IdleRows idle_rows_;
  mutable cache::LiveGrammars live_;
  mutable Mutex compiling_mutex_;
  mutable std::multiset<Clock::TimePoint> compiling_ ABSL_GUARDED_BY(compiling_mutex_);
  mutable Mutex pinned_mutex_;
  absl::flat_hash_map<std::string, cache::GrammarPtr> pinned_ ABSL_GUARDED_BY(pinned_mutex_);
  cache::KnownTexts texts_;
  cache::GrammarCache cache_;
};

// Whether it has the form of one.
bool IsGrammarId(absl::string_view id);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GRAMMARS_GRAMMAR_STORE_H_
