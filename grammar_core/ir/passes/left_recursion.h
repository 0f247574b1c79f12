// Left recursion: rules that can call themselves before they have matched a byte, be it through
// other rules or behind what may be empty. A derivative by a byte would never end on them, so they
// are rewritten.
//
// Exactness  the language of the start stays the same: only which texts there are counts, not how
//            they are derived. Ambiguity goes where it costs nothing: `E: E "+" E | "n"` becomes
//            `E: "n" ("+" E)*`, `a: a? b*` becomes `a: b*`.
// How        left_forms.h takes rules apart by what they begin with, left_system.h puts them
//            together.
// Depth      loops over the nodes, never a recursion.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_RECURSION_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_RECURSION_H_

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Errors: those of the budget.
absl::StatusOr<bool> HasLeftRecursion(const GrammarIr& ir, Budget& budget);

// `ir` without left recursion; as it is where it has none. Requires a grammar whose every part is
// productive (see productive.h). Errors: RESOURCE_EXHAUSTED for limits.ir_nodes; those of the
// budget.
absl::StatusOr<GrammarIr> RemoveLeftRecursion(GrammarIr ir, const Limits& limits, Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_RECURSION_H_
