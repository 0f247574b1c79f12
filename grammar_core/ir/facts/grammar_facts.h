// What is known of a grammar's rules and objects before any term is made: whether they may be
// empty, how short they can be, how deep a derivative descends, and their structural hashes.
// Hashes   equal for equal definitions in different grammars: a rule is hashed with all that it
//          reaches. Mutually recursive rules are hashed as a group, by as many rounds of refinement
//          as the group has rules. A group that is too large for that gets a hash that no other
//          grammar has.
// Errors   RESOURCE_EXHAUSTED for derivative_depth, which left recursion exceeds too.
// Threads  immutable once created.
#ifndef MASKD_GRAMMAR_CORE_IR_FACTS_GRAMMAR_FACTS_H_
#define MASKD_GRAMMAR_CORE_IR_FACTS_GRAMMAR_FACTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/hash128.h"
#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/base/saturating.h"
#include "grammar_core/base/work.h"
#include "grammar_core/ir/facts/measure.h"
#include "grammar_core/ir/facts/rule_groups.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// The facts of one grammar, found at once and never changed.
class GrammarFacts {
 public:
  // Rules of a group whose hash is shared, and rules times nodes that depend on them.
  static constexpr std::size_t kMaxSharedGroup = 64;
  static constexpr std::size_t kMaxSharedNodes = 1'000'000;

  // `ir` must outlive this.
  static absl::StatusOr<GrammarFacts> Create(const GrammarIr& ir, const Limits& limits,
                                             Budget& budget, Measure measure = Measure::kBytes);

  // What they are facts of.
  [[nodiscard]] const GrammarIr& ir() const { return *ir_; }
  // What the lower bounds of this grammar's terms count.
  [[nodiscard]] Measure measure() const { return measure_; }
  [[nodiscard]] bool Nullable(NodeId node) const { return nodes_[node].nullable; }
  // Lower bound of a node's shortest string, in the measure's unit; kNoEnd if it has none.
  [[nodiscard]] std::uint32_t MinBytes(NodeId node) const { return nodes_[node].min_bytes; }
  // Where no level is around it, that is: each adds at least so many spaces.
  [[nodiscard]] std::uint32_t MinSpaces(NodeId node) const { return nodes_[node].min_spaces; }
  [[nodiscard]] std::uint32_t MinBytes(NodeId node, std::uint32_t depth) const {
    return SaturatingAdd(MinBytes(node), SaturatingMul(MinSpaces(node), depth));
  }
  // Whether the texts of a node depend on the levels around it.
  [[nodiscard]] bool IsLaidOut(NodeId node) const { return nodes_[node].laid_out; }
  // MinBytes() of the value of a member of an object that no level is around.
  [[nodiscard]] std::uint32_t ValueBytes(const ObjectSpec& spec, NodeId value) const {
    return MinBytes(value, spec.DepthWithin(0));
  }
  // The same of a member, with its name and what breaks its line; of one of the others; of the
  // smallest member of all. Then the spaces that a level around the object adds to a member, at
  // least.
  [[nodiscard]] std::uint32_t MemberBytes(const ObjectSpec& spec,
                                          const ObjectSpec::Member& member) const;
  [[nodiscard]] std::uint32_t OthersBytes(const ObjectSpec& spec,
                                          const ObjectSpec::Others& others) const;
  [[nodiscard]] std::uint32_t AnyMemberBytes(const ObjectSpec& spec) const;
  [[nodiscard]] std::uint32_t MemberSpaces(const ObjectSpec& spec,
                                           const ObjectSpec::Member& member) const;
  [[nodiscard]] bool RuleNullable(RuleId rule) const { return Nullable(ir_->rules[rule].body); }
  [[nodiscard]] std::uint32_t RuleMinBytes(RuleId rule, std::uint32_t depth) const {
    return MinBytes(ir_->rules[rule].body, depth);
  }
  // Equal for rules of equal texts, in any grammar, as far as their form tells.
  [[nodiscard]] const Hash128& RuleHash(RuleId rule) const { return rule_hash_[rule]; }
  // By index into GrammarIr::token_specs.
  [[nodiscard]] Hash128 TokensHash(std::uint32_t spec) const;
  // By index into GrammarIr::numbers.
  [[nodiscard]] Hash128 NumberHash(std::uint32_t number) const;
  // By index into GrammarIr::objects.
  [[nodiscard]] const Hash128& ObjectHash(std::uint32_t object) const {
    return object_hash_[object];
  }

  // Bytes of the heap, beside this object.
  [[nodiscard]] std::int64_t held_bytes() const {
    return HeldBytes(nodes_) + HeldBytes(rule_hash_) + HeldBytes(object_hash_) +
           static_cast<std::int64_t>((varies_.capacity() + in_group_.capacity()) / 8);
  }

 private:
  struct NodeFacts {
    bool nullable = false;
    bool laid_out = false;
    std::uint32_t min_bytes = kNoEnd;
    std::uint32_t min_spaces = kNoEnd;
    // Levels that a derivative descends from here without reading a byte.
    std::uint32_t descent = 0;
    Hash128 hash;
  };

  GrammarFacts(const GrammarIr& ir, Measure measure);

  // The nodes that depend on the rules of their own group: all others are known at first sight.
  std::vector<NodeId> Varying(const RuleGroup& group, Work& work);
  void FindGroupFacts(const RuleGroup& group, const std::vector<NodeId>& varying,
                      const Limits& limits, Work& work);
  void FindGroupHashes(const RuleGroup& group, const std::vector<NodeId>& varying, Work& work);
  void HashNodes(const std::vector<NodeId>& nodes, Work& work);
  [[nodiscard]] std::int64_t UnitsOf(const IrNode& node) const;

  // One node from its children; calls read what is known of their rule so far.
  [[nodiscard]] NodeFacts FactsOf(const IrNode& node) const;
  [[nodiscard]] NodeFacts LeafFacts(const IrNode& node) const;
  [[nodiscard]] NodeFacts ChoiceFacts(const IrNode& node) const;
  [[nodiscard]] NodeFacts WrapperFacts(const IrNode& node, const NodeFacts& child) const;
  [[nodiscard]] NodeFacts ConcatFacts(const IrNode& node) const;
  [[nodiscard]] NodeFacts BlockFacts(const IrNode& node) const;
  // A name's bytes with the punctuation of its member.
  [[nodiscard]] static std::uint32_t NameBytes(const ObjectSpec& spec, std::uint32_t name);
  [[nodiscard]] std::uint32_t MarkingBytes(const ObjectSpec& spec,
                                           const std::vector<ObjectSpec::Mark>& marks) const;
  [[nodiscard]] NodeFacts ObjectFacts(const ObjectSpec& spec) const;
  [[nodiscard]] Hash128 HashOf(const IrNode& node) const;
  [[nodiscard]] Hash128 HashObject(const ObjectSpec& spec) const;
  [[nodiscard]] Hash128 HashPayload(const IrNode& node, Hash128 hash) const;

  const GrammarIr* ir_;
  Measure measure_;
  std::vector<NodeFacts> nodes_;
  std::vector<Hash128> rule_hash_;
  std::vector<Hash128> object_hash_;
  // By node, in the group at hand.
  std::vector<bool> varies_;
  std::vector<bool> in_group_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_FACTS_GRAMMAR_FACTS_H_
