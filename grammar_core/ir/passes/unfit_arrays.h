// Arrays of distinct items that the engine could not hold to that exactly: it decides item by item,
// not looking ahead to how many values later items have, and it tries numbers to so many digits.
//
// Errors   those of the budget.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_UNFIT_ARRAYS_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_UNFIT_ARRAYS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// `why` is a literal, in words for the author of the schema.
struct UnfitArray {
  NodeId node;  // a Distinct node
  absl::string_view why;
};

// `ir` must hold no part that no text matches.
absl::StatusOr<std::vector<UnfitArray>> FindUnfitArrays(const GrammarIr& ir, Budget& budget);

// Makes a Distinct node one whose items may be equal: its first child alone.
void ForgetDistinct(NodeId node, GrammarIr* ir);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_UNFIT_ARRAYS_H_
