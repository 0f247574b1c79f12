#include "grammar_core/ir/passes/left_recursion.h"

#include <vector>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
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
      return node.a == 0 ? NodeNeeds::kAlways : NodeNeeds::kAllChildren;
    case IrKind::kConcat:
    case IrKind::kEncode:
    case IrKind::kCall:
    case IrKind::kAnd:
      return NodeNeeds::kAllChildren;
    case IrKind::kNot:
      // Characters call no rule, so a careless yes only looks at more of a sequence.
      return NodeNeeds::kAlways;
    default:
      return NodeNeeds::kNever;
  }
}

// Depth-first search over "may begin with", with its own stack.
class Search {
 public:
  explicit Search(const GrammarIr& ir)
      : ir_(ir), nullable_(LeastFixpoint(ir, NullableNeeds)), mark_(ir.nodes.size(), kNew) {}

  absl::Status Run() {
    for (const IrRule& rule : ir_.rules) {
      if (absl::Status status = From(rule.body); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  enum Mark : char { kNew, kOpen, kDone };
  struct Frame {
    NodeId node;
    std::vector<NodeId> next;
  };

  // The nodes that the text of `node` may begin with.
  [[nodiscard]] std::vector<NodeId> Begins(NodeId node) const {
    const IrNode& n = ir_.nodes[node];
    if (n.kind == IrKind::kObject) return {};
    std::vector<NodeId> children = DependedOn(ir_, node);
    if (n.kind != IrKind::kConcat) return children;
    std::size_t count = 0;
    while (count < children.size() && nullable_[children[count]]) ++count;
    if (count < children.size()) children.resize(count + 1);
    return children;
  }

  void Open(NodeId node) {
    mark_[node] = kOpen;
    stack_.push_back({node, Begins(node)});
  }

  absl::Status From(NodeId root) {
    if (mark_[root] == kNew) Open(root);
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next.empty()) {
        mark_[frame.node] = kDone;
        stack_.pop_back();
        continue;
      }
      const NodeId node = frame.next.back();
      frame.next.pop_back();
      if (mark_[node] == kOpen) return Found();
      if (mark_[node] == kNew) Open(node);
    }
    return absl::OkStatus();
  }

  // Every cycle has a call; the innermost open one is on it.
  [[nodiscard]] absl::Status Found() const {
    RuleId rule = ir_.start;
    for (const Frame& frame : stack_) {
      if (ir_.nodes[frame.node].kind == IrKind::kCall) rule = ir_.nodes[frame.node].a;
    }
    return UnsupportedAt(ir_.rules[rule].place, "left recursion",
                         absl::StrCat("rule ", ir_.rules[rule].name, " can begin with itself"));
  }

  const GrammarIr& ir_;
  const std::vector<bool> nullable_;
  std::vector<Mark> mark_;
  std::vector<Frame> stack_;
};

}  // namespace

absl::Status CheckLeftRecursion(const GrammarIr& ir) { return Search(ir).Run(); }

}  // namespace maskd
