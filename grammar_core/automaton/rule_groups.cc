#include "grammar_core/automaton/rule_groups.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace maskd {
namespace {

constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

// Nodes of one rule's body, and the rules it calls.
struct Body {
  std::vector<NodeId> nodes;
  std::vector<RuleId> calls;
};

// Walks each body once, marking nodes with the rule that saw them last.
class BodyReader {
 public:
  explicit BodyReader(const GrammarIr& ir) : ir_(ir), seen_by_(ir.nodes.size(), kUnseen) {}

  Body Read(RuleId rule) {
    Body body;
    Push(ir_.rules[rule].body, rule);
    while (!open_.empty()) {
      const NodeId id = open_.back();
      open_.pop_back();
      body.nodes.push_back(id);
      if (ir_.nodes[id].kind == IrKind::kCall) body.calls.push_back(ir_.nodes[id].a);
      parts_.clear();
      AppendParts(ir_, id, &parts_);
      for (const NodeId part : parts_) Push(part, rule);
    }
    return body;
  }

 private:
  void Push(NodeId node, RuleId rule) {
    if (seen_by_[node] == rule) return;
    seen_by_[node] = rule;
    open_.push_back(node);
  }

  const GrammarIr& ir_;
  std::vector<RuleId> seen_by_;
  std::vector<NodeId> open_;
  std::vector<NodeId> parts_;
};

// Tarjan's algorithm with the call stack as a vector.
class Components {
 public:
  explicit Components(const std::vector<Body>& bodies)
      : bodies_(bodies),
        index_(bodies.size(), kUnseen),
        low_(bodies.size(), 0),
        on_stack_(bodies.size(), false) {}

  std::vector<std::vector<RuleId>> Find() {
    for (RuleId rule = 0; rule < bodies_.size(); ++rule) {
      if (index_[rule] == kUnseen) Visit(rule);
    }
    return std::move(found_);
  }

 private:
  struct Frame {
    RuleId rule;
    std::size_t next_call;
  };

  void Visit(RuleId root) {
    Enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::vector<RuleId>& calls = bodies_[frame.rule].calls;
      if (frame.next_call == calls.size()) {
        Leave();
        continue;
      }
      const RuleId callee = calls[frame.next_call++];
      if (index_[callee] == kUnseen) {
        Enter(callee);
      } else if (on_stack_[callee]) {
        low_[frame.rule] = std::min(low_[frame.rule], index_[callee]);
      }
    }
  }

  void Enter(RuleId rule) {
    index_[rule] = low_[rule] = next_index_++;
    on_stack_[rule] = true;
    stack_.push_back(rule);
    frames_.push_back({rule, 0});
  }

  void Leave() {
    const RuleId rule = frames_.back().rule;
    frames_.pop_back();
    if (!frames_.empty()) {
      const RuleId caller = frames_.back().rule;
      low_[caller] = std::min(low_[caller], low_[rule]);
    }
    if (low_[rule] == index_[rule]) PopComponent(rule);
  }

  void PopComponent(RuleId root) {
    std::vector<RuleId>& component = found_.emplace_back();
    RuleId rule;
    do {
      rule = stack_.back();
      stack_.pop_back();
      on_stack_[rule] = false;
      component.push_back(rule);
    } while (rule != root);
  }

  const std::vector<Body>& bodies_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<bool> on_stack_;
  std::vector<RuleId> stack_;
  std::vector<Frame> frames_;
  std::uint32_t next_index_ = 0;
  std::vector<std::vector<RuleId>> found_;
};

}  // namespace

void AppendParts(const GrammarIr& ir, NodeId node, std::vector<NodeId>* out) {
  const IrNode& n = ir.nodes[node];
  const auto first = ir.children.begin() + n.first_child;
  out->insert(out->end(), first, first + n.child_count);
  if (n.kind != IrKind::kObject) return;
  const ObjectSpec& spec = ir.objects[n.a];
  for (const ObjectSpec::Member& member : spec.members) out->push_back(member.value);
  out->insert(out->end(), {spec.other_name, spec.other_value, spec.space});
}

std::vector<RuleGroup> GroupRules(const GrammarIr& ir) {
  BodyReader reader(ir);
  std::vector<Body> bodies;
  bodies.reserve(ir.rules.size());
  for (RuleId rule = 0; rule < ir.rules.size(); ++rule) bodies.push_back(reader.Read(rule));

  std::vector<RuleGroup> groups;
  for (std::vector<RuleId>& rules : Components(bodies).Find()) {
    RuleGroup& group = groups.emplace_back();
    group.rules = std::move(rules);
    std::sort(group.rules.begin(), group.rules.end());
    for (const RuleId rule : group.rules) {
      group.nodes.insert(group.nodes.end(), bodies[rule].nodes.begin(), bodies[rule].nodes.end());
    }
    std::sort(group.nodes.begin(), group.nodes.end());
    group.nodes.erase(std::unique(group.nodes.begin(), group.nodes.end()), group.nodes.end());
  }
  return groups;
}

}  // namespace maskd
