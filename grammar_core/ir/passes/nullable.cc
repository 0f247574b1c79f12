#include "grammar_core/ir/passes/nullable.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/passes/fixpoint.h"

namespace maskd {
namespace {

NodeNeeds NullableNeeds(const IrNode& node) {
  switch (node.kind) {
    case IrKind::kEmpty:
      return NodeNeeds::kAlways;
    case IrKind::kAlt:
      return NodeNeeds::kAnyChild;
    case IrKind::kRepeat:
      return AsRepeat(node).min == 0 ? NodeNeeds::kAlways : NodeNeeds::kAllChildren;
    case IrKind::kConcat:
    case IrKind::kEncode:
    case IrKind::kCall:
    case IrKind::kAnd:
    case IrKind::kLimited:
      return NodeNeeds::kAllChildren;
    default:
      return NodeNeeds::kNever;
  }
}

// Whether each complement is nullable. A complement has characters below it, which call no rule, so
// one look at its children, which come before it, is enough.
absl::StatusOr<std::vector<bool>> NullableComplements(const GrammarIr& ir, Budget& budget) {
  std::vector<bool> nullable(ir.nodes.size(), false);
  for (NodeId node = 0; node < ir.nodes.size(); ++node) {
    const IrNode& n = ir.nodes[node];
    if (absl::Status status = budget.Spend(1 + n.child_count); !status.ok()) return status;
    const auto first = ir.children.begin() + n.first_child;
    const auto last = first + n.child_count;
    const auto is_nullable = [&](NodeId child) { return nullable[child]; };
    if (n.kind == IrKind::kNot)
      nullable[node] = !nullable[*first];
    else if (const NodeNeeds needs = NullableNeeds(n); needs == NodeNeeds::kAnyChild)
      nullable[node] = std::any_of(first, last, is_nullable);
    else if (needs == NodeNeeds::kAllChildren)
      nullable[node] = n.child_count > 0 && std::all_of(first, last, is_nullable);
    else
      nullable[node] = needs == NodeNeeds::kAlways;
  }
  return nullable;
}

}  // namespace

absl::StatusOr<std::vector<bool>> PerhapsNullableNodes(const GrammarIr& ir, Budget& budget) {
  const auto units = static_cast<std::int64_t>(ir.nodes.size() + ir.children.size());
  if (absl::Status status = budget.Spend(units); !status.ok()) return status;
  std::vector<bool> nullable(ir.nodes.size(), false);
  for (NodeId node = 0; node < ir.nodes.size(); ++node) {
    const IrNode& n = ir.nodes[node];
    const auto children = std::span(ir.children).subspan(n.first_child, n.child_count);
    const auto is_nullable = [&](NodeId child) { return static_cast<bool>(nullable[child]); };
    const NodeNeeds needs = NullableNeeds(n);
    if (n.kind == IrKind::kNot || n.kind == IrKind::kCall || needs == NodeNeeds::kAlways)
      nullable[node] = true;
    else if (needs == NodeNeeds::kAnyChild)
      nullable[node] = std::ranges::any_of(children, is_nullable);
    else if (needs == NodeNeeds::kAllChildren)
      nullable[node] = std::ranges::all_of(children, is_nullable);
  }
  return nullable;
}

absl::StatusOr<std::vector<bool>> NullableNodes(const GrammarIr& ir, Budget& budget) {
  std::vector<bool> complements;
  if (std::any_of(ir.nodes.begin(), ir.nodes.end(),
                  [](const IrNode& node) { return node.kind == IrKind::kNot; })) {
    absl::StatusOr<std::vector<bool>> found = NullableComplements(ir, budget);
    if (!found.ok()) return found.status();
    complements = *std::move(found);
  }
  return LeastFixpoint(ir, budget, [&](NodeId node) {
    if (ir.nodes[node].kind != IrKind::kNot) return NullableNeeds(ir.nodes[node]);
    return complements[node] ? NodeNeeds::kAlways : NodeNeeds::kNever;
  });
}

}  // namespace maskd
