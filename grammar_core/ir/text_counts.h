// How many texts a node of characters has at most.
//
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_IR_TEXT_COUNTS_H_
#define MASKD_GRAMMAR_CORE_IR_TEXT_COUNTS_H_

#include <cstdint>

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Up to kAmpleTexts, which stands for any more. `node` must be one of characters.
std::int64_t MostTexts(const GrammarIr& ir, NodeId node);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_TEXT_COUNTS_H_
