#include "grammar_core/ir/passes/rebuild.h"

#include <utility>
#include <vector>

#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {
namespace {

class Rebuilder {
 public:
  Rebuilder(GrammarIr* ir, const Limits& limits, Budget& budget,
            const std::function<bool(NodeId)>& keep)
      : ir_(*ir),
        budget_(budget),
        keep_(keep),
        builder_(limits),
        copier_(ir, &builder_),
        reached_(ir->nodes.size(), false),
        rule_reached_(ir->rules.size(), false) {}

  absl::StatusOr<GrammarIr> Run() && {
    if (absl::Status status = Reach(); !status.ok()) return status;
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule) {
      if (rule_reached_[rule]) copier_.DeclareRule(rule);
    }
    for (NodeId node = 0; node < ir_.nodes.size(); ++node) {
      if (!reached_[node]) continue;
      if (absl::Status status = copier_.Copy(node, budget_); !status.ok()) return status;
    }
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule) {
      if (!rule_reached_[rule]) continue;
      builder_.DefineRule(copier_.RuleOf(rule), copier_.CopyOf(ir_.rules[rule].body));
    }
    return std::move(builder_).Build(copier_.RuleOf(ir_.start));
  }

 private:
  void Push(NodeId node) {
    if (reached_[node] || !keep_(node)) return;
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
      if (n.kind == IrKind::kCall) PushRule(n.a);
      if (n.kind == IrKind::kObject) PushObject(ir_.objects[n.a]);
    }
    return absl::OkStatus();
  }

  void PushObject(const ObjectSpec& spec) {
    std::vector<NodeId> nodes;
    AppendNodes(spec, &nodes);
    for (const NodeId node : nodes) Push(node);
  }

  const GrammarIr& ir_;
  Budget& budget_;
  const std::function<bool(NodeId)>& keep_;
  IrBuilder builder_;
  IrCopier copier_;
  std::vector<bool> reached_;
  std::vector<bool> rule_reached_;
  std::vector<NodeId> queue_;
};

}  // namespace

absl::StatusOr<GrammarIr> Rebuild(GrammarIr ir, const Limits& limits, Budget& budget,
                                  const std::function<bool(NodeId)>& keep) {
  return Rebuilder(&ir, limits, budget, keep).Run();
}

}  // namespace maskd
