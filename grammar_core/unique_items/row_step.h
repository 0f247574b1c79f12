// A row's step by one byte: the ways to read the text that its memory knows (row_memory.h), less
// those that could only lead to repetitions (distinct_search.h). So every state that a row comes to
// can be ended.
//
// Cost     outside of arrays whose items must differ that of the automaton itself.
// Errors   by Work: RESOURCE_EXHAUSTED.
// Threads  the row's lock is held.
#ifndef MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ROW_STEP_H_
#define MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ROW_STEP_H_

#include "grammar_core/base/work.h"
#include "grammar_core/unique_items/row_memory.h"

namespace maskd {

// The state of `row` behind `byte`: kNothingTerm if there is none, kFailedTerm if `work` failed.
RowMemory::State TakeByte(RowMemory* row, RowMemory::State state, unsigned char byte, Work& work);

// The same with ways among it that may lead to repetitions alone.
RowMemory::State TakeByteUnsearched(RowMemory* row, RowMemory::State state, unsigned char byte,
                                    Work& work);

// The same for a search: a state that it comes to in several ways has one number.
RowMemory::State TakeByteForSearch(RowMemory* row, RowMemory::State state, unsigned char byte,
                                   Work& work);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ROW_STEP_H_
