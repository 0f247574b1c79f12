// Which nodes of a grammar some finite text can match; see productive.h.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_PRODUCTIVE_NODES_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_PRODUCTIVE_NODES_H_

#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// By node. Intersections and complements count as productive. Errors: those of the budget.
absl::StatusOr<std::vector<bool>> ProductiveNodes(const GrammarIr& ir, Budget& budget);

// Whether the start is soon found to be: as of all but grammars with conditions between members, or
// with many rules that call the next one. A false answer says nothing.
bool IsSurelyProductive(const GrammarIr& ir);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_PRODUCTIVE_NODES_H_
