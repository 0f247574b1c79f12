#include "tests/oracle/prefix_oracle.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/object_end.h"
#include "tests/frontend/number_judge.h"
#include "tests/oracle/spelled_characters.h"

namespace maskd {
namespace {

[[noreturn]] void Refuse(const std::string& why) {
  std::cerr << "PrefixOracle cannot judge this grammar: " << why << std::endl;
  std::abort();
}

bool IsNothing(const GrammarIr& ir, NodeId node) {
  const IrNode& n = ir.nodes[node];
  switch (n.kind) {
    case IrKind::kNothing:
      return true;
    case IrKind::kByteSet:
      return ByteSetOf(ir, n).none();
    case IrKind::kCharSet:
      return CharSetOf(ir, n).empty();
    case IrKind::kTextSet:
      return TextSetOf(ir, n).empty();
    default:
      return false;
  }
}

bool IsLogical(const IrNode& n) { return n.kind == IrKind::kAnd || n.kind == IrKind::kNot; }

// The intersections and complements that are not part of another one.
std::vector<NodeId> OutermostLogical(const GrammarIr& ir) {
  std::vector<NodeId> open;
  for (const IrRule& rule : ir.rules) open.push_back(rule.body);
  for (const ObjectSpec& spec : ir.objects) {
    for (const ObjectSpec::Member& member : spec.members) open.push_back(member.value);
    for (const ObjectSpec::Others& others : spec.others) open.push_back(others.value);
    open.push_back(spec.space);
  }
  std::vector<NodeId> found;
  absl::flat_hash_set<NodeId> met;
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    const IrNode& n = ir.nodes[node];
    if (!met.insert(node).second) continue;
    if (IsLogical(n)) {
      found.push_back(node);
    } else {
      const auto first = ir.children.begin() + n.first_child;
      open.insert(open.end(), first, first + n.child_count);
    }
  }
  return found;
}

std::vector<std::u32string> DeclaredNames(const ObjectSpec& spec) {
  std::vector<std::u32string> names;
  for (const ObjectSpec::Member& member : spec.members)
    names.push_back(*Utf8ToCodePoints(member.name));
  return names;
}

// What an object's members allow next. `seen` has a letter for each declared member, and one more
// for the others.
class MemberRules {
 public:
  // `others`: whether any other name can be written.
  MemberRules(const GrammarIr& ir, const ObjectSpec& spec, bool others, const std::string& seen,
              char open)
      : ir_(ir), spec_(spec), others_(others), seen_(seen), open_(open) {}

  [[nodiscard]] bool MayTake(std::size_t member) const {
    if (IsNothing(ir_, spec_.members[member].value)) return false;
    // Of declared ones, any that comes later was not seen, and neither was one of the others.
    const std::size_t last = spec_.any_order ? member + 1 : seen_.size();
    for (std::size_t i = member; i < last; ++i)
      if (seen_[i] != open_) return false;
    return spec_.any_order || !IsMissingBefore(member);
  }
  [[nodiscard]] bool MayTakeOthers() const { return others_ && (spec_.any_order || MayEnd()); }
  [[nodiscard]] bool MayTakeAny() const {
    for (std::size_t i = 0; i < spec_.members.size(); ++i)
      if (MayTake(i)) return true;
    return MayTakeOthers();
  }
  [[nodiscard]] bool MayEnd() const { return !IsMissingBefore(spec_.members.size()); }

 private:
  // Whether a required member before `end` was not seen.
  [[nodiscard]] bool IsMissingBefore(std::size_t end) const {
    for (std::size_t i = 0; i < end; ++i)
      if (spec_.members[i].required && seen_[i] == open_) return true;
    return false;
  }

  const GrammarIr& ir_;
  const ObjectSpec& spec_;
  const bool others_;
  const std::string& seen_;
  const char open_;
};

std::string WhyNotObject(const GrammarIr& ir, const ObjectSpec& spec) {
  if (IsNothing(ir, spec.space)) return "an object's space is Nothing";
  if (HasConditions(spec)) return "an object has conditions";
  if (spec.is_array) return "an array has distinct items";
  if (IsNothing(ir, spec.space_after_colon()) || IsNothing(ir, spec.space_after_comma()))
    return "what is behind an object's sign is Nothing";
  for (const ObjectSpec::Member& member : spec.members) {
    if (!Utf8ToCodePoints(member.name).has_value()) return "a member's name is not UTF-8";
    if (member.required && IsNothing(ir, member.value)) return "a required member is Nothing";
  }
  for (const ObjectSpec::Others& others : spec.others) {
    if (IsNothing(ir, others.value)) return "an object's others are Nothing";
    if (!CharacterMachine::Of(ir, others.name, DeclaredNames(spec)).has_value())
      return "the names of an object's others need too many states";
  }
  return "";
}

}  // namespace

