// Sets of byte classes that many states share, each kept once.
//
// Layout   a set takes as many words as the grammar's classes need, side by side with the others.
// Threads  Keep() under the automaton's lock; words that it has returned are read by any thread.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_CLASS_SETS_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_CLASS_SETS_H_

#include <cstddef>
#include <cstdint>

#include "grammar_core/base/index_table.h"
#include "grammar_core/base/stable_vector.h"
#include "grammar_core/terms/state_ways.h"

namespace maskd {

// The sets of one automaton.
class ClassSets {
 public:
  // Of classes below `classes`, which is at most 256.
  explicit ClassSets(int classes);
  ClassSets(const ClassSets&) = delete;
  ClassSets& operator=(const ClassSets&) = delete;

  // The number of `set`. Equal sets have the same one.
  std::uint32_t Keep(const ClassSet& set);
  // Its words, which live as long as this does.
  [[nodiscard]] ClassWords words(std::uint32_t number) const {
    return &words_[number * words_per_set_];
  }
  [[nodiscard]] ClassSet set(std::uint32_t number) const;

  [[nodiscard]] std::int64_t held_bytes() const {
    return words_.chunk_bytes() + numbers_.held_bytes();
  }

 private:
  // Sets by their bits.
  struct ByBits {
    const ClassSets* sets;
    std::size_t operator()(const ClassSet& set) const;
    std::size_t operator()(std::uint32_t number) const { return (*this)(sets->set(number)); }
    bool operator()(std::uint32_t x, const ClassSet& y) const { return sets->set(x) == y; }
  };

  // 1, 2 or 4, as the chunks below are of so many and their multiples: no set is in two of them.
  const std::uint32_t words_per_set_;
  StableVector<std::uint64_t, 2, 4> words_;
  IndexTable<ByBits> numbers_{ByBits{this}};
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_DERIVATIVES_CLASS_SETS_H_
