// A choice of ways of which many begin alike, written so that what they share stands once.
//
//   "get_time(" a | "get_name(" b  ->  "get_" ("time(" a | "name(" b)
//
// A derivative visits each way of a choice; of a choice that is written so, a few.
//
// Shared   characters of literals, and whole factors that are the same node.
// Bounds   kMostShared beginnings within one another; below the last, ways are left as they are.
// Cost     linear in the factors and characters that are shared, and a sort of the ways for each
//          beginning.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_IR_SHARED_BEGINNINGS_H_
#define MASKD_GRAMMAR_CORE_IR_SHARED_BEGINNINGS_H_

#include <vector>

#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

inline constexpr int kMostShared = 48;

// The texts of builder.Alt(ways).
NodeId AltWithSharedBeginnings(const std::vector<NodeId>& ways, IrBuilder& builder);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_SHARED_BEGINNINGS_H_
