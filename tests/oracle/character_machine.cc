#include "tests/oracle/character_machine.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

constexpr std::uint32_t kFirstSurrogate = 0xD800;
constexpr std::uint32_t kAfterSurrogates = 0xE000;

// Complete: every state has a step for every class.
struct Deterministic {
  std::vector<std::vector<std::uint32_t>> steps;
  std::vector<bool> ends;
};

}  // namespace

class MachineBuilder {
 public:
  MachineBuilder(const GrammarIr& ir, NodeId characters, const std::vector<std::u32string>& without)
      : ir_(ir) {
    std::set<std::uint32_t> cuts = {0, kFirstSurrogate, kAfterSurrogates};
    AddCuts(characters, &cuts);
    for (const std::u32string& text : without) AddCuts(text, &cuts);
    cuts.erase(kMaxCodePoint + 1);
    classes_.assign(cuts.begin(), cuts.end());
  }

  std::optional<CharacterMachine> Build(NodeId characters,
                                        const std::vector<std::u32string>& without) {
    Deterministic all = Determinised(Whole(characters));
    if (!without.empty()) all = Product(all, Complement(Determinised(AnyOf(without))));
    if (too_large_) return std::nullopt;
    return Finished(std::move(all));
  }

 private:
  struct Edge {
    std::size_t first_class;
    std::size_t last_class;
    std::uint32_t to;
  };
  struct Node {
    std::vector<std::uint32_t> free;  // steps that read nothing
    std::vector<Edge> edges;
  };
  // Part of `nodes_`, with one way in and one way out.
  struct Part {
    std::uint32_t begin;
    std::uint32_t end;
  };

  void AddCuts(const std::u32string& text, std::set<std::uint32_t>* cuts) const {
    for (const char32_t c : text) cuts->insert({c, c + 1});
  }

  void AddCuts(NodeId id, std::set<std::uint32_t>* cuts) const {
    const IrNode& n = ir_.nodes[id];
    for (std::uint32_t i = 0; i < n.child_count; ++i)
      AddCuts(ir_.children[n.first_child + i], cuts);
    if (n.kind == IrKind::kText) AddCuts(TextOf(ir_, n), cuts);
    if (n.kind == IrKind::kTextSet)
      for (const std::u32string& text : TextSetOf(ir_, n)) AddCuts(text, cuts);
    if (n.kind == IrKind::kCharSet)
      for (const CharRange& range : CharSetOf(ir_, n).ranges())
        cuts->insert({range.lo, range.hi + 1});
  }

  [[nodiscard]] std::size_t ClassOf(std::uint32_t character) const {
    return std::upper_bound(classes_.begin(), classes_.end(), character) - classes_.begin() - 1;
  }
  [[nodiscard]] bool IsSurrogates(std::size_t of_class) const {
    return classes_[of_class] == kFirstSurrogate;
  }

