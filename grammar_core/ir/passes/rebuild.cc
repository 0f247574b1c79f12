#include "grammar_core/ir/passes/rebuild.h"

#include <utility>
#include <vector>

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

std::string ToUtf8(const std::u32string& text) {
  std::string utf8;
  for (const char32_t c : text) AppendUtf8(c, &utf8);
  return utf8;
}

class Rebuilder {
 public:
  Rebuilder(const GrammarIr& ir, const Limits& limits, const std::function<bool(NodeId)>& keep)
      : ir_(ir),
        keep_(keep),
        builder_(limits),
        reached_(ir.nodes.size(), false),
        new_node_(ir.nodes.size(), builder_.Nothing()),
        rule_reached_(ir.rules.size(), false),
        new_rule_(ir.rules.size(), 0) {}

  absl::StatusOr<GrammarIr> Run() && {
    Reach();
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule) {
      if (!rule_reached_[rule]) continue;
      new_rule_[rule] = builder_.DeclareRule(ir_.rules[rule].name, ir_.rules[rule].place);
    }
    for (NodeId node = 0; node < ir_.nodes.size(); ++node) {
      if (reached_[node]) new_node_[node] = Copy(ir_.nodes[node]);
    }
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule) {
      if (!rule_reached_[rule]) continue;
      builder_.DefineRule(new_rule_[rule], new_node_[ir_.rules[rule].body]);
    }
    return std::move(builder_).Build(new_rule_[ir_.start]);
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

  void Reach() {
    PushRule(ir_.start);
    while (!queue_.empty()) {
      const IrNode& n = ir_.nodes[queue_.back()];
      queue_.pop_back();
      for (std::uint32_t i = 0; i < n.child_count; ++i) Push(ir_.children[n.first_child + i]);
      if (n.kind == IrKind::kCall) PushRule(n.a);
      if (n.kind == IrKind::kObject) PushObject(ir_.objects[n.a]);
    }
  }

  void PushObject(const ObjectSpec& spec) {
    for (const ObjectSpec::Member& member : spec.members) Push(member.value);
    for (const NodeId node : {spec.other_name, spec.other_value, spec.space}) Push(node);
  }

  NodeId CopyObject(ObjectSpec spec) {
    for (ObjectSpec::Member& member : spec.members) member.value = new_node_[member.value];
    spec.other_name = new_node_[spec.other_name];
    spec.other_value = new_node_[spec.other_value];
    spec.space = new_node_[spec.space];
    return builder_.Object(std::move(spec));
  }

  NodeId CopyTextSet(const std::vector<std::u32string>& texts) {
    std::vector<std::string> utf8;
    utf8.reserve(texts.size());
    for (const std::u32string& text : texts) utf8.push_back(ToUtf8(text));
    return builder_.TextSet(utf8);
  }

  NodeId Copy(const IrNode& n) {
    std::vector<NodeId> children;
    for (std::uint32_t i = 0; i < n.child_count; ++i) {
      children.push_back(new_node_[ir_.children[n.first_child + i]]);
    }
    switch (n.kind) {
      case IrKind::kNothing:
        return builder_.Nothing();
      case IrKind::kEmpty:
        return builder_.Empty();
      case IrKind::kBytes:
        return builder_.Bytes(ir_.byte_strings[n.a]);
      case IrKind::kByteSet:
        return builder_.ByteSet(ir_.byte_sets[n.a]);
      case IrKind::kTokens:
        return builder_.Tokens(ir_.token_specs[n.a]);
      case IrKind::kText:
        return builder_.Text(ToUtf8(ir_.texts[n.a]));
      case IrKind::kTextSet:
        return CopyTextSet(ir_.text_sets[n.a]);
      case IrKind::kCharSet:
        return builder_.Chars(ir_.char_sets[n.a]);
      case IrKind::kConcat:
        return builder_.Concat(children);
      case IrKind::kAlt:
        return builder_.Alt(std::move(children));
      case IrKind::kRepeat:
        return builder_.Repeat(children[0], n.a, n.b);
      case IrKind::kAnd:
        return builder_.And(std::move(children));
      case IrKind::kNot:
        return builder_.Not(children[0]);
      case IrKind::kEncode:
        return builder_.Encode(n.spelling, children[0]);
      case IrKind::kCall:
        return builder_.Call(new_rule_[n.a]);
      case IrKind::kObject:
        return CopyObject(ir_.objects[n.a]);
    }
    return builder_.Nothing();
  }

  const GrammarIr& ir_;
  const std::function<bool(NodeId)>& keep_;
  IrBuilder builder_;
  std::vector<bool> reached_;
  std::vector<NodeId> new_node_;
  std::vector<bool> rule_reached_;
  std::vector<RuleId> new_rule_;
  std::vector<NodeId> queue_;
};

}  // namespace

absl::StatusOr<GrammarIr> Rebuild(const GrammarIr& ir, const Limits& limits,
                                  const std::function<bool(NodeId)>& keep) {
  return Rebuilder(ir, limits, keep).Run();
}

}  // namespace maskd
