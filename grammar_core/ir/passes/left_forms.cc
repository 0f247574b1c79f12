// The form of a node is made from those of its children, along what a text of it may begin with. It
// is a derivative by a rule: the texts that begin with no variable, and for each variable what
// follows it.
//
// Invariant  a form holds no empty text; whether the node has it is said by `nullable`.
// Cost       once a node; quadratic in the length of a sequence whose parts may be empty.
// Source     Brzozowski, "Derivatives of Regular Expressions", 1964, by a rule in place of a
//            letter.
#include "grammar_core/ir/passes/left_forms.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/passes/fixpoint.h"

namespace maskd {

void AppendBegins(const GrammarIr& ir, const std::vector<bool>& nullable, NodeId node,
                  std::vector<NodeId>* out) {
  const IrNode& n = ir.nodes[node];
  const bool begins_by_byte =
      n.kind == IrKind::kObject || n.kind == IrKind::kDistinct || n.kind == IrKind::kBlock;
  if (begins_by_byte) return;
  if (n.kind != IrKind::kConcat) return AppendDependedOn(ir, node, out);
  for (std::uint32_t i = 0; i < n.child_count; ++i) {
    const NodeId child = ir.children[n.first_child + i];
    out->push_back(child);
    if (!nullable[child]) return;
  }
}

std::vector<NodeId> Begins(const GrammarIr& ir, const std::vector<bool>& nullable, NodeId node) {
  std::vector<NodeId> nodes;
  AppendBegins(ir, nullable, node, &nodes);
  return nodes;
}

LeftForms::LeftForms(const GrammarIr& ir, const std::vector<bool>& nullable, const IrCopier& copier,
                     IrBuilder* builder, VariableOf variable_of, NonEmptyRule non_empty_rule)
    : ir_(ir),
      nullable_(nullable),
      copier_(copier),
      builder_(builder),
      variable_of_(std::move(variable_of)),
      non_empty_rule_(std::move(non_empty_rule)) {}

absl::StatusOr<LeftForm> LeftForms::Of(const IrRule& rule, Budget& budget) {
  const NodeId root = rule.body;
  assert(root < ir_.nodes.size() && nullable_.size() == ir_.nodes.size());
  // What has no form yet; children have smaller numbers than their parents.
  std::vector<NodeId> open = {root};
  std::vector<NodeId> missing;
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    if (!forms_.try_emplace(node).second) continue;
    missing.push_back(node);
    if (ir_.nodes[node].kind == IrKind::kCall) continue;
    for (const NodeId child : Begins(ir_, nullable_, node)) open.push_back(child);
  }
  std::sort(missing.begin(), missing.end());
  for (const NodeId node : missing)
    if (absl::Status status = Make(node, rule, budget); !status.ok()) return status;
  return forms_[root];
}

absl::Status LeftForms::Make(NodeId node, const IrRule& rule, Budget& budget) {
  const IrNode& n = ir_.nodes[node];
  LeftForm form;
  switch (n.kind) {
    case IrKind::kNothing:
    case IrKind::kEmpty:
      form = {builder_->Nothing(), {}};
      break;
    case IrKind::kCall:
      form = OfCall(node);
      break;
    case IrKind::kConcat:
      form = OfConcat(n);
      break;
    case IrKind::kAlt:
      form = OfAlt(n);
      break;
    case IrKind::kRepeat:
      form = OfRepeat(n);
      break;
    case IrKind::kEncode:
      form = OfEncode(node);
      break;
    case IrKind::kLimited:
      if (nullable_[node] || !forms_[ir_.children[n.first_child]].calls.empty())
        return UnsupportedAt(rule.place, "max_tokens", "where a rule begins with itself");
      form = {copier_.CopyOf(node), {}};
      break;
    default:
      form = OfLeaf(node);
  }
  const auto units = static_cast<std::int64_t>(1 + n.child_count + form.calls.size());
  forms_[node] = std::move(form);
  if (absl::Status status = budget.Spend(units); !status.ok()) return status;
  return builder_->status();
}

