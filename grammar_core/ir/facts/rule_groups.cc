// Rules in groups that call one another, the called ones first.
//
// A grammar's rules form a graph of calls. Its strongly connected components are the groups: within
// one every rule may be needed to know every other, and between groups there is an order. What is
// asked about a grammar (grammar_facts.h) is then found group by group, with all that a group calls
// known.
//
// Invariant  a node is in the first group that reaches it, once and behind its parts: ids are in
//            that order, as the builder makes parts first.
// Cost       linear in the nodes, and in those with calls that each body reaches; charged to the
//            budget.
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

constexpr RuleId kNoRule = std::numeric_limits<RuleId>::max();

// Whether each node has a call in it. Parts come before what they are parts of.
absl::StatusOr<std::vector<bool>> NodesWithCalls(const GrammarIr& ir, Budget& budget) {
  std::vector<bool> calls(ir.nodes.size(), false);
  for (NodeId node = 0; node < ir.nodes.size(); ++node) {
    bool has = ir.nodes[node].kind == IrKind::kCall;
    std::int64_t units = 1;
    ForEachPart(ir, node, [&](NodeId part) {
      has = has || calls[part];
      ++units;
    });
    calls[node] = has;
    if (absl::Status status = budget.Spend(units); !status.ok()) return status;
  }
  return calls;
}

// Walks bodies through nodes that it has not marked for the same rule. The mark says who saw a node
// last, so no list of seen nodes is cleared between rules.
class BodyReader {
 public:
  explicit BodyReader(const GrammarIr& ir) : ir_(ir), seen_by_(ir.nodes.size(), kNoRule) {}

  // Appends the rules that the body of `rule` calls.
  absl::Status ReadCalls(RuleId rule, const std::vector<bool>& has_calls, Budget& budget,
                         std::vector<RuleId>* calls) {
    const auto push = [&](NodeId node) {
      if (has_calls[node]) Push(node, rule);
    };
    push(ir_.rules[rule].body);
    while (!open_.empty()) {
      const NodeId id = Pop();
      if (absl::Status status = budget.Spend(); !status.ok()) return status;
      if (ir_.nodes[id].kind == IrKind::kCall) calls->push_back(CalledRuleOf(ir_.nodes[id]));
      ForEachPart(ir_, id, push);
    }
    return absl::OkStatus();
  }

  // Appends the nodes of the body of `rule` that no call before has appended.
  absl::Status ReadNodes(RuleId rule, Budget& budget, std::vector<NodeId>* nodes) {
    // One mark for all rules.
    const auto push = [&](NodeId node) { Push(node, 0); };
    push(ir_.rules[rule].body);
    while (!open_.empty()) {
      const NodeId id = Pop();
      if (absl::Status status = budget.Spend(); !status.ok()) return status;
      nodes->push_back(id);
      ForEachPart(ir_, id, push);
    }
    return absl::OkStatus();
  }

 private:
  void Push(NodeId node, RuleId mark) {
    assert(node < ir_.nodes.size());
    if (seen_by_[node] == mark) return;
    seen_by_[node] = mark;
    open_.push_back(node);
  }

  NodeId Pop() {
    const NodeId node = open_.back();
    open_.pop_back();
    return node;
  }

  const GrammarIr& ir_;
  std::vector<RuleId> seen_by_;
  std::vector<NodeId> open_;
};

absl::StatusOr<Graph> CallsOf(const GrammarIr& ir, Budget& budget) {
  const absl::StatusOr<std::vector<bool>> has_calls = NodesWithCalls(ir, budget);
  if (!has_calls.ok()) return has_calls.status();
  BodyReader reader(ir);
  Graph calls(ir.rules.size());
  for (RuleId rule = 0; rule < ir.rules.size(); ++rule) {
    absl::Status status = reader.ReadCalls(rule, *has_calls, budget, &calls[rule]);
    if (!status.ok()) return status;
  }
  return calls;
}

}  // namespace

void AppendParts(const GrammarIr& ir, NodeId node, std::vector<NodeId>* out) {
  assert(node < ir.nodes.size());
  ForEachPart(ir, node, [&](NodeId part) { out->push_back(part); });
}

// Components come in the order of their ends, so a group stands behind all that it calls.
absl::StatusOr<std::vector<RuleGroup>> GroupRules(const GrammarIr& ir, Budget& budget) {
  const absl::StatusOr<Graph> calls = CallsOf(ir, budget);
  if (!calls.ok()) return calls.status();
  absl::StatusOr<std::vector<std::vector<RuleId>>> components = StrongComponents(*calls, budget);
  if (!components.ok()) return components.status();
  BodyReader reader(ir);
  constexpr std::size_t kUsualNodes = 16;
  std::vector<RuleGroup> groups;
  groups.reserve(components->size());
  for (std::vector<RuleId>& rules : *components) {
    RuleGroup& group = groups.emplace_back();
    group.rules = std::move(rules);
    group.nodes.reserve(kUsualNodes);
    for (const RuleId rule : group.rules) {
      absl::Status status = reader.ReadNodes(rule, budget, &group.nodes);
      if (!status.ok()) return status;
    }
    std::sort(group.nodes.begin(), group.nodes.end());
  }
  return groups;
}

}  // namespace maskd
