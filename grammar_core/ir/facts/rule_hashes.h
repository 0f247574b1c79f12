// Hashes of rules that do not depend on the numbers of nodes, nor on the order of choices, which
// follows from those: equal wherever equal rules were made.
//
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_IR_FACTS_RULE_HASHES_H_
#define MASKD_GRAMMAR_CORE_IR_FACTS_RULE_HASHES_H_

#include <cstddef>
#include <vector>

#include "grammar_core/base/hash128.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// In grammars of at most so many rules equal hashes mean equal rules, and in larger ones only that
// they are equal as far as calls were followed.
inline constexpr std::size_t kMostExactRules = 8;

// By rule. `closed`: HashClosedNodes(ir). Linear in the nodes that are not closed, with a large
// factor.
std::vector<Hash128> HashRules(const GrammarIr& ir, const std::vector<Hash128>& closed);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_FACTS_RULE_HASHES_H_