  std::uint32_t NewNode() {
    too_large_ = too_large_ || nodes_.size() > CharacterMachine::kMaxStates;
    nodes_.emplace_back();
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  Part NewPart() {
    const std::uint32_t begin = NewNode();
    return {begin, NewNode()};
  }

  void Link(std::uint32_t from, std::uint32_t to) { nodes_[from].free.push_back(to); }

  Part Whole(NodeId id) {
    const IrNode& n = ir_.nodes[id];
    Part part = NewPart();
    if (too_large_) return part;
    switch (n.kind) {
      case IrKind::kEmpty:
        Link(part.begin, part.end);
        break;
      case IrKind::kText:
        return AnyOf({TextOf(ir_, n)});
      case IrKind::kTextSet:
        return AnyOf(TextSetOf(ir_, n));
      case IrKind::kCharSet:
        for (const CharRange& range : CharSetOf(ir_, n).ranges())
          nodes_[part.begin].edges.push_back({ClassOf(range.lo), ClassOf(range.hi), part.end});
        break;
      case IrKind::kConcat:
        return Sequence(n);
      case IrKind::kAlt:
        for (std::uint32_t i = 0; i < n.child_count; ++i) {
          const Part child = Whole(ir_.children[n.first_child + i]);
          Link(part.begin, child.begin);
          Link(child.end, part.end);
        }
        break;
      case IrKind::kRepeat:
        return Repeated(n);
      case IrKind::kAnd:
      case IrKind::kNot:
        return Embedded(Logical(n));
      default:
        break;  // Nothing: no way from the beginning to the end
    }
    return part;
  }

  Part AnyOf(const std::vector<std::u32string>& texts) {
    const Part part = NewPart();
    for (const std::u32string& text : texts) {
      std::uint32_t at = part.begin;
      for (const char32_t c : text) {
        const std::uint32_t next = NewNode();
        nodes_[at].edges.push_back({ClassOf(c), ClassOf(c), next});
        at = next;
      }
      Link(at, part.end);
    }
    return part;
  }

  Part Sequence(const IrNode& n) {
    const Part part = NewPart();
    std::uint32_t at = part.begin;
    for (std::uint32_t i = 0; i < n.child_count; ++i) {
      const Part child = Whole(ir_.children[n.first_child + i]);
      Link(at, child.begin);
      at = child.end;
    }
    Link(at, part.end);
    return part;
  }

  // Every round is written out; without an upper bound the last one may be taken again.
  Part Repeated(const IrNode& n) {
    const Part part = NewPart();
    const auto [min, max] = AsRepeat(n);
    const std::uint32_t rounds = max == kUnbounded ? min + 1 : max;
    std::uint32_t at = part.begin;
    for (std::uint32_t round = 0; round < rounds && !too_large_; ++round) {
      if (round >= min) Link(at, part.end);
      const Part body = Whole(ir_.children[n.first_child]);
      Link(at, body.begin);
      at = body.end;
      if (max == kUnbounded && round + 1 == rounds) Link(body.end, body.begin);
    }
    Link(at, part.end);
    return part;
  }

  Deterministic Logical(const IrNode& n) {
    Deterministic all = Determinised(Whole(ir_.children[n.first_child]));
    if (n.kind == IrKind::kNot) return Complement(std::move(all));
    for (std::uint32_t i = 1; i < n.child_count; ++i)
      all = Product(all, Determinised(Whole(ir_.children[n.first_child + i])));
    return all;
  }

  Part Embedded(const Deterministic& machine) {
    const Part part = NewPart();
    std::vector<std::uint32_t> copies;
    for (std::size_t state = 0; state < machine.ends.size(); ++state) copies.push_back(NewNode());
    for (std::size_t state = 0; state < machine.ends.size() && !too_large_; ++state) {
      for (std::size_t c = 0; c < classes_.size(); ++c) {
        if (IsSurrogates(c)) continue;
        nodes_[copies[state]].edges.push_back({c, c, copies[machine.steps[state][c]]});
      }
      if (machine.ends[state]) Link(copies[state], part.end);
    }
    if (!copies.empty()) Link(part.begin, copies[0]);
    return part;
  }

  [[nodiscard]] std::set<std::uint32_t> WithFree(std::set<std::uint32_t> states) const {
    std::vector<std::uint32_t> open(states.begin(), states.end());
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (const std::uint32_t to : nodes_[at].free)
        if (states.insert(to).second) open.push_back(to);
    }
    return states;
  }

  // The states that `states` lead to, by class.
  [[nodiscard]] std::vector<std::set<std::uint32_t>> After(
      const std::set<std::uint32_t>& states) const {
    std::vector<std::set<std::uint32_t>> after(classes_.size());
    for (const std::uint32_t state : states) {
      for (const Edge& edge : nodes_[state].edges)
        for (std::size_t c = edge.first_class; c <= edge.last_class; ++c) after[c].insert(edge.to);
    }
    return after;
  }

