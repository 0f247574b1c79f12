// Facts are least (or greatest) fixed points over groups of rules that call one another, the called
// ones first. Within a group only the nodes that depend on its own rules are looked at again.
//
// Hashes of a group are refined as colours are: each round hashes every rule with the last round's
// hashes of those that it calls, as often as the group has rules, so that rules with equal hashes
// are bisimilar.
//
// Cost    nodes times rounds, charged to the compile's budget.
// Source  Tarjan 1972 (groups); Kildall 1973 (fixed points); Hopcroft and Paige and Tarjan
//         (refinement).
#include "grammar_core/ir/facts/grammar_facts.h"

#include <algorithm>
#include <cassert>

#include "grammar_core/base/error.h"
#include "grammar_core/base/saturating.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/facts/closed_nodes.h"
#include "grammar_core/ir/facts/rule_groups.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/object_end.h"

namespace maskd {
namespace {

constexpr std::uint32_t kBraces = 2;
// Bytes of JSON punctuation that a member has beside its name and value: two quotes and a colon.
constexpr std::uint32_t kMemberPunctuation = 3;
// Two brackets and a line feed.
constexpr std::uint32_t kBlockPunctuation = 3;
// An item has none but the quotes.
constexpr std::uint32_t kItemPunctuation = 2;

// What begins a member's line: the line feed, and the spaces where no level is around the object.
std::uint32_t LineBytes(const ObjectSpec& spec) { return spec.is_block() ? spec.indent + 1 : 0; }

Hash128 HashTokens(const TokenSpec& spec, Hash128 hash) {
  hash = Mix(hash, spec.negated);
  for (const std::string& name : spec.names) hash = MixBytes(hash, name);
  for (const auto& [first, last] : spec.ids) hash = Mix(Mix(hash, first), last);
  return hash;
}

Hash128 MixDecimal(Hash128 hash, const Decimal& number) {
  const auto& [negative, digits, exponent] = number;
  return MixBytes(Mix(Mix(hash, negative), static_cast<std::uint64_t>(exponent)), digits);
}

// The fields themselves: a key of them would be a text that is made for its hash alone. They are
// taken by name, so a field that is added later is an error here.
Hash128 HashNumber(const NumberSpec& spec) {
  const auto& [intervals, multiple_of, not_multiple_of, integer_digits, fraction_digits,
               exponent_digits, notation] = spec;
  Hash128 hash = Mix(Hash128{}, static_cast<std::uint64_t>(notation));
  hash = Mix(Mix(Mix(hash, integer_digits), fraction_digits), exponent_digits);
  hash = Mix(hash, intervals.size());
  for (const auto& [min, max, min_open, max_open] : intervals) {
    hash = Mix(hash, (min_open ? 1U : 0U) | (max_open ? 2U : 0U) | (min.has_value() ? 4U : 0U) |
                         (max.has_value() ? 8U : 0U));
    if (min.has_value()) hash = MixDecimal(hash, *min);
    if (max.has_value()) hash = MixDecimal(hash, *max);
  }
  hash = Mix(hash, multiple_of.size());
  for (const Decimal& step : multiple_of) hash = MixDecimal(hash, step);
  for (const Decimal& step : not_multiple_of) hash = MixDecimal(hash, step);
  return hash;
}

// The length comes first, so that two lists one after the other hash unlike one that is cut
// elsewhere.
Hash128 MixAll(Hash128 hash, const std::vector<std::uint32_t>& values) {
  hash = Mix(hash, values.size());
  for (const std::uint32_t value : values) hash = Mix(hash, value);
  return hash;
}

}  // namespace

GrammarFacts::GrammarFacts(const GrammarIr& ir, Measure measure)
    : ir_(&ir),
      measure_(measure),
      nodes_(ir.nodes.size()),
      rule_hash_(ir.rules.size()),
      object_hash_(ir.objects.size()),
      varies_(ir.nodes.size(), false),
      in_group_(ir.rules.size(), false) {}

absl::StatusOr<GrammarFacts> GrammarFacts::Create(const GrammarIr& ir, const Limits& limits,
                                                  Budget& budget, Measure measure) {
  const absl::StatusOr<std::vector<RuleGroup>> groups = GroupRules(ir, budget);
  if (!groups.ok()) return groups.status();
  GrammarFacts facts(ir, measure);
  Work work(budget);
  for (const RuleGroup& group : *groups) {
    const std::vector<NodeId> varying = facts.Varying(group, work);
    facts.FindGroupFacts(group, varying, limits, work);
    facts.FindGroupHashes(group, varying, work);
    if (!work.ok()) return work.error();
    // To the groups that follow they are as settled as all others.
    for (const NodeId node : varying) facts.varies_[node] = false;
  }
  return facts;
}

// The nodes whose facts depend on a rule of the group itself. All others are settled by one look,
// since their parts come before them; only these are looked at round by round.
std::vector<NodeId> GrammarFacts::Varying(const RuleGroup& group, Work& work) {
  std::vector<NodeId> varying;
  for (const RuleId rule : group.rules) in_group_[rule] = true;
  for (const NodeId id : group.nodes) {
    const IrNode& node = ir_->nodes[id];
    bool varies = node.kind == IrKind::kCall && in_group_[CalledRuleOf(node)];
    std::int64_t parts = 0;
    ForEachPart(*ir_, id, [&](NodeId part) {
      varies = varies || varies_[part];
      ++parts;
    });
    if (!work.Spend(1 + parts)) break;
    varies_[id] = varies;
    if (varies) varying.push_back(id);
  }
  for (const RuleId rule : group.rules) in_group_[rule] = false;
  return varying;
}

// Each fact only grows (nullable, laid_out, descent) or shrinks (min_bytes, min_spaces) towards its
// fixed point.
void GrammarFacts::FindGroupFacts(const RuleGroup& group, const std::vector<NodeId>& varying,
                                  const Limits& limits, Work& work) {
  assert(!group.rules.empty());
  const std::vector<NodeId>* nodes = &group.nodes;
  for (bool changed = true; changed; nodes = &varying) {
    changed = false;
    for (const NodeId id : *nodes) {
      if (!work.Spend(UnitsOf(ir_->nodes[id]))) return;
      const NodeFacts now = FactsOf(ir_->nodes[id]);
      NodeFacts& known = nodes_[id];
      if (now.descent > limits.derivative_depth) {
        work.Fail(LimitExceeded(ir_->rules[group.rules.front()].place, "derivative_depth",
                                limits.derivative_depth, now.descent));
        return;
      }
      changed |= now.nullable != known.nullable || now.min_bytes != known.min_bytes ||
                 now.min_spaces != known.min_spaces || now.laid_out != known.laid_out ||
                 now.descent != known.descent;
      known = now;
    }
    changed = changed && !varying.empty();
  }
}

std::int64_t GrammarFacts::UnitsOf(const IrNode& node) const {
  const std::size_t texts = node.kind == IrKind::kTextSet ? TextSetOf(*ir_, node).size() : 0;
  return static_cast<std::int64_t>(1 + node.child_count + texts);
}

GrammarFacts::NodeFacts GrammarFacts::FactsOf(const IrNode& node) const {
  switch (node.kind) {
    case IrKind::kConcat:
      return ConcatFacts(node);
    case IrKind::kAlt:
    case IrKind::kAnd:
      return ChoiceFacts(node);
    case IrKind::kRepeat:
    case IrKind::kNot:
    case IrKind::kEncode:
    case IrKind::kDistinct:
    case IrKind::kLimited:
      return WrapperFacts(node, nodes_[ir_->children[node.first_child]]);
    case IrKind::kCall: {
      assert(CalledRuleOf(node) < ir_->rules.size());
      NodeFacts facts = nodes_[ir_->rules[CalledRuleOf(node)].body];
      facts.descent += 1;
      return facts;
    }
    case IrKind::kObject:
      return ObjectFacts(ObjectOf(*ir_, node));
    case IrKind::kBlock:
      return BlockFacts(node);
    default:
      return LeafFacts(node);
  }
}

// Nodes without parts. A set of characters needs the bytes of its smallest one, as UTF-8 grows with
// the code point.
GrammarFacts::NodeFacts GrammarFacts::LeafFacts(const IrNode& node) const {
  NodeFacts facts;
  switch (node.kind) {
    case IrKind::kEmpty:
      facts.nullable = true;
      facts.min_bytes = 0;
      break;
    case IrKind::kBytes:
      facts.nullable = BytesOf(*ir_, node).empty();
      facts.min_bytes = SizeOf(measure_, BytesOf(*ir_, node));
      break;
    case IrKind::kByteSet:
      facts.min_bytes = SizeOf(measure_, ByteSetOf(*ir_, node));
      break;
    case IrKind::kNumber:
      facts.min_bytes = 1;
      break;
    case IrKind::kTokens:
      facts.min_bytes = 0;  // some tokens have no bytes
      break;
    case IrKind::kBreak:
      facts.min_bytes = 1;
      facts.min_spaces = BreakSpacesOf(node);
      facts.laid_out = facts.min_spaces > 0;
      return facts;
    case IrKind::kText:
      facts.nullable = TextOf(*ir_, node).empty();
      facts.min_bytes = SizeOf(measure_, TextOf(*ir_, node));
      break;
    case IrKind::kTextSet:
      for (const std::u32string& text : TextSetOf(*ir_, node)) {
        facts.nullable |= text.empty();
        facts.min_bytes = std::min(facts.min_bytes, SizeOf(measure_, text));
      }
      break;
    case IrKind::kCharSet:
      assert(!CharSetOf(*ir_, node).empty());
      facts.min_bytes = SizeOf(measure_, CharSetOf(*ir_, node).ranges().front().lo);
      break;
    default:
      break;  // Nothing has no string
  }
  if (facts.min_bytes != kNoEnd) facts.min_spaces = 0;
  return facts;
}

// A text of all parts is at least as long as the longest of their shortest ones; a text of one part
// may be the shortest of all. A derivative descends into every part of both.
GrammarFacts::NodeFacts GrammarFacts::ChoiceFacts(const IrNode& node) const {
  const bool all = node.kind == IrKind::kAnd;
  NodeFacts facts;
  facts.nullable = all;
  facts.min_bytes = facts.min_spaces = all ? 0 : kNoEnd;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    const NodeFacts& child = nodes_[ir_->children[node.first_child + i]];
    facts.nullable = all ? facts.nullable && child.nullable : facts.nullable || child.nullable;
    facts.min_bytes = all ? std::max(facts.min_bytes, child.min_bytes)
                          : std::min(facts.min_bytes, child.min_bytes);
    facts.min_spaces = std::min(facts.min_spaces, child.min_spaces);
    facts.laid_out |= child.laid_out;
    facts.descent = std::max(facts.descent, child.descent + 1);
  }
  return facts;
}

