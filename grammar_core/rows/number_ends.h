// Numbers that end where a token does.
//
// Errors   by Work; then the answer means nothing.
// Threads  as RowStates.
#ifndef MASKD_GRAMMAR_CORE_ROWS_NUMBER_ENDS_H_
#define MASKD_GRAMMAR_CORE_ROWS_NUMBER_ENDS_H_

#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/rows/row_states.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// Whether `state`, which is no own state, begins with a number, no token leads from within that to
// behind it, and what follows begins with no byte of a number.
bool IsNumberApart(const RowStates& states, const TokenIndex& index, TermId state, Work& work);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_ROWS_NUMBER_ENDS_H_
