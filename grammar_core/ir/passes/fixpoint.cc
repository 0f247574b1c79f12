#include "grammar_core/ir/passes/fixpoint.h"

#include <cassert>

#include "grammar_core/base/limits.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/object_end.h"

namespace maskd {

std::vector<NodeId> DependedOn(const GrammarIr& ir, NodeId node) {
  const IrNode& n = ir.nodes[node];
  if (n.kind == IrKind::kCall) return {ir.rules[CalledRuleOf(n)].body};
  if (n.kind == IrKind::kObject) {
    std::vector<NodeId> values;
    for (const ObjectSpec::Member& member : ObjectOf(ir, n).members)
      if (member.required) values.push_back(member.value);
    return values;
  }
  const auto first = ir.children.begin() + n.first_child;
  return {first, first + n.child_count};
}

bool AppendConditional(const GrammarIr& ir, NodeId node, std::vector<NodeId>* parts) {
  if (ir.nodes[node].kind != IrKind::kObject) return false;
  const ObjectSpec& spec = ObjectOf(ir, ir.nodes[node]);
  if (!HasConditions(spec)) return false;
  AppendNodes(spec, parts);
  return true;
}

// Where that is too hard to tell, the engine is left to say so when it gets there.
absl::StatusOr<bool> CanBeEnded(const GrammarIr& ir, NodeId node, const std::vector<bool>& has,
                                Budget& budget) {
  assert(ir.nodes[node].kind == IrKind::kObject && has.size() == ir.nodes.size());
  const ObjectEnd end(ObjectOf(ir, ir.nodes[node]),
                      [&](NodeId part) { return static_cast<bool>(has[part]); });
  const absl::StatusOr<bool> can_end =
      end.CanEnd(end.Start(), Limits().emptiness_states,
                 [&](std::int64_t units) { return budget.Spend(units); });
  if (absl::Status status = budget.Spend(0); !status.ok()) return status;
  return !can_end.ok() || *can_end;
}

}  // namespace maskd