// What a complement needs is not told by its part: one byte, where the empty text is not in it.
GrammarFacts::NodeFacts GrammarFacts::WrapperFacts(const IrNode& node,
                                                   const NodeFacts& child) const {
  assert(node.child_count >= 1);
  NodeFacts facts = child;
  facts.descent += 1;
  if (node.kind == IrKind::kRepeat) {
    const std::uint32_t least = AsRepeat(node).min;
    facts.nullable = least == 0 || child.nullable;
    facts.min_bytes = least == 0 ? 0 : SaturatingMul(child.min_bytes, least);
    facts.min_spaces = least == 0 ? 0 : SaturatingMul(child.min_spaces, least);
  } else if (node.kind == IrKind::kNot) {
    facts.nullable = !child.nullable;
    facts.min_bytes = facts.nullable ? 0 : 1;
    facts.min_spaces = 0;
  }
  return facts;
}

GrammarFacts::NodeFacts GrammarFacts::ConcatFacts(const IrNode& node) const {
  NodeFacts facts;
  facts.nullable = true;
  facts.min_bytes = facts.min_spaces = 0;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    const NodeFacts& child = nodes_[ir_->children[node.first_child + i]];
    // A derivative descends into the children up to the first that cannot be empty.
    if (facts.nullable) facts.descent = std::max(facts.descent, child.descent + 1);
    facts.nullable &= child.nullable;
    facts.laid_out |= child.laid_out;
    facts.min_bytes = SaturatingAdd(facts.min_bytes, child.min_bytes);
    facts.min_spaces = SaturatingAdd(facts.min_spaces, child.min_spaces);
  }
  return facts;
}