  Deterministic Determinised(const Part& part) {
    Deterministic machine;
    if (too_large_) return machine;
    std::map<std::set<std::uint32_t>, std::uint32_t> numbers;
    std::vector<std::set<std::uint32_t>> subsets;
    const auto number_of = [&](std::set<std::uint32_t> states) {
      const auto [at, is_new] = numbers.try_emplace(WithFree(std::move(states)),
                                                    static_cast<std::uint32_t>(subsets.size()));
      if (is_new) subsets.push_back(at->first);
      return at->second;
    };
    number_of({part.begin});
    for (std::size_t at = 0; at < subsets.size() && !too_large_; ++at) {
      too_large_ = subsets.size() > CharacterMachine::kMaxStates;
      machine.ends.push_back(subsets[at].count(part.end) > 0);
      std::vector<std::uint32_t> steps;
      for (std::set<std::uint32_t>& after : After(subsets[at]))
        steps.push_back(number_of(std::move(after)));
      machine.steps.push_back(std::move(steps));
    }
    return machine;
  }

  [[nodiscard]] static Deterministic Complement(Deterministic machine) {
    machine.ends.flip();
    return machine;
  }

  Deterministic Product(const Deterministic& x, const Deterministic& y) {
    Deterministic machine;
    if (too_large_) return machine;
    using Pair = std::pair<std::uint32_t, std::uint32_t>;
    std::map<Pair, std::uint32_t> numbers = {{{0, 0}, 0}};
    std::vector<Pair> pairs = {{0, 0}};
    for (std::size_t at = 0; at < pairs.size() && !too_large_; ++at) {
      too_large_ = pairs.size() > CharacterMachine::kMaxStates;
      const auto [i, j] = pairs[at];
      machine.ends.push_back(x.ends[i] && y.ends[j]);
      std::vector<std::uint32_t> steps;
      for (std::size_t c = 0; c < classes_.size(); ++c) {
        const Pair next = {x.steps[i][c], y.steps[j][c]};
        const auto [known, is_new] =
            numbers.try_emplace(next, static_cast<std::uint32_t>(pairs.size()));
        if (is_new) pairs.push_back(next);
        steps.push_back(known->second);
      }
      machine.steps.push_back(std::move(steps));
    }
    return machine;
  }

  // States from which an end can be reached: steps are followed backwards until nothing is new.
  [[nodiscard]] std::vector<bool> Live(const Deterministic& machine) const {
    std::vector<std::vector<std::uint32_t>> before(machine.ends.size());
    std::vector<std::uint32_t> open;
    std::vector<bool> live = machine.ends;
    for (std::uint32_t state = 0; state < machine.ends.size(); ++state) {
      if (live[state]) open.push_back(state);
      for (std::size_t c = 0; c < classes_.size(); ++c)
        if (!IsSurrogates(c)) before[machine.steps[state][c]].push_back(state);
    }
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (const std::uint32_t from : before[at]) {
        if (!live[from]) open.push_back(from);
        live[from] = true;
      }
    }
    return live;
  }

  CharacterMachine Finished(Deterministic machine) const {
    CharacterMachine finished;
    finished.classes_ = classes_;
    finished.live_ = Live(machine);
    for (const std::vector<std::uint32_t>& steps : machine.steps) {
      std::vector<CharRange> ranges;
      for (std::size_t c = 0; c < classes_.size(); ++c) {
        const std::uint32_t end = c + 1 < classes_.size() ? classes_[c + 1] : kMaxCodePoint + 1;
        if (finished.live_[steps[c]] && !IsSurrogates(c)) ranges.push_back({classes_[c], end - 1});
      }
      finished.next_.emplace_back(std::move(ranges));
    }
    finished.steps_ = std::move(machine.steps);
    finished.ends_ = std::move(machine.ends);
    return finished;
  }

  const GrammarIr& ir_;
  std::vector<std::uint32_t> classes_;
  std::vector<Node> nodes_;
  bool too_large_ = false;
};

std::optional<CharacterMachine> CharacterMachine::Of(const GrammarIr& ir, NodeId characters,
                                                     const std::vector<std::u32string>& without) {
  return MachineBuilder(ir, characters, without).Build(characters, without);
}

CharacterMachine::State CharacterMachine::Step(State state, std::uint32_t character) const {
  const auto after = std::upper_bound(classes_.begin(), classes_.end(), character);
  return steps_[state][after - classes_.begin() - 1];
}

}  // namespace maskd
