// Finds rules that can call themselves before they have matched a byte.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_RECURSION_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_RECURSION_H_

#include "absl/status/status.h"

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// UNIMPLEMENTED at the place of a rule that is left-recursive, be it through other rules or behind
// what may be empty; OK where there is none. Never recurses.
absl::Status CheckLeftRecursion(const GrammarIr& ir);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_RECURSION_H_
