// The automatons of one grammar, one after the other: what the grammar has learnt, within a bound.
//
// An automaton keeps every state and mask that any row ever met. When it holds so much that it is
// full(), the next row that looks for one gets a new one, which begins
// with nothing. Rows take their states along, each at its next call (matcher/matcher.h); the old
// automaton goes with the last of them. States and masks that are met again are made again, and
// are the same: they depend on the grammar and the text alone. RE2 treats the cache of its DFA
// likewise.
//
// Bounds    the current automaton, and those that rows still hold; a row that is not called holds
//           one until it is told to let go (Matcher::Rest()).
// Threads   any. Nothing is made under the lock but an empty automaton.
#ifndef MASKD_GRAMMAR_CORE_ROWS_GENERATIONS_H_
#define MASKD_GRAMMAR_CORE_ROWS_GENERATIONS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "grammar_core/automaton/grammar_tables.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/base/mutex.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/rows/masked_automaton.h"

namespace maskd {

// The automatons of one grammar: the current one, and those that rows still hold.
class Generations {
 public:
  // The grammar's IR and `masks` must outlive this and every automaton that it hands out.
  Generations(std::shared_ptr<const GrammarTables> tables, MaskStore* masks, const Limits& limits);

  // The grammar is compiled: automatons may hold what the compile made, which none is without, and
  // Limits::generation_bytes. Until then the first one is never full.
  void EndCompile() ABSL_LOCKS_EXCLUDED(mutex_);

  // The automaton for rows that begin or go on; a new one where the last one is full.
  [[nodiscard]] std::shared_ptr<MaskedAutomaton> Current() ABSL_LOCKS_EXCLUDED(mutex_);

  // An empty automaton, for a call that needs more than a shared one has left.
  [[nodiscard]] std::shared_ptr<MaskedAutomaton> MakeApart() ABSL_LOCKS_EXCLUDED(mutex_);

  // Lets go of what is learnt, as if the current automaton were full: memory is needed elsewhere.
  void Drop() ABSL_LOCKS_EXCLUDED(mutex_);

  // What all of them share, which nothing is ever added to.
  [[nodiscard]] const GrammarTables& tables() const { return *tables_; }

  // Of all automatons that are still held, by this or by rows.
  struct Held {
    std::int64_t terms = 0;
    std::int64_t bytes = 0;       // of terms, transitions and tables
    std::int64_t mask_bytes = 0;  // of the masks that they keep, of each automaton by itself
    int automatons = 0;
    std::int64_t renewals = 0;  // automatons that were made because one was full, ever
  };
  // Sums over them as of the call; any of them may go on growing meanwhile.
  [[nodiscard]] Held held() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Renewals of all grammars of the process.
  static std::int64_t TotalRenewals();

 private:
  std::shared_ptr<MaskedAutomaton> Make() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountRenewal() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<const GrammarTables> tables_;
  MaskStore* const masks_;
  const Limits limits_;
  mutable Mutex mutex_;
  std::shared_ptr<MaskedAutomaton> current_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<MaskedAutomaton>> made_
      ABSL_GUARDED_BY(mutex_);  // and perhaps still held
  std::int64_t full_bytes_ ABSL_GUARDED_BY(mutex_);
  std::int64_t renewals_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_ROWS_GENERATIONS_H_