GrammarFacts::NodeFacts GrammarFacts::BlockFacts(const IrNode& node) const {
  assert(node.child_count == 1);
  const NodeId lines = ir_->children[node.first_child];
  NodeFacts facts;
  facts.descent = 1;
  const std::uint32_t spaces = AsBlock(node).spaces;
  facts.laid_out = spaces > 0 || IsLaidOut(lines);
  facts.min_bytes = SaturatingAdd(MinBytes(lines, 1), kBlockPunctuation);
  facts.min_spaces = SaturatingAdd(MinSpaces(lines), spaces);
  return facts;
}

// `name`: the bytes between the quotes.
std::uint32_t GrammarFacts::NameBytes(const ObjectSpec& spec, std::uint32_t name) {
  const std::uint32_t line = LineBytes(spec);
  return SaturatingAdd(name, line + (spec.is_array ? kItemPunctuation : kMemberPunctuation));
}

std::uint32_t GrammarFacts::MemberBytes(const ObjectSpec& spec,
                                        const ObjectSpec::Member& member) const {
  const std::uint32_t value = ValueBytes(spec, member.value);
  if (member.bare) return SaturatingAdd(LineBytes(spec), value);
  const std::uint32_t name = SizeOf(measure_, member.name);
  return SaturatingAdd(NameBytes(spec, name), value);
}

