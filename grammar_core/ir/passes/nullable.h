// Which nodes hold the empty text, exactly.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_NULLABLE_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_NULLABLE_H_

#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// By node. Errors: those of the budget.
absl::StatusOr<std::vector<bool>> NullableNodes(const GrammarIr& ir, Budget& budget);

// Those, and perhaps others: each call and each complement counts as nullable. One look at each
// node. Errors: those of the budget.
absl::StatusOr<std::vector<bool>> PerhapsNullableNodes(const GrammarIr& ir, Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_NULLABLE_H_