PrefixOracle::PrefixOracle(const GrammarIr& ir) : ir_(ir) {
  if (const std::string why = WhyNot(ir); !why.empty()) Refuse(why);
  for (const ObjectSpec& spec : ir_.objects) {
    names_.push_back(DeclaredNames(spec));
    std::vector<std::uint32_t>& machines = other_names_.emplace_back();
    for (const ObjectSpec::Others& others : spec.others) {
      CharacterMachine machine = *CharacterMachine::Of(ir, others.name, names_.back());
      const bool none = machine.IsNothing();
      machines.push_back(none ? kNoMachine : static_cast<std::uint32_t>(machines_.size()));
      if (!none) machines_.push_back(std::move(machine));
    }
  }
  Intern({});  // kDead
  start_ = Intern({Push({.wait = Wait::kNode, .a = ir.rules[ir.start].body}, nullptr)});
}

std::string PrefixOracle::WhyNot(const GrammarIr& ir) {
  for (const IrNode& n : ir.nodes) {
    for (std::uint32_t i = 0; i < n.child_count; ++i)
      if (IsNothing(ir, ir.children[n.first_child + i])) return "a node has Nothing as a child";
  }
  for (const IrRule& rule : ir.rules)
    if (IsNothing(ir, rule.body)) return "a rule is Nothing";
  if (!ir.distinct.empty()) return "the items of an array must differ";
  if (LimitsTokens(ir)) return "tokens are counted";
  for (const ObjectSpec& spec : ir.objects)
    if (const std::string why = WhyNotObject(ir, spec); !why.empty()) return why;
  for (const NodeId node : OutermostLogical(ir)) {
    const std::optional<CharacterMachine> machine = CharacterMachine::Of(ir, node);
    if (!machine.has_value()) return "an intersection or complement needs too many states";
    if (machine->IsNothing()) return "an intersection or complement has no string";
  }
  return "";
}

PrefixOracle::Stack PrefixOracle::Push(const Entry& entry, Stack below) {
  Stack& known = known_cells_[{entry, below}];
  if (known == nullptr) {
    cells_.push_back({entry, below});
    known = &cells_.back();
  }
  return known;
}

PrefixOracle::Stack PrefixOracle::PushAll(const std::vector<Entry>& entries, Stack below) {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) below = Push(*entry, below);
  return below;
}

PrefixOracle::State PrefixOracle::Intern(std::vector<Stack> open) {
  std::vector<Stack> stacks = Closed(std::move(open));
  const auto [known, is_new] = known_sets_.try_emplace(stacks, static_cast<State>(sets_.size()));
  if (is_new) {
    may_end_.push_back(std::find(stacks.begin(), stacks.end(), nullptr) != stacks.end());
    sets_.push_back(std::move(stacks));
  }
  return known->second;
}

std::vector<PrefixOracle::Stack> PrefixOracle::Closed(std::vector<Stack> open) {
  absl::flat_hash_set<Stack> met;
  std::vector<Stack> closed;
  while (!open.empty()) {
    const Stack stack = open.back();
    open.pop_back();
    if (!met.insert(stack).second) continue;
    if (stack == nullptr || ReadsByte(stack->entry))
      closed.push_back(stack);
    else
      Expand(stack, &open);
  }
  std::sort(closed.begin(), closed.end());
  return closed;
}

bool PrefixOracle::ReadsByte(const Entry& entry) const {
  switch (entry.wait) {
    case Wait::kNode:
    case Wait::kRepeat:
    case Wait::kMember:
    case Wait::kAfterMember:
    case Wait::kMachineBegin:
      return false;
    case Wait::kBytes:
      return entry.b < ir_.byte_strings[entry.a].size();
    case Wait::kText:
    case Wait::kTextOfSet:
    case Wait::kName:
      return entry.b < TextOf(entry).size();
    default:
      return true;
  }
}

