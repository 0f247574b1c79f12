// Finds the intersections and complements that hold no string, before a grammar is told what it can
// do: what is empty makes its alternative, its optional member or its rule unproductive.
//
// How      by derivatives, as the automaton does it when it gets there (CharDerivative::IsNothing).
// Depth    a recursion as deep as the characters' operators nest, which derivative_depth bounds.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_EMPTINESS_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_EMPTINESS_H_

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/passes/rebuild.h"

namespace maskd {

// Makes Nothing of every And and Not of `ir` that has no string, where it is not part of another
// one. Takes out the others of an object that no undeclared name is left for. Nodes keep their
// numbers. kEdited where there was any. Errors: RESOURCE_EXHAUSTED for limits.emptiness_states, at
// the place of a rule that holds the node; those of the budget.
absl::StatusOr<IrForm> DropEmpty(const Limits& limits, Budget& budget, GrammarIr* ir);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_DERIVATIVES_EMPTINESS_H_
