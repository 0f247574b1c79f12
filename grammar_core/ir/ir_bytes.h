// What an IR holds: a large schema's names, texts and members take as much as its automaton.
//
// Cost     a look at every rule, pool and member: some nanoseconds each. To be asked once.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_IR_IR_BYTES_H_
#define MASKD_GRAMMAR_CORE_IR_IR_BYTES_H_

#include <cstdint>

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Bytes of the heap.
std::int64_t HeldBytes(const GrammarIr& ir);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_IR_BYTES_H_