std::uint32_t GrammarFacts::MemberSpaces(const ObjectSpec& spec,
                                         const ObjectSpec::Member& member) const {
  return SaturatingAdd(MinSpaces(member.value), spec.is_block() ? spec.indent : 0);
}

// No member of an object is smaller, whatever its name.
std::uint32_t GrammarFacts::AnyMemberBytes(const ObjectSpec& spec) const {
  std::uint32_t bytes = kNoEnd;
  for (const ObjectSpec::Member& member : spec.members)
    bytes = std::min(bytes, MemberBytes(spec, member));
  for (const ObjectSpec::Others& others : spec.others)
    bytes = std::min(bytes, OthersBytes(spec, others));
  return bytes;
}

std::uint32_t GrammarFacts::OthersBytes(const ObjectSpec& spec,
                                        const ObjectSpec::Others& others) const {
  return SaturatingAdd(NameBytes(spec, MinBytes(others.name)), ValueBytes(spec, others.value));
}

// The smallest member that leaves one of `marks`.
std::uint32_t GrammarFacts::MarkingBytes(const ObjectSpec& spec,
                                         const std::vector<ObjectSpec::Mark>& marks) const {
  std::uint32_t bytes = kNoEnd;
  for (const ObjectSpec::Member& member : spec.members) {
    const bool is_one = std::ranges::any_of(
        member.ways, [&](const ObjectSpec::Way& way) { return HaveAnyOf(way.marks, marks); });
    if (is_one) bytes = std::min(bytes, MemberBytes(spec, member));
  }
  for (const ObjectSpec::Others& others : spec.others)
    if (HaveAnyOf(others.marks, marks)) bytes = std::min(bytes, OthersBytes(spec, others));
  return bytes;
}

// Members that are not required count as the smallest of all. The dearest condition that holds from
// the start on counts, if its member is dearer than all of those.
GrammarFacts::NodeFacts GrammarFacts::ObjectFacts(const ObjectSpec& spec) const {
  NodeFacts facts;
  facts.descent = 1;
  std::uint32_t count = 0;
  facts.min_bytes = kBraces;
  facts.min_spaces = 0;
  facts.laid_out = spec.is_block() && spec.indent > 0;
  for (const ObjectSpec::Member& member : spec.members) {
    facts.laid_out |= IsLaidOut(member.value);
    if (!member.required) continue;
    facts.min_bytes = SaturatingAdd(facts.min_bytes, MemberBytes(spec, member));
    facts.min_spaces = SaturatingAdd(facts.min_spaces, MemberSpaces(spec, member));
    ++count;
  }
  for (const ObjectSpec::Others& others : spec.others) facts.laid_out |= IsLaidOut(others.value);
  if (spec.min_members > count) {
    const std::uint32_t more = SaturatingMul(AnyMemberBytes(spec), spec.min_members - count);
    facts.min_bytes = SaturatingAdd(facts.min_bytes, more);
    count = spec.min_members;
  }
  if (count > 1) facts.min_bytes = SaturatingAdd(facts.min_bytes, count - 1);
  if (count > 0 && spec.is_block()) {
    facts.min_bytes = SaturatingAdd(facts.min_bytes, 1);
    facts.min_spaces = SaturatingAdd(facts.min_spaces, spec.indent);
  }
  for (const ObjectSpec::Condition& condition : spec.conditions) {
    if (!condition.unless_all.empty()) continue;
    const std::uint32_t marking = MarkingBytes(spec, condition.some);
    facts.min_bytes = std::max(facts.min_bytes, SaturatingAdd(kBraces, marking));
  }
  return facts;
}

// A group that is too large for so many rounds gets hashes that nothing else has: its states are
// then shared with no other grammar, which costs memory and no correctness.
void GrammarFacts::FindGroupHashes(const RuleGroup& group, const std::vector<NodeId>& varying,
                                   Work& work) {
  const bool shared = group.rules.size() <= kMaxSharedGroup &&
                      group.rules.size() * varying.size() <= kMaxSharedNodes;
  for (const RuleId rule : group.rules) rule_hash_[rule] = shared ? Hash128{} : UniqueHash();
  HashNodes(group.nodes, work);
  if (!shared) return;
  for (std::size_t round = 0; round <= group.rules.size() && work.ok(); ++round) {
    for (const RuleId rule : group.rules)
      rule_hash_[rule] = Mix(nodes_[ir_->rules[rule].body].hash, group.rules.size());
    if (varying.empty()) return;
    HashNodes(varying, work);
  }
}

