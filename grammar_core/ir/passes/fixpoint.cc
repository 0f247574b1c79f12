#include "grammar_core/ir/passes/fixpoint.h"

#include <cassert>
#include <numeric>

#include "grammar_core/base/limits.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/object_end.h"

namespace maskd {

void AppendDependedOn(const GrammarIr& ir, NodeId node, std::vector<NodeId>* out) {
  const IrNode& n = ir.nodes[node];
  if (n.kind == IrKind::kCall) {
    out->push_back(ir.rules[CalledRuleOf(n)].body);
  } else if (n.kind == IrKind::kObject) {
    for (const ObjectSpec::Member& member : ObjectOf(ir, n).members)
      if (member.required) out->push_back(member.value);
  } else {
    const auto first = ir.children.begin() + n.first_child;
    out->insert(out->end(), first, first + n.child_count);
  }
}

std::vector<NodeId> DependedOn(const GrammarIr& ir, NodeId node) {
  std::vector<NodeId> nodes;
  AppendDependedOn(ir, node, &nodes);
  return nodes;
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

// Counts the users of each node, then puts each user in its place.
NodeUsers::NodeUsers(const std::vector<NodeId>& needed, const std::vector<std::uint32_t>& ends)
    : begins_(ends.size() + 2, 0), users_(needed.size()) {
  for (const NodeId node : needed) ++begins_[node + 2];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::uint32_t at = 0;
  for (NodeId user = 0; user < ends.size(); ++user)
    for (; at < ends[user]; ++at) users_[begins_[needed[at] + 1]++] = user;
  assert(at == needed.size() && begins_.back() == needed.size());
}

}  // namespace maskd
