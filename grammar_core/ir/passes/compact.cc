#include "grammar_core/ir/passes/compact.h"

#include <cassert>
#include <cstdint>
#include <utility>

#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

// The first nodes of every builder: Nothing and Empty.
constexpr NodeId kBuilderNodes = 2;

class Compactor {
 public:
  explicit Compactor(GrammarIr from)
      : from_(std::move(from)), nodes_(from_.nodes.size(), 0), rules_(from_.rules.size(), 0) {}

  void MoveRules(const std::vector<bool>& reached) {
    assert(reached.size() == from_.rules.size() && reached[from_.start]);
    for (RuleId rule = 0; rule < from_.rules.size(); ++rule) {
      if (!reached[rule]) continue;
      rules_[rule] = static_cast<RuleId>(to_.rules.size());
      to_.rules.push_back(std::move(from_.rules[rule]));
    }
    to_.start = rules_[from_.start];
  }

  void MoveNodes(const std::vector<bool>& reached) {
    assert(reached.size() == from_.nodes.size());
    for (NodeId node = 0; node < from_.nodes.size(); ++node) {
      if (node >= kBuilderNodes && !reached[node]) continue;
      nodes_[node] = static_cast<NodeId>(to_.nodes.size());
      to_.nodes.push_back(Moved(from_.nodes[node]));
    }
  }

  GrammarIr Finish() && {
    for (IrRule& rule : to_.rules) rule.body = nodes_[rule.body];
    return std::move(to_);
  }

 private:
  IrNode Moved(IrNode node) {
    const NodeId* const child = from_.children.data() + node.first_child;
    node.first_child = static_cast<std::uint32_t>(to_.children.size());
    for (std::uint32_t i = 0; i < node.child_count; ++i) to_.children.push_back(nodes_[child[i]]);
    MovePayload(&node);
    return node;
  }

  void MovePayload(IrNode* node) {
    switch (node->kind) {
      case IrKind::kBytes:
        return MoveEntry(&GrammarIr::byte_strings, node);
      case IrKind::kByteSet:
        return MoveEntry(&GrammarIr::byte_sets, node);
      case IrKind::kTokens:
        return MoveEntry(&GrammarIr::token_specs, node);
      case IrKind::kText:
        return MoveEntry(&GrammarIr::texts, node);
      case IrKind::kTextSet:
        return MoveEntry(&GrammarIr::text_sets, node);
      case IrKind::kCharSet:
        return MoveEntry(&GrammarIr::char_sets, node);
      case IrKind::kNumber:
        return MoveEntry(&GrammarIr::numbers, node);
      case IrKind::kObject:
        MapNodes(&from_.objects[PoolIndexOf(*node)], nodes_);
        return MoveEntry(&GrammarIr::objects, node);
      case IrKind::kDistinct:
        return MoveEntry(&GrammarIr::distinct, node);
      case IrKind::kCall:
        IrPayload::SetFirst(node, rules_[CalledRuleOf(*node)]);
        return;
      default:
        return;
    }
  }

  // No two nodes speak of one entry.
  template <typename T>
  void MoveEntry(std::vector<T> GrammarIr::* pool, IrNode* node) {
    const std::uint32_t index = PoolIndexOf(*node);
    assert(index < (from_.*pool).size());
    (to_.*pool).push_back(std::move((from_.*pool)[index]));
    IrPayload::SetFirst(node, static_cast<std::uint32_t>((to_.*pool).size() - 1));
  }

  GrammarIr from_;
  GrammarIr to_;
  std::vector<NodeId> nodes_;  // where they are now
  std::vector<RuleId> rules_;
};

}  // namespace

GrammarIr Compact(GrammarIr ir, const std::vector<bool>& node_reached,
                  const std::vector<bool>& rule_reached) {
  Compactor compactor(std::move(ir));
  compactor.MoveRules(rule_reached);
  compactor.MoveNodes(node_reached);
  return std::move(compactor).Finish();
}

}  // namespace maskd