// `nodes` come behind their parts, so each part has this round's hash already.
void GrammarFacts::HashNodes(const std::vector<NodeId>& nodes, Work& work) {
  for (const NodeId id : nodes) {
    const IrNode& node = ir_->nodes[id];
    if (!work.Spend(UnitsOf(node))) return;
    nodes_[id].hash = HashOf(node);
    if (node.kind == IrKind::kObject) object_hash_[PoolIndexOf(node)] = nodes_[id].hash;
  }
}

// Equal hashes mean equal languages, in this grammar or any other, so whatever the language depends
// on must be mixed in; what it does not depend on, such as ids, must not.
Hash128 GrammarFacts::HashOf(const IrNode& node) const {
  if (node.kind == IrKind::kObject) return HashObject(ObjectOf(*ir_, node));
  Hash128 hash = Mix(Hash128{}, static_cast<std::uint64_t>(node.kind));
  hash = Mix(hash, static_cast<std::uint64_t>(node.spelling));
  hash = HashPayload(node, hash);
  for (std::uint32_t i = 0; i < node.child_count; ++i)
    hash = Mix(hash, nodes_[ir_->children[node.first_child + i]].hash);
  return hash;
}

Hash128 GrammarFacts::TokensHash(std::uint32_t spec) const {
  assert(spec < ir_->token_specs.size());
  return HashTokens(ir_->token_specs[spec], Hash128{});
}

Hash128 GrammarFacts::NumberHash(std::uint32_t number) const {
  assert(number < ir_->numbers.size());
  return HashNumber(ir_->numbers[number]);
}

// What a node says beside its kind and parts.
Hash128 GrammarFacts::HashPayload(const IrNode& node, Hash128 hash) const {
  if (const auto literal = MixLiteral(*ir_, node, hash); literal.has_value()) return *literal;
  switch (node.kind) {
    case IrKind::kTokens:
      return HashTokens(TokensOf(*ir_, node), hash);
    case IrKind::kNumber:
      return Mix(hash, NumberHash(PoolIndexOf(node)));
    case IrKind::kRepeat:
    case IrKind::kBlock:
      return Mix(Mix(hash, IrPayload::First(node)), IrPayload::Second(node));
    case IrKind::kLimited:
    case IrKind::kBreak:
      return Mix(hash, IrPayload::First(node));
    case IrKind::kCall:
      return Mix(hash, rule_hash_[CalledRuleOf(node)]);
    default:
      return hash;
  }
}

Hash128 GrammarFacts::HashObject(const ObjectSpec& spec) const {
  Hash128 hash = Mix(Hash128{}, static_cast<std::uint64_t>(IrKind::kObject));
  hash = Mix(Mix(hash, spec.any_order), nodes_[spec.space].hash);
  hash = Mix(hash, nodes_[spec.space_after_colon()].hash);
  hash = Mix(hash, nodes_[spec.space_after_comma()].hash);
  hash = Mix(hash, spec.is_array);
  if (spec.is_block()) hash = Mix(hash, spec.indent);
  if (spec.spelling != Spelling::kJsonString)
    hash = Mix(Mix(hash, 0), static_cast<std::uint64_t>(spec.spelling));
  hash = Mix(Mix(hash, spec.min_members), spec.max_members);
  for (const ObjectSpec::Member& member : spec.members) {
    hash = Mix(Mix(MixBytes(hash, member.name), member.required), member.bare);
    hash = Mix(Mix(hash, nodes_[member.value].hash), member.ways.size());
    for (const ObjectSpec::Way& way : member.ways)
      hash = MixAll(Mix(hash, nodes_[way.value].hash), way.marks);
  }
  hash = Mix(hash, spec.others.size());
  for (const ObjectSpec::Others& others : spec.others) {
    hash = Mix(Mix(hash, nodes_[others.name].hash), nodes_[others.value].hash);
    hash = MixAll(hash, others.marks);
  }
  for (const ObjectSpec::Condition& condition : spec.conditions)
    hash = MixAll(MixAll(hash, condition.some), condition.unless_all);
  return hash;
}

}  // namespace maskd
