#include "grammar_core/ir/passes/fixpoint.h"

namespace maskd {

std::vector<NodeId> DependedOn(const GrammarIr& ir, NodeId node) {
  const IrNode& n = ir.nodes[node];
  if (n.kind == IrKind::kCall) return {ir.rules[n.a].body};
  if (n.kind == IrKind::kObject) {
    std::vector<NodeId> values;
    for (const ObjectSpec::Member& member : ir.objects[n.a].members) {
      if (member.required) values.push_back(member.value);
    }
    return values;
  }
  const auto first = ir.children.begin() + n.first_child;
  return {first, first + n.child_count};
}

}  // namespace maskd