void PrefixOracle::Expand(Stack stack, std::vector<Stack>* out) {
  const Entry& top = stack->entry;
  switch (top.wait) {
    case Wait::kNode:
      return ExpandNode(top, stack->below, out);
    case Wait::kRepeat:
      return ExpandRepeat(top, stack->below, out);
    case Wait::kMember:
      return ExpandMember(top, stack->below, out);
    case Wait::kAfterMember:
      return ExpandAfterMember(top, stack->below, out);
    case Wait::kMachineBegin:
      return PushMachine(top, stack->below, out);
    default:
      // A text whose end is reached.
      out->push_back(stack->below);
  }
}

void PrefixOracle::ExpandNode(const Entry& top, Stack below, std::vector<Stack>* out) {
  const IrNode& n = ir_.nodes[top.a];
  const auto leaf = [&](Wait wait) {
    out->push_back(Push({.wait = wait, .spelling = top.spelling, .a = PoolIndexOf(n)}, below));
  };
  std::vector<Entry> children;
  for (std::uint32_t i = 0; i < n.child_count; ++i) {
    const Spelling spelling = n.kind == IrKind::kEncode ? n.spelling : top.spelling;
    children.push_back({.wait = Wait::kNode,
                        .spelling = spelling,
                        .a = ir_.children[n.first_child + i],
                        .depth = n.kind == IrKind::kBlock ? top.depth + 1 : top.depth});
  }
  switch (n.kind) {
    case IrKind::kEmpty:
      return out->push_back(below);
    case IrKind::kBytes:
      return leaf(Wait::kBytes);
    case IrKind::kByteSet:
      return leaf(Wait::kByteSet);
    case IrKind::kNumber:
      return leaf(Wait::kNumber);
    case IrKind::kTokens:
      return;  // no byte of a text takes it
    case IrKind::kText:
      return leaf(Wait::kText);
    case IrKind::kTextSet:
      for (std::uint32_t i = 0; i < TextSetOf(ir_, n).size(); ++i) {
        out->push_back(
            Push({.wait = Wait::kTextOfSet, .spelling = top.spelling, .a = PoolIndexOf(n), .c = i},
                 below));
      }
      return;
    case IrKind::kCharSet:
      return leaf(Wait::kCharSet);
    case IrKind::kConcat:
    case IrKind::kEncode:
      return out->push_back(PushAll(children, below));
    case IrKind::kAlt:
      for (const Entry& child : children) out->push_back(Push(child, below));
      return;
    case IrKind::kRepeat:
      return out->push_back(
          Push({.wait = Wait::kRepeat, .spelling = top.spelling, .a = top.a, .depth = top.depth},
               below));
    case IrKind::kCall:
      return out->push_back(Push(
          {.wait = Wait::kNode, .a = ir_.rules[CalledRuleOf(n)].body, .depth = top.depth}, below));
    case IrKind::kBreak:
      return out->push_back(PushBreak(BreakSpacesOf(n) * top.depth, below));
    case IrKind::kBlock: {
      const BlockNode block = AsBlock(n);
      const auto open = static_cast<unsigned char>(block.open);
      const auto close = static_cast<unsigned char>(block.close());
      below = PushBreak(block.spaces * top.depth, Push({.wait = Wait::kByte, .a = close}, below));
      return out->push_back(PushAll({{.wait = Wait::kByte, .a = open}, children[0]}, below));
    }
    case IrKind::kObject: {
      const std::string seen(ObjectOf(ir_, n).members.size() + 1, kOpen);
      return out->push_back(PushAll({{.wait = Wait::kByte, .a = '{'},
                                     {.wait = Wait::kNode, .a = ObjectOf(ir_, n).space},
                                     {.wait = Wait::kMember,
                                      .a = PoolIndexOf(n),
                                      .b = kFirst,
                                      .notes = seen,
                                      .depth = top.depth}},
                                    below));
    }
    case IrKind::kAnd:
    case IrKind::kNot:
      return PushMachine({.wait = Wait::kMachine, .spelling = top.spelling, .a = MachineOf(top.a)},
                         below, out);
    case IrKind::kDistinct:
    case IrKind::kLimited:
    case IrKind::kNothing:
      Refuse("a node that the constructor refuses was reached");
  }
}

