// Whether a state within arrays whose items must differ can be ended: an item that can only become
// the equal of one before it is a dead end.
//
// How      depth first over the bytes that keep every way equal to something written, up to the
//          first that cannot: the items that must still come behind it have values enough (see
//          passes/unfit_arrays.h). Of the spellings of a number that begins on the way, those with
//          digits only are tried where there are any; of one begun before, all that differ.
// Errors   by Work: RESOURCE_EXHAUSTED for limits.emptiness_states.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_DISTINCT_SEARCH_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_DISTINCT_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/automaton/byte_derivative.h"
#include "grammar_core/automaton/term_store.h"
#include "grammar_core/automaton/work.h"

namespace maskd {

class DistinctSearch {
 public:
  // All must outlive this.
  DistinctSearch(const TermStore* store, ByteDerivative* derivative, const ByteClasses* classes,
                 std::int64_t max_states);

  bool CanEnd(TermId state, Work& work);

  // Whether what follows is certainly the inside of a string.
  [[nodiscard]] bool InString(TermId state) const;

  // See DistinctArrays: of all arrays that `state` is within.
  [[nodiscard]] bool MayRepeat(TermId state) const;
  [[nodiscard]] bool MayRepeatBehind(TermId state, unsigned char byte) const;
  [[nodiscard]] bool MayBeginAnother(TermId state, absl::string_view bytes) const;

 private:
  bool Search(TermId state, Work& work);
  // A state on the way, and whether the number that the search began in goes on there.
  struct Way {
    TermId state;
    std::uint32_t before;  // in ways_
    bool in_first_number;
  };
  // Whether some byte behind way `from` leads to what can end; what may is added to `next`.
  bool Expand(std::uint32_t from, std::vector<Way>* next, Work& work);
  // Notes what the search has found: true and false.
  bool Keep(std::uint32_t at);
  bool Forget();
  // Whether `byte` behind `at`, in a number, leads to no value that another byte does not lead to.
  [[nodiscard]] bool IsOtherSpelling(const Way& at, absl::string_view number,
                                     const FirstClasses::Set& first, unsigned char byte) const;
  // The number that is being written there; empty where none is.
  [[nodiscard]] absl::string_view NumberAt(TermId state) const;
  // The arrays that `state` is within.
  [[nodiscard]] std::vector<DistinctArrays::Id> ArraysOf(TermId state) const;

  const TermStore* store_;
  ByteDerivative* derivative_;
  const ByteClasses* classes_;
  const std::int64_t max_states_;
  // Whether some white space is a line's, which must stand where it does.
  const bool breaks_lines_;
  // In a row, in a number that the search tries.
  const std::size_t most_zeros_;
  // Of the number that the search at hand began in.
  std::size_t first_size_ = 0;
  std::vector<Way> ways_;
  absl::flat_hash_map<TermId, bool> known_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_DISTINCT_SEARCH_H_
