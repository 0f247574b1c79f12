// Keeps the transitions of an automaton's states in the smallest of the forms of state_ways.h.
//
// Memory   lists and rows lie side by side in blocks (tight_blocks.h).
// Threads  the automaton's lock; what is kept is read without it.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_WAY_TABLES_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_WAY_TABLES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "grammar_core/base/tight_blocks.h"
#include "grammar_core/derivatives/first_classes.h"
#include "grammar_core/terms/state_ways.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// The transitions of one automaton's states, in its term store.
class WayTables {
 public:
  // Both must outlive this. `classes` is how many byte classes there are.
  WayTables(TermStore* store, FirstClasses* first, int classes)
      : store_(store), first_(first), classes_(static_cast<std::size_t>(classes)) {}

  // Makes room for a second transition where there is one: what certainly leads nowhere is known
  // then.
  void Widen(TermId state);
  // Keeps the transition of `state` by `byte_class`, which was unknown.
  void Put(TermId state, int byte_class, TermId to);
  // Keeps where the rest of a token leads, which is not known yet. False where the way of a byte is
  // known, or too many rests.
  bool PutRest(TermId state, const TokenRest& rest, TermId to);
  // The same of many transitions, which lead to `targets` states together.
  struct Way {
    int byte_class;
    TermId to;
  };
  void PutAll(TermId state, std::span<const Way> ways, std::size_t targets);

  // Bytes of lists and rows; those in a state's links are the store's.
  [[nodiscard]] std::int64_t held_bytes() const { return blocks_.held_bytes(); }
  // Words of all lists and rows.
  [[nodiscard]] std::size_t held_words() const { return blocks_.held_words(); }

 private:
  [[nodiscard]] std::atomic<std::uint64_t>& SlotOf(TermId state) {
    return store_->mutable_ways(state);
  }
  // The classes that `state` may take, as all states have them that may take the same; null for all
  // of them.
  ClassWords MayOf(TermId state);
  // Gives `state` a row, and it will lead to so many targets more. A state with a row keeps it.
  void MakeRow(TermId state, std::size_t targets);
  std::atomic<TermId>* MakeFullRow(TermId state);
  // Puts into a row, of whichever form.
  void PutInRow(TermId state, int byte_class, TermId to);
  // Calls visit(class, target) for each class that `state` has a known transition by, or surely
  // leads nowhere by.
  template <typename Visit>
  void VisitKnown(TermId state, Visit visit);
  // Memory for `bytes`, at an address of which all forms can be.
  void* Allocate(std::size_t bytes);

  TermStore* store_;
  FirstClasses* first_;
  const std::size_t classes_;
  // The set of the last state that was asked for, and its words.
  ClassSet last_set_;
  ClassWords last_words_ = nullptr;
  TightBlocks<std::uint64_t> blocks_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_DERIVATIVES_WAY_TABLES_H_