bool PrefixOracle::HasOthers(std::uint32_t object) const {
  const std::vector<std::uint32_t>& machines = other_names_[object];
  return std::any_of(machines.begin(), machines.end(),
                     [](std::uint32_t machine) { return machine != kNoMachine; });
}

std::uint32_t PrefixOracle::MachineOf(NodeId node) {
  const auto [known, is_new] =
      node_machines_.try_emplace(node, static_cast<std::uint32_t>(machines_.size()));
  if (is_new) machines_.push_back(*CharacterMachine::Of(ir_, node));
  return known->second;
}

void PrefixOracle::PushMachine(Entry state, Stack below, std::vector<Stack>* out) {
  state.wait = Wait::kMachine;
  const CharacterMachine& machine = machines_[state.a];
  if (machine.MayEnd(state.b)) out->push_back(below);
  if (!machine.Next(state.b).empty()) out->push_back(Push(state, below));
}

// Rounds are counted as far as they matter: without an upper bound, up to the lower one.
void PrefixOracle::ExpandRepeat(const Entry& top, Stack below, std::vector<Stack>* out) {
  const IrNode& n = ir_.nodes[top.a];
  const auto [min, max] = AsRepeat(n);
  if (top.b >= min) out->push_back(below);
  if (max != kUnbounded && top.b >= max) return;
  Entry again = top;
  again.b = max == kUnbounded ? std::min(top.b + 1, min) : top.b + 1;
  const NodeId child = ir_.children[n.first_child];
  const Entry round = {
      .wait = Wait::kNode, .spelling = top.spelling, .a = child, .depth = top.depth};
  out->push_back(PushAll({round, again}, below));
}

PrefixOracle::Stack PrefixOracle::PushBreak(std::uint32_t spaces, Stack below) {
  for (std::uint32_t i = 0; i < spaces; ++i) below = Push({.wait = Wait::kByte, .a = ' '}, below);
  return Push({.wait = Wait::kByte, .a = '\n'}, below);
}

PrefixOracle::Stack PrefixOracle::PushBreak(const ObjectSpec& spec, std::uint32_t depth,
                                            Stack below) {
  return spec.is_block() ? PushBreak(spec.indent * depth, below) : below;
}

PrefixOracle::Stack PrefixOracle::MemberStack(const ObjectSpec& spec,
                                              const std::vector<Entry>& name, NodeId value,
                                              const Entry& after, Stack below) {
  const Entry space = {.wait = Wait::kNode, .a = spec.space};
  const std::uint32_t within = spec.is_block() ? after.depth + 1 : after.depth;
  const Stack behind_name = PushAll({space,
                                     {.wait = Wait::kByte, .a = ':'},
                                     {.wait = Wait::kNode, .a = spec.space_after_colon()},
                                     {.wait = Wait::kNode, .a = value, .depth = within},
                                     space,
                                     after},
                                    below);
  return PushBreak(spec, within, Push({.wait = Wait::kByte, .a = '"'}, PushAll(name, behind_name)));
}

void PrefixOracle::ExpandMember(const Entry& top, Stack below, std::vector<Stack>* out) {
  const ObjectSpec& spec = ir_.objects[top.a];
  const MemberRules rules(ir_, spec, HasOthers(top.a), top.notes, kOpen);
  if (top.b == kFirst && rules.MayEnd())
    out->push_back(Push({.wait = Wait::kByte, .a = '}'}, below));
  Entry after = {.wait = Wait::kAfterMember, .a = top.a, .depth = top.depth};
  for (std::uint32_t i = 0; i < spec.members.size(); ++i) {
    if (!rules.MayTake(i)) continue;
    after.notes = top.notes;
    after.notes[i] = kSeen;
    const std::vector<Entry> name = {
        {.wait = Wait::kName, .spelling = spec.spelling, .a = top.a, .c = i},
        {.wait = Wait::kByte, .a = '"'}};
    out->push_back(MemberStack(spec, name, spec.members[i].value, after, below));
  }
  if (!rules.MayTakeOthers()) return;
  after.notes = top.notes;
  after.notes.back() = kSeen;
  for (std::size_t i = 0; i < spec.others.size(); ++i) {
    const std::uint32_t machine = other_names_[top.a][i];
    if (machine == kNoMachine) continue;
    const std::vector<Entry> name = {
        {.wait = Wait::kMachineBegin, .spelling = spec.spelling, .a = machine},
        {.wait = Wait::kByte, .a = '"'}};
    out->push_back(MemberStack(spec, name, spec.others[i].value, after, below));
  }
}

