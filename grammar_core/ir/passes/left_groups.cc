#include "grammar_core/ir/passes/left_groups.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/passes/left_forms.h"

namespace maskd {

absl::Status LeftGroups::Find(Budget& budget) {
  Graph calls(ir_.rules.size());
  for (RuleId rule = 0; rule < ir_.rules.size(); ++rule)
    if (absl::Status status = Read(rule, budget, &calls[rule]); !status.ok()) return status;
  absl::StatusOr<std::vector<std::vector<RuleId>>> components = StrongComponents(calls, budget);
  if (!components.ok()) return components.status();
  group_of_.resize(ir_.rules.size());
  variable_of_.resize(ir_.rules.size());
  for (std::vector<RuleId>& rules : *components) Add(calls, std::move(rules));
  return absl::OkStatus();
}

absl::Status LeftGroups::Read(RuleId rule, Budget& budget, std::vector<RuleId>* calls) {
  std::vector<NodeId> open = {ir_.rules[rule].body};
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    if (seen_by_[node] == rule + 1) continue;
    seen_by_[node] = rule + 1;
    if (ir_.nodes[node].kind == IrKind::kCall) {
      calls->push_back(CalledRuleOf(ir_.nodes[node]));
      continue;
    }
    const std::vector<NodeId> next = Begins(ir_, nullable_, node);
    const auto units = static_cast<std::int64_t>(1 + next.size());
    if (absl::Status status = budget.Spend(units); !status.ok()) return status;
    open.insert(open.end(), next.begin(), next.end());
  }
  return absl::OkStatus();
}

void LeftGroups::Add(const Graph& calls, std::vector<RuleId> rules) {
  assert(!rules.empty());
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    group_of_[rules[i]] = groups_.size();
    variable_of_[rules[i]] = i;
  }
  const RuleId first = rules.front();
  const bool recursive = rules.size() > 1 || std::find(calls[first].begin(), calls[first].end(),
                                                       first) != calls[first].end();
  groups_.push_back({std::move(rules), recursive});
}

absl::Status KeptParts::Find(Budget& budget) {
  Want(ir_.start);
  while (!open_.empty() || !open_begins_.empty()) {
    if (absl::Status status = budget.Spend(); !status.ok()) return status;
    if (!open_begins_.empty()) {
      const Beginning beginning = open_begins_.back();
      open_begins_.pop_back();
      ReadBeginning(beginning);
    } else {
      const NodeId node = open_.back();
      open_.pop_back();
      ReadKept(node);
    }
  }
  return absl::OkStatus();
}

void KeptParts::Want(RuleId rule) {
  assert(rule < ir_.rules.size());
  wanted_[rule] = true;
  const std::size_t group = groups_.GroupOf(rule);
  if (read_[group]) return;
  read_[group] = true;
  for (const RuleId member : groups_.all()[group].rules) {
    const NodeId body = ir_.rules[member].body;
    if (groups_.Recursive(member))
      Begin({body, group});
    else
      Keep(body);
  }
}

void KeptParts::Keep(NodeId node) {
  if (kept_[node]) return;
  kept_[node] = true;
  open_.push_back(node);
}

void KeptParts::Begin(Beginning beginning) {
  if (begins_in_[beginning.node] == beginning.group + 1) return;
  begins_in_[beginning.node] = beginning.group + 1;
  open_begins_.push_back(beginning);
}

void KeptParts::ReadKept(NodeId node) {
  const IrNode& n = ir_.nodes[node];
  for (std::uint32_t i = 0; i < n.child_count; ++i) Keep(ir_.children[n.first_child + i]);
  if (n.kind == IrKind::kCall) Want(CalledRuleOf(n));
  if (n.kind != IrKind::kObject) return;
  std::vector<NodeId> parts;
  AppendNodes(ObjectOf(ir_, n), &parts);
  for (const NodeId part : parts) Keep(part);
}

void KeptParts::ReadBeginning(const Beginning& beginning) {
  const IrNode& n = ir_.nodes[beginning.node];
  if (n.kind == IrKind::kCall && groups_.GroupOf(CalledRuleOf(n)) == beginning.group) return;
  const bool is_operator =
      n.kind == IrKind::kConcat || n.kind == IrKind::kAlt || n.kind == IrKind::kRepeat;
  if (!is_operator) return Keep(beginning.node);
  for (const NodeId next : Begins(ir_, nullable_, beginning.node)) Begin({next, beginning.group});
  if (n.kind == IrKind::kRepeat && AsRepeat(n).max > 1) Keep(ir_.children[n.first_child]);
  if (n.kind != IrKind::kConcat) return;
  for (std::uint32_t i = 1; i < n.child_count; ++i) Keep(ir_.children[n.first_child + i]);
}

}  // namespace maskd
