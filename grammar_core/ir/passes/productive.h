// Takes out of a grammar what no finite text can ever match: alternatives, optional members and
// rules, and with them everything that the start no longer reaches.
//
// Exactness  the language stays the same. Intersections and complements count as productive here;
//            whether one is empty is the engine's to find out.
// Objects    an optional member whose value is unproductive stays, with Nothing as its value: its
//            name stays taken out of the other names. Unproductive other values become Nothing.
// Depth      loops over the nodes, never a recursion.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_PRODUCTIVE_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_PRODUCTIVE_H_

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/passes/rebuild.h"

namespace maskd {

// What a front end knows about the rules that it made Nothing: an error for the caller.
using RuleFaults = absl::flat_hash_map<RuleId, absl::Status>;

// Errors: INVALID_ARGUMENT when the start is unproductive, with the fault of the rule that causes
// it, or else with the place of the deepest rule in the way. RESOURCE_EXHAUSTED: limits.ir_nodes.
// Those of the budget.
absl::StatusOr<GrammarIr> DropUnproductive(GrammarIr ir, IrForm form, const Limits& limits,
                                           Budget& budget, const RuleFaults& faults = {});

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_PRODUCTIVE_H_
