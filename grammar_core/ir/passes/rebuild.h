// Makes an IR again, through the normalising builder: what a pass drops is gone, what the start no
// longer reaches is gone, and nodes are numbered without gaps. Where a builder's IR has lost
// nothing that the rest is made of, as most have, the rest is moved together as it is.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_REBUILD_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_REBUILD_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// What has become of an IR since a builder made it.
enum class IrForm : std::uint8_t { kBuilt, kEdited };

// `ir` with every node for which `keep` is false made Nothing. Rules keep their order. Errors:
// limits.ir_nodes and those of the budget.
absl::StatusOr<GrammarIr> Rebuild(GrammarIr ir, IrForm form, const Limits& limits, Budget& budget,
                                  const std::function<bool(NodeId)>& keep);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_REBUILD_H_
