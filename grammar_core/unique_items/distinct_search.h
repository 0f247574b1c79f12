// Whether a way to read a row's text within arrays whose items must differ can be ended: an item
// that can only become the equal of one before it is a dead end.
//
// How      depth first over the bytes that keep every way equal to something written, up to the
//          first that cannot: the items that must still come behind it have values enough (see
//          passes/unfit_arrays.h). For a number that begins on the way, only spellings in digits
//          are tried where there are any; for one begun before, all that differ.
// Errors   by Work: RESOURCE_EXHAUSTED for limits.emptiness_states.
// Threads  one thread at a time.
#ifndef MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_DISTINCT_SEARCH_H_
#define MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_DISTINCT_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/automaton/row_bounds.h"
#include "grammar_core/base/work.h"
#include "grammar_core/derivatives/first_classes.h"
#include "grammar_core/unique_items/row_memory.h"

namespace maskd {

// Whether a way within distinct arrays can be ended without repeating an item.
class DistinctSearch {
 public:
  // `row` must outlive this, its lock be held.
  explicit DistinctSearch(RowMemory* row);

  bool CanEnd(const RowMemory::Way& way, Work& work);

 private:
  // A way that the search has met, and whether the number that it began in goes on there.
  struct Place {
    RowMemory::Way way;
    Hash128 key;
    std::uint32_t before;  // in places_
    bool in_first_number;
  };
  // Whether one of a few characters of a string, which is open or to begin, leads where nothing can
  // repeat. Most strings may go on by any, so mostly no search is needed.
  bool LeadsAway(const RowMemory::Way& way, Work& work);
  bool Search(const RowMemory::Way& way, Work& work);
  // Whether some byte behind place `from` leads to what can end; what may is added to `next`.
  bool Expand(std::uint32_t from, std::vector<Place>* next, Work& work);
  bool ExpandBy(std::uint32_t from, unsigned char byte, std::vector<Place>* next, Work& work);
  // Notes what the search has found: true and false.
  bool Keep(std::uint32_t at);
  bool Forget();
  // What the spelling of a number so far says of the bytes behind it.
  struct Spelt;
  // Whether `byte` behind `at`, in a number, leads to no value that another byte does not lead to.
  [[nodiscard]] bool IsOtherSpelling(const Place& at, const Spelt& number,
                                     const FirstClasses::Set& first, unsigned char byte) const;

  RowMemory* const row_;
  const RowBounds& bounds_;
  // The size of the number that the search began in.
  std::size_t first_size_ = 0;
  std::vector<Place> places_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_DISTINCT_SEARCH_H_
