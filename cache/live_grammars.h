// The grammars that somebody holds, and what they hold: those of the cache, and those that it has
// dropped while rows still use them.
//
// Threads   any. The lock is held for look-ups, never for measuring or for freeing a grammar.
// Ownership grammars may outlive this.
#ifndef MASKD_CACHE_LIVE_GRAMMARS_H_
#define MASKD_CACHE_LIVE_GRAMMARS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"

#include "cache/single_flight.h"
#include "grammar_core/base/mutex.h"

namespace maskd::cache {

class LiveGrammars {
 public:
  using HeldBytes = std::function<std::int64_t(const GrammarPtr& grammar)>;

  // `held_bytes` says what a grammar holds by now.
  explicit LiveGrammars(HeldBytes held_bytes) : held_bytes_(std::move(held_bytes)) {}

  // The same grammar, counted from now on until its last user lets go of what is returned.
  GrammarPtr Track(GrammarPtr grammar);

  // What it holds by now; counted so, if it is tracked.
  std::int64_t Measure(const GrammarPtr& grammar);

  // All of them.
  [[nodiscard]] std::vector<GrammarPtr> all() const;

  [[nodiscard]] std::int64_t held_bytes() const;
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::weak_ptr<const CompiledGrammar> grammar;
    std::int64_t bytes = 0;
  };
  struct Table {
    mutable Mutex mutex;
    absl::flat_hash_map<const CompiledGrammar*, Entry> entries ABSL_GUARDED_BY(mutex);
    std::int64_t held_bytes ABSL_GUARDED_BY(mutex) = 0;
  };
  struct Tracked;

  const HeldBytes held_bytes_;
  const std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

}  // namespace maskd::cache

#endif  // MASKD_CACHE_LIVE_GRAMMARS_H_
