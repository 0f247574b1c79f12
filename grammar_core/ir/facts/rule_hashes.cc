// Rules are told apart as colours are refined: each round hashes every rule with the last round's
// hashes of those that it calls. As many rounds as two grammars have rules tell all rules apart
// that are not bisimilar.
//
// Invariant  hashes of a round depend on nothing but what the rules hold and that round's number.
// Cost       kRounds looks at each node that is not closed.
// Source     Hopcroft; Paige and Tarjan (refinement).
#include "grammar_core/ir/facts/rule_hashes.h"

#include <cassert>
#include <cstdint>
#include <utility>

#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/pool_keys.h"

namespace maskd {
namespace {

constexpr std::size_t kRounds = 2 * kMostExactRules;

class RuleHasher {
 public:
  RuleHasher(const GrammarIr& ir, const std::vector<Hash128>& closed)
      : ir_(ir), nodes_(closed), rules_(ir.rules.size()) {
    assert(closed.size() == ir.nodes.size());
    for (NodeId node = 0; node < ir.nodes.size(); ++node)
      if (closed[node] == Hash128{}) open_.push_back(node);
  }

  std::vector<Hash128> Hash() && {
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (const NodeId node : open_) nodes_[node] = HashOf(ir_.nodes[node]);
      for (RuleId rule = 0; rule < ir_.rules.size(); ++rule)
        rules_[rule] = Mix(nodes_[ir_.rules[rule].body], round);
    }
    return std::move(rules_);
  }

 private:
  [[nodiscard]] Hash128 HashOf(const IrNode& node) const {
    const std::uint64_t kinds =
        (static_cast<std::uint64_t>(node.kind) << 8U) + static_cast<std::uint64_t>(node.spelling);
    const Hash128 payload = HashPayload(node, Mix(Mix(Hash128{}, kinds), node.child_count));
    const bool is_ordered = node.kind != IrKind::kAlt && node.kind != IrKind::kAnd;
    Hash128 children;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const Hash128& child = nodes_[ir_.children[node.first_child + i]];
      children = is_ordered ? Mix(children, child) : MixUnordered(children, child);
    }
    return Mix(payload, children);
  }

  // What the node says beside its kind and children. No other kind with a pool is open.
  [[nodiscard]] Hash128 HashPayload(const IrNode& node, Hash128 hash) const {
    switch (node.kind) {
      case IrKind::kCall:
        return Mix(hash, rules_[CalledRuleOf(node)]);
      case IrKind::kObject:
        return HashObject(ObjectOf(ir_, node), hash);
      case IrKind::kTokens:
        return MixBytes(hash, TokensKey(TokensOf(ir_, node)));
      case IrKind::kDistinct: {
        const auto& [place, keyword, min_items] = DistinctOf(ir_, node);
        return Mix(MixBytes(MixBytes(hash, place), keyword), min_items);
      }
      default:
        assert(!HasPool(node.kind));
        return Mix(Mix(hash, IrPayload::First(node)), IrPayload::Second(node));
    }
  }

  [[nodiscard]] Hash128 HashObject(const ObjectSpec& spec, Hash128 hash) const {
    for (const NodeId space : {spec.space, spec.space_after_colon(), spec.space_after_comma()})
      hash = Mix(hash, nodes_[space]);
    hash = Mix(Mix(hash, spec.any_order), spec.is_array);
    hash = Mix(Mix(hash, spec.indent), static_cast<std::uint64_t>(spec.spelling));
    hash = Mix(Mix(hash, spec.min_members), spec.max_members);
    hash = Mix(hash, spec.members.size());
    for (const ObjectSpec::Member& member : spec.members) {
      hash = Mix(Mix(MixBytes(hash, member.name), member.required), member.bare);
      hash = Mix(Mix(hash, nodes_[member.value]), member.ways.size());
      for (const ObjectSpec::Way& way : member.ways)
        hash = MixAll(Mix(hash, nodes_[way.value]), way.marks);
    }
    hash = Mix(hash, spec.others.size());
    for (const ObjectSpec::Others& others : spec.others)
      hash = MixAll(Mix(Mix(hash, nodes_[others.name]), nodes_[others.value]), others.marks);
    for (const ObjectSpec::Condition& condition : spec.conditions)
      hash = MixAll(MixAll(hash, condition.some), condition.unless_all);
    return hash;
  }

  static Hash128 MixAll(Hash128 hash, const std::vector<ObjectSpec::Mark>& marks) {
    hash = Mix(hash, marks.size());
    for (const ObjectSpec::Mark mark : marks) hash = Mix(hash, mark);
    return hash;
  }

  const GrammarIr& ir_;
  std::vector<Hash128> nodes_;
  std::vector<Hash128> rules_;
  std::vector<NodeId> open_;
};

}  // namespace

std::vector<Hash128> HashRules(const GrammarIr& ir, const std::vector<Hash128>& closed) {
  return RuleHasher(ir, closed).Hash();
}

}  // namespace maskd
