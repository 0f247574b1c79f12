// Hashes of the nodes that say all by themselves: no rule is called in them, and no object, array
// of distinct items or named token is in them. Equal ones are one node in any IR that has both, so
// what was copied once for a grammar need not be looked at again.
//
// Hashes   do not depend on the numbers of nodes. That of any other node is Hash128{}.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_IR_FACTS_CLOSED_NODES_H_
#define MASKD_GRAMMAR_CORE_IR_FACTS_CLOSED_NODES_H_

#include <optional>
#include <vector>

#include "grammar_core/base/hash128.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// `hash` with the bytes, texts or characters that a leaf of these says; nothing for other nodes.
std::optional<Hash128> MixLiteral(const GrammarIr& ir, const IrNode& node, Hash128 hash);

// By node; linear in the nodes and what they hold. `known`: what is known already, by node;
// Hash128{} for others.
std::vector<Hash128> HashClosedNodes(const GrammarIr& ir, std::vector<Hash128> known = {});

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_FACTS_CLOSED_NODES_H_
