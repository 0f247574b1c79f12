#include "grammar_core/ir/passes/rebuild.h"

#include <utility>
#include <vector>

#include "grammar_core/ir/facts/rule_groups.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/passes/compact.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {
namespace {

class Rebuilder {
 public:
  Rebuilder(GrammarIr ir, const Limits& limits, Budget& budget,
            const std::function<bool(NodeId)>& keep)
      : ir_(std::move(ir)),
        limits_(limits),
        budget_(budget),
        keep_(keep),
        reached_(ir_.nodes.size(), false),
        rule_reached_(ir_.rules.size(), false) {}

  absl::StatusOr<GrammarIr> Run(IrForm form) && {
    if (absl::Status status = Reach(); !status.ok()) return status;
    if (form == IrForm::kBuilt && !lost_) return Compact(std::move(ir_), reached_, rule_reached_);
    return Copy();
  }

 private:
  absl::StatusOr<GrammarIr> Copy() {
    IrBuilder builder(limits_);
    IrCopier copier(&ir_, &builder);
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule)
      if (rule_reached_[rule]) copier.DeclareRule(rule);
    for (NodeId node = 0; node < ir_.nodes.size(); ++node) {
      if (!reached_[node]) continue;
      if (absl::Status status = copier.Copy(node, budget_); !status.ok()) return status;
    }
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule) {
      if (!rule_reached_[rule]) continue;
      builder.DefineRule(copier.RuleOf(rule), copier.CopyOf(ir_.rules[rule].body));
    }
    return std::move(builder).Build(copier.RuleOf(ir_.start));
  }

  void Push(NodeId node) {
    if (reached_[node]) return;
    if (!keep_(node)) {
      // Values of members that must not be there are Nothing as they are.
      lost_ = lost_ || ir_.nodes[node].kind != IrKind::kNothing;
      return;
    }
    reached_[node] = true;
    queue_.push_back(node);
  }

  void PushRule(RuleId rule) {
    rule_reached_[rule] = true;
    Push(ir_.rules[rule].body);
  }

  absl::Status Reach() {
    PushRule(ir_.start);
    while (!queue_.empty()) {
      const IrNode& n = ir_.nodes[queue_.back()];
      queue_.pop_back();
      if (absl::Status status = budget_.Spend(1 + n.child_count); !status.ok()) return status;
      for (std::uint32_t i = 0; i < n.child_count; ++i) Push(ir_.children[n.first_child + i]);
      if (n.kind == IrKind::kCall) PushRule(CalledRuleOf(n));
      if (n.kind == IrKind::kObject)
        ForEachNode(ObjectOf(ir_, n), [&](NodeId part) { Push(part); });
    }
    return absl::OkStatus();
  }

  GrammarIr ir_;
  const Limits& limits_;
  Budget& budget_;
  const std::function<bool(NodeId)>& keep_;
  bool lost_ = false;  // whether anything reached is made of what is not kept
  std::vector<bool> reached_;
  std::vector<bool> rule_reached_;
  std::vector<NodeId> queue_;
};

}  // namespace

absl::StatusOr<GrammarIr> Rebuild(GrammarIr ir, IrForm form, const Limits& limits, Budget& budget,
                                  const std::function<bool(NodeId)>& keep) {
  return Rebuilder(std::move(ir), limits, budget, keep).Run(form);
}

}  // namespace maskd
