#include "grammar_core/ir/passes/productive.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/object_end.h"
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

// Whether `node` is productive if those that `has` names are.
bool FollowsFrom(const GrammarIr& ir, const std::vector<bool>& has, const IrNode& node) {
  const NodeNeeds needs = ProductiveNeeds(node);
  if (needs == NodeNeeds::kNever || needs == NodeNeeds::kAlways) return needs == NodeNeeds::kAlways;
  if (node.kind == IrKind::kCall) return has[ir.rules[CalledRuleOf(node)].body];
  if (node.kind == IrKind::kObject) {
    const ObjectSpec& spec = ObjectOf(ir, node);
    return !HasConditions(spec) &&
           absl::c_all_of(spec.members, [&](const ObjectSpec::Member& member) {
             return !member.required || has[member.value];
           });
  }
  const auto children =
      absl::MakeConstSpan(ir.children).subspan(node.first_child, node.child_count);
  const auto is_known = [&](NodeId child) { return static_cast<bool>(has[child]); };
  return needs == NodeNeeds::kAnyChild ? absl::c_any_of(children, is_known)
                                       : absl::c_all_of(children, is_known);
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

namespace {

// Some productive nodes, as far as a few looks at each node tell: parts come before what they
// are parts of, but rules may stand behind their calls. Ends once `until` is known of.
template <typename Until>
std::vector<bool> SomeProductive(const GrammarIr& ir, Until until) {
  constexpr int kRounds = 4;
  std::vector<bool> has(ir.nodes.size(), false);
  for (int round = 0; round < kRounds && !until(has); ++round)
    for (NodeId node = 0; node < ir.nodes.size(); ++node)
      if (!has[node]) has[node] = FollowsFrom(ir, has, ir.nodes[node]);
  return has;
}

// All but Nothing, where that is soon seen, as it mostly is; else by the whole search.
absl::StatusOr<std::vector<bool>> ProductiveBySight(const GrammarIr& ir, Budget& budget) {
  const auto units = static_cast<std::int64_t>(ir.nodes.size() + ir.children.size());
  if (absl::Status status = budget.Spend(units); !status.ok()) return status;
  const auto are_all = [&](const std::vector<bool>& has) {
    for (NodeId node = 0; node < ir.nodes.size(); ++node)
      if (!has[node] && ir.nodes[node].kind != IrKind::kNothing) return false;
    return true;
  };
  std::vector<bool> some = SomeProductive(ir, are_all);
  if (are_all(some)) return some;
  return ProductiveNodes(ir, budget);
}

}  // namespace

bool IsSurelyProductive(const GrammarIr& ir) {
  const NodeId start = ir.rules[ir.start].body;
  const auto is_known = [&](const std::vector<bool>& has) { return static_cast<bool>(has[start]); };
  return is_known(SomeProductive(ir, is_known));
}

absl::StatusOr<GrammarIr> DropUnproductive(GrammarIr ir, IrForm form, const Limits& limits,
                                           Budget& budget, const RuleFaults& faults) {
  const absl::StatusOr<std::vector<bool>> found = ProductiveBySight(ir, budget);
  if (!found.ok()) return found.status();
  const std::vector<bool>& productive = *found;
  if (!productive[ir.rules[ir.start].body]) return Unsatisfiable(ir, productive, faults);
  return Rebuild(std::move(ir), form, limits, budget,
                 [&](NodeId node) { return static_cast<bool>(productive[node]); });
}

}  // namespace maskd
