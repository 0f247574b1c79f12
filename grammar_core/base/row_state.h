// The number of a row's state. It lies this low because all who hold one see it, and what it means
// only the rooms `unique_items` (row_memory.h) and `rows` (row_states.h) know.
#ifndef MASKD_GRAMMAR_CORE_BASE_ROW_STATE_H_
#define MASKD_GRAMMAR_CORE_BASE_ROW_STATE_H_

#include "grammar_core/base/strong_id.h"

namespace maskd {

// Its named values are those of terms: kNothingTerm, kUnknownTerm, kFailedTerm.
struct RowStateIdTag {
  static constexpr bool kNamedAsTerms = true;
};
// A state of one row: a state of its automaton, or one that only this row has.
using RowStateId = StrongId<RowStateIdTag>;

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_ROW_STATE_H_
