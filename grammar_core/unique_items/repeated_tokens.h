// The tokens of a mask that repeat an item of an array whose items must differ. Masks are made as
// if items could be equal; what the row has written forbids some of their tokens: those that hold
// parts of more than one item, and those of an item that may become the equal of one before it.
//
// Threads  no state; a row's memory is locked while it is asked.
#ifndef MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_REPEATED_TOKENS_H_
#define MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_REPEATED_TOKENS_H_

#include <vector>

#include "grammar_core/automaton/item_tokens.h"
#include "grammar_core/base/work.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/unique_items/row_memory.h"

namespace maskd {

// The tokens of `mask` that cannot be taken in `state`; `mask` was made without regard to what the
// row has written. Nothing when `work` failed.
[[nodiscard]] std::vector<TokenId> FindRepeated(const ItemTokens& tokens, RowMemory* row,
                                                RowMemory::State state, const TokenMask& mask,
                                                Work& work);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_REPEATED_TOKENS_H_
