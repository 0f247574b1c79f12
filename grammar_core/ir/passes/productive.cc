#include "grammar_core/ir/passes/productive.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/passes/fixpoint.h"
#include "grammar_core/ir/passes/productive_nodes.h"

namespace maskd {
namespace {

NodeNeeds ProductiveNeeds(const IrNode& node) {
  switch (node.kind) {
    case IrKind::kNothing:
      return NodeNeeds::kNever;
    case IrKind::kAlt:
      return NodeNeeds::kAnyChild;
    case IrKind::kRepeat:
      return AsRepeat(node).min == 0 ? NodeNeeds::kAlways : NodeNeeds::kAllChildren;
    case IrKind::kConcat:
    case IrKind::kEncode:
    case IrKind::kCall:
    case IrKind::kObject:
    case IrKind::kDistinct:
    case IrKind::kLimited:
    case IrKind::kBlock:
      return NodeNeeds::kAllChildren;
    default:
      return NodeNeeds::kAlways;
  }
}

// An unproductive child that makes `node` so, or `node` itself where there is none.
NodeId UnproductiveChild(const GrammarIr& ir, const std::vector<bool>& productive, NodeId node) {
  for (const NodeId child : DependedOn(ir, node))
    if (!productive[child]) return child;
  return node;
}

// Follows one cause of the start's unproductivity down to where it ends or comes back on itself.
absl::Status Unsatisfiable(const GrammarIr& ir, const std::vector<bool>& productive,
                           const RuleFaults& faults) {
  RuleId rule = ir.start;
  std::vector<bool> seen(ir.nodes.size(), false);
  for (NodeId node = ir.rules[rule].body; !seen[node];) {
    seen[node] = true;
    if (ir.nodes[node].kind == IrKind::kCall) rule = CalledRuleOf(ir.nodes[node]);
    node = UnproductiveChild(ir, productive, node);
  }
  const auto fault = faults.find(rule);
  return fault != faults.end() ? fault->second
                               : InvalidAt(ir.rules[rule].place, "no text satisfies this grammar");
}

}  // namespace

absl::StatusOr<std::vector<bool>> ProductiveNodes(const GrammarIr& ir, Budget& budget) {
  return LeastFixpoint(ir, budget, [&](NodeId node) { return ProductiveNeeds(ir.nodes[node]); });
}

absl::StatusOr<GrammarIr> DropUnproductive(GrammarIr ir, IrForm form, const Limits& limits,
                                           Budget& budget, const RuleFaults& faults) {
  const absl::StatusOr<std::vector<bool>> found = ProductiveNodes(ir, budget);
  if (!found.ok()) return found.status();
  const std::vector<bool>& productive = *found;
  if (!productive[ir.rules[ir.start].body]) return Unsatisfiable(ir, productive, faults);
  return Rebuild(std::move(ir), form, limits, budget,
                 [&](NodeId node) { return static_cast<bool>(productive[node]); });
}

}  // namespace maskd