LeftForm LeftForms::OfCall(NodeId node) {
  const RuleId rule = CalledRuleOf(ir_.nodes[node]);
  if (const std::uint32_t variable = variable_of_(rule); variable != kNoVariable)
    return {builder_->Nothing(), {{variable, {builder_->Empty(), true}}}};
  return {builder_->Call(non_empty_rule_(rule)), {}};
}

LeftForm LeftForms::OfConcat(const IrNode& n) {
  std::vector<Way> ways;
  for (std::uint32_t i = 0; i < n.child_count; ++i) {
    const NodeId child = ir_.children[n.first_child + i];
    LeftRest rest = {builder_->Empty(), true};
    std::vector<NodeId> behind;
    for (std::uint32_t j = i + 1; j < n.child_count; ++j) {
      const NodeId next = ir_.children[n.first_child + j];
      behind.push_back(copier_.CopyOf(next));
      rest.nullable = rest.nullable && nullable_[next];
    }
    rest.node = builder_->Concat(behind);
    ways.push_back({&forms_[child], rest});
    if (!nullable_[child]) break;
  }
  return Union(ways);
}

LeftForm LeftForms::OfAlt(const IrNode& n) {
  std::vector<Way> ways;
  for (std::uint32_t i = 0; i < n.child_count; ++i)
    ways.push_back({&forms_[ir_.children[n.first_child + i]], {builder_->Empty(), true}});
  return Union(ways);
}

// The first round that is not empty, and the others; where a round may be empty, any number of the
// remaining rounds.
LeftForm LeftForms::OfRepeat(const IrNode& n) {
  const NodeId body = ir_.children[n.first_child];
  assert(n.child_count == 1 && forms_.contains(body));
  const RepeatNode repeat = AsRepeat(n);
  const std::uint32_t min = repeat.min == 0 || nullable_[body] ? 0 : repeat.min - 1;
  const std::uint32_t max = repeat.max == kUnbounded ? kUnbounded : repeat.max - 1;
  const NodeId others = builder_->Repeat(copier_.CopyOf(body), min, max);
  return Union({{&forms_[body], {others, min == 0}}});
}

LeftForm LeftForms::OfEncode(NodeId node) {
  if (!nullable_[node]) return {copier_.CopyOf(node), {}};
  const IrNode& n = ir_.nodes[node];
  const NodeId characters = forms_[ir_.children[n.first_child]].plain;
  return {builder_->Encode(n.spelling, characters), {}};
}

LeftForm LeftForms::OfLeaf(NodeId node) {
  const NodeId copy = copier_.CopyOf(node);
  if (!nullable_[node]) return {copy, {}};
  // An intersection or complement of characters.
  const NodeId not_empty = builder_->Repeat(builder_->AnyChar(), 1, kUnbounded);
  return {builder_->And({copy, not_empty}), {}};
}

LeftForm LeftForms::Union(const std::vector<Way>& ways) {
  std::vector<NodeId> plain;
  std::vector<LeftForm::Call> calls;
  for (const Way& way : ways) {
    plain.push_back(builder_->Concat({way.form->plain, way.rest.node}));
    for (const LeftForm::Call& call : way.form->calls) {
      const NodeId rest = builder_->Concat({call.rest.node, way.rest.node});
      calls.push_back({call.variable, {rest, call.rest.nullable && way.rest.nullable}});
    }
  }
  std::sort(calls.begin(), calls.end(), [](const LeftForm::Call& x, const LeftForm::Call& y) {
    return x.variable < y.variable;
  });
  LeftForm form = {builder_->Alt(std::move(plain)), {}};
  for (auto call = calls.begin(); call != calls.end();) {
    std::vector<NodeId> rests;
    bool nullable = false;
    const std::uint32_t variable = call->variable;
    for (; call != calls.end() && call->variable == variable; ++call) {
      rests.push_back(call->rest.node);
      nullable = nullable || call->rest.nullable;
    }
    form.calls.push_back({variable, {builder_->Alt(std::move(rests)), nullable}});
  }
  return form;
}

}  // namespace maskd