void PrefixOracle::ExpandAfterMember(const Entry& top, Stack below, std::vector<Stack>* out) {
  const ObjectSpec& spec = ir_.objects[top.a];
  const MemberRules rules(ir_, spec, HasOthers(top.a), top.notes, kOpen);
  if (rules.MayEnd())
    out->push_back(PushBreak(spec, top.depth, Push({.wait = Wait::kByte, .a = '}'}, below)));
  // A comma that no member can follow would be a dead end.
  if (!rules.MayTakeAny()) return;
  out->push_back(
      PushAll({{.wait = Wait::kByte, .a = ','},
               {.wait = Wait::kNode, .a = spec.space_after_comma()},
               {.wait = Wait::kMember, .a = top.a, .notes = top.notes, .depth = top.depth}},
              below));
}

PrefixOracle::State PrefixOracle::Step(State state, unsigned char byte) {
  if (state == kDead) return kDead;
  const auto known = known_steps_.find({state, byte});
  if (known != known_steps_.end()) return known->second;
  std::vector<Stack> after;
  for (const Stack stack : sets_[state])
    if (stack != nullptr) StepStack(stack, byte, &after);
  const State next = Intern(std::move(after));
  known_steps_[{state, byte}] = next;
  return next;
}

PrefixOracle::State PrefixOracle::StepText(State state, absl::string_view text) {
  for (const char byte : text) state = Step(state, static_cast<unsigned char>(byte));
  return state;
}

void PrefixOracle::StepStack(Stack stack, unsigned char byte, std::vector<Stack>* out) {
  const Entry& top = stack->entry;
  switch (top.wait) {
    case Wait::kByte:
      if (top.a == byte) out->push_back(stack->below);
      return;
    case Wait::kByteSet:
      if (ir_.byte_sets[top.a].test(byte)) out->push_back(stack->below);
      return;
    case Wait::kBytes: {
      if (static_cast<unsigned char>(ir_.byte_strings[top.a][top.b]) != byte) return;
      Entry rest = top;
      ++rest.b;
      return out->push_back(Push(rest, stack->below));
    }
    case Wait::kNumber: {
      Entry longer = top;
      longer.notes.push_back(static_cast<char>(byte));
      const NumberSpec& spec = ir_.numbers[top.a];
      if (IsNumberOf(spec, longer.notes)) out->push_back(stack->below);
      if (CanBecomeNumberOf(spec, longer.notes)) out->push_back(Push(longer, stack->below));
      return;
    }
    default:
      return StepCharacter(top, stack->below, byte, out);
  }
}

// A character is awaited as long as one of those that may stand here has such a spelling.
void PrefixOracle::StepCharacter(const Entry& top, Stack below, unsigned char byte,
                                 std::vector<Stack>* out) {
  Entry next = top;
  next.bytes.push_back(static_cast<char>(byte));
  const CharSet possible = CharactersBeginning(next.bytes, top.spelling).Intersect(Awaited(top));
  if (possible.empty()) return;
  const std::optional<std::uint32_t> character = SpelledCharacter(next.bytes, top.spelling);
  if (!character.has_value()) return out->push_back(Push(next, below));
  if (top.wait == Wait::kCharSet) return out->push_back(below);
  next.bytes.clear();
  if (top.wait == Wait::kMachine) {
    next.b = machines_[top.a].Step(top.b, *character);
    return PushMachine(next, below, out);
  }
  ++next.b;
  out->push_back(Push(next, below));
}

CharSet PrefixOracle::Awaited(const Entry& top) const {
  if (top.wait == Wait::kCharSet) return ir_.char_sets[top.a];
  if (top.wait == Wait::kMachine) return machines_[top.a].Next(top.b);
  return CharSet::One(TextOf(top)[top.b]);
}

const std::u32string& PrefixOracle::TextOf(const Entry& top) const {
  if (top.wait == Wait::kText) return ir_.texts[top.a];
  if (top.wait == Wait::kTextOfSet) return ir_.text_sets[top.a][top.c];
  return names_[top.a][top.c];
}

}  // namespace maskd
