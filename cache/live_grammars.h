// The grammars that somebody holds, and what they hold: those of the cache, and those that it has
// dropped while rows still use them.
//
// Threads   any. The lock is held for look-ups, never for measuring or for freeing a grammar.
// Ownership grammars may outlive this.
#ifndef MASKD_CACHE_LIVE_GRAMMARS_H_
#define MASKD_CACHE_LIVE_GRAMMARS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "cache/single_flight.h"
#include "grammar_core/base/mutex.h"

namespace maskd::cache {

// Who uses one grammar, beside what it holds.
struct GrammarUsage {
  std::atomic<std::int64_t> rows = 0;
  std::atomic<std::int64_t> hits = 0;  // asked for, and no compile was needed
};

// A row that uses a grammar, counted while it lives; a copy is one more row.
class RowOfGrammar {
 public:
  RowOfGrammar() = default;  // of none
  // `usage` may be null: then nothing is counted.
  explicit RowOfGrammar(std::shared_ptr<GrammarUsage> usage) : usage_(std::move(usage)) { Add(1); }
  RowOfGrammar(const RowOfGrammar& other) : RowOfGrammar(other.usage_) {}
  RowOfGrammar(RowOfGrammar&& other) noexcept : usage_(std::exchange(other.usage_, nullptr)) {}
  // Swaps, so the row that was counted here ends with `other`.
  RowOfGrammar& operator=(RowOfGrammar other) noexcept {
    usage_.swap(other.usage_);
    return *this;
  }
  // Counts its row off.
  ~RowOfGrammar() { Add(-1); }

 private:
  void Add(int rows) {
    if (usage_ != nullptr) usage_->rows.fetch_add(rows, std::memory_order_relaxed);
  }

  std::shared_ptr<GrammarUsage> usage_;
};

// What the memory accountant and the list of grammars look at.
class LiveGrammars {
 public:
  using HeldBytes = std::function<std::int64_t(const GrammarPtr& grammar)>;

  // `held_bytes` says what a grammar holds by now.
  explicit LiveGrammars(HeldBytes held_bytes) : held_bytes_(std::move(held_bytes)) {}

  // The same grammar, counted from now on until its last user lets go of what is returned.
  GrammarPtr Track(GrammarPtr grammar);

  // What it holds by now; counted so, if it is tracked.
  std::int64_t Measure(const GrammarPtr& grammar);

  // Never null for a grammar that is tracked; null for others.
  [[nodiscard]] std::shared_ptr<GrammarUsage> UsageOf(const GrammarPtr& grammar) const;

  // A grammar and who uses it.
  struct Listed {
    GrammarPtr grammar;
    std::shared_ptr<const GrammarUsage> usage;
  };
  // Those behind `after`, in an order that stays while they live; null: from the first. So whoever
  // wants to see all of many takes them by some, and holds the lock for as long as for those.
  struct Some {
    std::vector<Listed> listed;
    const CompiledGrammar* next_after = nullptr;  // null: these were the last
  };
  // At most `most` of them.
  [[nodiscard]] Some ListSome(const CompiledGrammar* after, std::size_t most) const;

  // All of them.
  [[nodiscard]] std::vector<GrammarPtr> all() const;

  // As each was last measured: nothing is measured now.
  [[nodiscard]] std::int64_t held_bytes() const;
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::weak_ptr<const CompiledGrammar> grammar;
    std::int64_t bytes = 0;
    std::shared_ptr<GrammarUsage> usage = std::make_shared<GrammarUsage>();
  };
  struct Table {
    mutable Mutex mutex;
    std::map<const CompiledGrammar*, Entry> entries ABSL_GUARDED_BY(mutex);
    std::int64_t held_bytes ABSL_GUARDED_BY(mutex) = 0;
  };
  struct Tracked;

  const HeldBytes held_bytes_;
  const std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_LIVE_GRAMMARS_H_
