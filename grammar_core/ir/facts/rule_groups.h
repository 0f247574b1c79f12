// The rules of a grammar in groups that call each other, callees first.
//
// A group is a strongly connected component of the call graph, with the nodes of its rules' bodies,
// less those that a group before it has. Each comes once and after its children; for the most part
// callees come before callers here, too.
#ifndef MASKD_GRAMMAR_CORE_IR_FACTS_RULE_GROUPS_H_
#define MASKD_GRAMMAR_CORE_IR_FACTS_RULE_GROUPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {

// Rules that call one another, and what their bodies are made of.
struct RuleGroup {
  std::vector<RuleId> rules;
  std::vector<NodeId> nodes;
};

// Errors: those of the budget.
absl::StatusOr<std::vector<RuleGroup>> GroupRules(const GrammarIr& ir, Budget& budget);

// The nodes directly below `node`: its children, or what an object is made of.
void AppendParts(const GrammarIr& ir, NodeId node, std::vector<NodeId>* out);
// Calls `visit` with each of them, for loops over many nodes.
template <typename Visit>
void ForEachPart(const GrammarIr& ir, NodeId node, Visit visit) {
  const IrNode& n = ir.nodes[node];
  for (std::uint32_t i = 0; i < n.child_count; ++i) visit(ir.children[n.first_child + i]);
  if (n.kind == IrKind::kObject) ForEachNode(ObjectOf(ir, n), visit);
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_FACTS_RULE_GROUPS_H_
