// Moves the nodes and rules of an IR that are still reached together, as they are: what a pass does
// where it has dropped nothing that they are made of.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_COMPACT_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_COMPACT_H_

#include <vector>

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// `ir`, which a builder made, without the nodes and rules that are not `reached`: what stays must
// be reached with all its parts; the builder's Nothing and Empty always stay. What is left is
// as a builder would have made it: in its order, each node once.
GrammarIr Compact(GrammarIr ir, const std::vector<bool>& node_reached,
                  const std::vector<bool>& rule_reached);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_COMPACT_H_
