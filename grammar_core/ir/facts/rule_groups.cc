// Rules in groups that call one another, the called ones first.
//
// A grammar's rules form a graph of calls. Its strongly connected components are the groups: within
// one every rule may be needed to know every other, and between groups there is an order. What is
// asked about a grammar (grammar_facts.h) is then found group by group, with all that a group calls
// known.
//
// Invariant  a group has each node once and behind its parts: ids are in that order, as the builder
//            makes parts first.
// Cost       linear in the nodes that each body reaches, charged to the budget.
// Source     Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972.
#include "grammar_core/ir/facts/rule_groups.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <utility>

#include "grammar_core/base/strong_components.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

// Walks each body once, marking nodes with the rule that saw them last.
class BodyReader {
 public:
  explicit BodyReader(const GrammarIr& ir) : ir_(ir), seen_by_(ir.nodes.size(), kUnseen) {}

  // Appends the body's nodes to `nodes` and the rules it calls to `calls`.
  absl::Status Read(RuleId rule, Budget& budget, std::vector<NodeId>* nodes,
                    std::vector<RuleId>* calls) {
    Push(ir_.rules[rule].body, rule);
    while (!open_.empty()) {
      const NodeId id = open_.back();
      open_.pop_back();
      nodes->push_back(id);
      if (ir_.nodes[id].kind == IrKind::kCall) calls->push_back(CalledRuleOf(ir_.nodes[id]));
      parts_.clear();
      AppendParts(ir_, id, &parts_);
      const auto units = static_cast<std::int64_t>(1 + parts_.size());
      if (absl::Status status = budget.Spend(units); !status.ok()) return status;
      for (const NodeId part : parts_) Push(part, rule);
    }
    return absl::OkStatus();
  }

 private:
  // Bodies share nodes. The mark says who saw a node last, so no list of seen nodes is cleared
  // between rules.
  void Push(NodeId node, RuleId rule) {
    assert(node < ir_.nodes.size());
    if (seen_by_[node] == rule) return;
    seen_by_[node] = rule;
    open_.push_back(node);
  }

  const GrammarIr& ir_;
  std::vector<RuleId> seen_by_;
  std::vector<NodeId> open_;
  std::vector<NodeId> parts_;
};

}  // namespace

void AppendParts(const GrammarIr& ir, NodeId node, std::vector<NodeId>* out) {
  assert(node < ir.nodes.size());
  const IrNode& n = ir.nodes[node];
  const auto first = ir.children.begin() + n.first_child;
  out->insert(out->end(), first, first + n.child_count);
  if (n.kind != IrKind::kObject) return;
  AppendNodes(ObjectOf(ir, n), out);
}

// Components come in the order of their ends, so a group stands behind all that it calls.
absl::StatusOr<std::vector<RuleGroup>> GroupRules(const GrammarIr& ir, Budget& budget) {
  BodyReader reader(ir);
  std::vector<std::vector<NodeId>> nodes(ir.rules.size());
  Graph calls(ir.rules.size());
  for (RuleId rule = 0; rule < ir.rules.size(); ++rule) {
    absl::Status status = reader.Read(rule, budget, &nodes[rule], &calls[rule]);
    if (!status.ok()) return status;
  }
  absl::StatusOr<std::vector<std::vector<RuleId>>> components = StrongComponents(calls, budget);
  if (!components.ok()) return components.status();
  std::vector<RuleGroup> groups;
  std::vector<std::size_t> group_of(ir.nodes.size(), 0);  // the last that has the node, from 1
  for (std::vector<RuleId>& rules : *components) {
    RuleGroup& group = groups.emplace_back();
    group.rules = std::move(rules);
    for (const RuleId rule : group.rules) {
      std::sort(nodes[rule].begin(), nodes[rule].end());
      for (const NodeId node : nodes[rule])
        if (std::exchange(group_of[node], groups.size()) != groups.size())
          group.nodes.push_back(node);
    }
  }
  return groups;
}

}  // namespace maskd
