// Follows a text through a grammar's own text, to name what may come next.
//
// Idea       Every definition, expression and IR node is a small rule of a network: places, and
//            edges that take a character, nothing, or what another rule takes. The text is followed
//            through it by Earley's method (Earley 1970): after each character the set of items, an
//            item being a place and the character at which its rule began. Where the text ends, the
//            items that want a character say what may come next. From the rule of each the callers
//            are walked back to the first one that has a place in the source.
// Invariant  the network takes every text that the grammar takes, so no part that may come next is
//            missing. What is not followed exactly (next_parts.h) takes more, up to any text.
// Cost       a rule for each node; kMostItems items for one text.
#include "grammar_core/frontend/notation/next_parts.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {

// Numbers of rules: the definitions, then the expressions, the IR nodes, and one for any text.
class NextPartsBuilder {
 public:
  NextPartsBuilder(const SourceGrammar& grammar, const GrammarIr& ir, NextParts& network)
      : grammar_(grammar), ir_(ir), network_(network) {}

  void Build(SymbolId start) {
    const std::size_t rules =
        grammar_.definitions.size() + grammar_.expressions.size() + ir_.nodes.size() + 2;
    for (std::size_t rule = 0; rule < rules; ++rule) {
      network_.begins_.push_back(NewPlace(static_cast<RuleNo>(rule)));
      network_.ends_.push_back(NewPlace(static_cast<RuleNo>(rule)));
    }
    network_.parts_.resize(rules);
    for (std::size_t index = 0; index < grammar_.definitions.size(); ++index) {
      const Definition& definition = grammar_.definitions[index];
      Calls(static_cast<RuleNo>(index), {RuleOfExpression(definition.body)});
    }
    for (ExprId id = 0; id < grammar_.expressions.size(); ++id) BuildExpression(id);
    for (NodeId id = 0; id < ir_.nodes.size(); ++id) BuildNode(id);
    Loop(AnyText(), OneOf(CharSet::All()));
    BuildStart(start);
  }

 private:
  using Way = NextParts::Way;
  using Edge = NextParts::Edge;
  using Place = NextParts::Place;
  using RuleNo = NextParts::RuleNo;

  [[nodiscard]] RuleNo RuleOfExpression(ExprId id) const {
    return static_cast<RuleNo>(grammar_.definitions.size() + id);
  }
  [[nodiscard]] RuleNo RuleOfNode(NodeId id) const {
    return static_cast<RuleNo>(grammar_.definitions.size() + grammar_.expressions.size() + id);
  }
  [[nodiscard]] RuleNo AnyText() const { return static_cast<RuleNo>(network_.begins_.size() - 2); }

  Place NewPlace(RuleNo rule) {
    network_.edges_.emplace_back();
    network_.rule_of_.push_back(rule);
    return static_cast<Place>(network_.edges_.size() - 1);
  }
  void Add(Place from, Way way, std::uint32_t what, Place to) {
    assert(network_.rule_of_[from] == network_.rule_of_[to] && "an edge stays in its rule");
    network_.edges_[from].push_back({way, what, to});
  }
  Edge OneOf(CharSet set) {
    network_.sets_.push_back(std::move(set));
    return {Way::kSet, static_cast<std::uint32_t>(network_.sets_.size() - 1), 0};
  }
  static Edge CallOf(RuleNo rule) { return {Way::kCall, rule, 0}; }

  // The rule takes what these take, one behind the other.
  void Calls(RuleNo rule, const std::vector<RuleNo>& called) {
    std::vector<Edge> edges;
    for (const RuleNo each : called) edges.push_back(CallOf(each));
    Chain(rule, edges);
  }
  void Chain(RuleNo rule, const std::vector<Edge>& steps) {
    Place at = network_.begins_[rule];
    for (const Edge& step : steps) {
      const Place next = NewPlace(rule);
      Add(at, step.way, step.what, next);
      at = next;
    }
    Add(at, Way::kFree, 0, network_.ends_[rule]);
  }
  // Any number of times, also none.
  void Loop(RuleNo rule, const Edge& step) {
    Add(network_.begins_[rule], step.way, step.what, network_.begins_[rule]);
    Add(network_.begins_[rule], Way::kFree, 0, network_.ends_[rule]);
  }
  // As often as it may be; of counts only whether they are 0, or over 1.
  void Repeat(RuleNo rule, RuleNo child, std::uint32_t min, std::uint32_t max) {
    assert(min <= max && "a repetition has a count");
    if (min == 0) Add(network_.begins_[rule], Way::kFree, 0, network_.ends_[rule]);
    if (max == 0) return;
    const Place behind = NewPlace(rule);
    Add(network_.begins_[rule], Way::kCall, child, behind);
    Add(behind, Way::kFree, 0, network_.ends_[rule]);
    if (max > 1) Add(behind, Way::kFree, 0, network_.begins_[rule]);
  }
  // What is ignored may follow.
  void ThenIgnored(RuleNo rule, RuleNo child) {
    const Place behind = NewPlace(rule);
    Add(network_.begins_[rule], Way::kCall, child, behind);
    if (grammar_.ignored.has_value()) Add(behind, Way::kCall, *grammar_.ignored, behind);
    Add(behind, Way::kFree, 0, network_.ends_[rule]);
  }

  void BuildStart(SymbolId start) {
    const auto rule = static_cast<RuleNo>(network_.begins_.size() - 1);
    network_.start_ = rule;
    if (grammar_.ignore_first && grammar_.ignored.has_value())
      Add(network_.begins_[rule], Way::kCall, *grammar_.ignored, network_.begins_[rule]);
    Add(network_.begins_[rule], Way::kCall, RuleOfSymbol(start), network_.ends_[rule]);
  }
  [[nodiscard]] RuleNo RuleOfSymbol(SymbolId symbol) const {
    const std::optional<std::uint32_t> definition = grammar_.definition_of[symbol];
    return definition.value_or(AnyText());
  }

  [[nodiscard]] std::vector<RuleNo> ChildrenOf(const Expression& expression) const {
    std::vector<RuleNo> rules;
    for (std::uint32_t i = 0; i < expression.child_count; ++i)
      rules.push_back(RuleOfExpression(grammar_.children[expression.first_child + i]));
    return rules;
  }

  void BuildExpression(ExprId id) {
    const Expression& expression = grammar_.expressions[id];
    const RuleNo rule = RuleOfExpression(id);
    const std::vector<RuleNo> children = ChildrenOf(expression);
    switch (expression.kind) {
      case ExprKind::kCharacters:
      case ExprKind::kBytes:
        NameIn(id);
        return Calls(rule, {RuleOfNode(expression.a)});
      case ExprKind::kName:
      case ExprKind::kIndexed:
        if (expression.use == ExprUse::kLexeme)
          return ThenIgnored(rule, RuleOfSymbol(expression.a));
        return Calls(rule, {RuleOfSymbol(expression.a)});
      case ExprKind::kSequence:
        return Calls(rule, children);
      case ExprKind::kChoice:
        for (const RuleNo child : children) Calls(rule, {child});
        return;
      case ExprKind::kRepeat:
        return Repeat(rule, children[0], expression.a, expression.b);
      case ExprKind::kLexeme:
        return ThenIgnored(rule, children[0]);
      case ExprKind::kIf:
      case ExprKind::kLimited:
      case ExprKind::kShortest:
      case ExprKind::kAtMost:
      case ExprKind::kBoth:
        return Calls(rule, {children[0]});
      case ExprKind::kParameter:
      case ExprKind::kNot:
        NameIn(id);
        return Calls(rule, {AnyText()});
    }
  }
  // What comes next in this expression is said to stand where it stands.
  void NameIn(ExprId id) {
    NextPart part = {.at = grammar_.expressions[id].at, .rule = ""};
    for (const Definition& definition : grammar_.definitions) {
      if (definition.first > id || id > definition.body) continue;
      // Names that no text can write end with a number: "%ignore 1" stands for %ignore.
      const std::string& name = grammar_.names[definition.symbol];
      part.rule = name.substr(0, name.find(' '));
      break;
    }
    network_.parts_[RuleOfExpression(id)] = std::move(part);
  }

  void BuildNode(NodeId id) {
    const IrNode& node = ir_.nodes[id];
    const RuleNo rule = RuleOfNode(id);
    std::vector<RuleNo> children;
    for (std::uint32_t i = 0; i < node.child_count; ++i)
      children.push_back(RuleOfNode(ir_.children[node.first_child + i]));
    switch (node.kind) {
      case IrKind::kNothing:
        return;
      case IrKind::kEmpty:
      case IrKind::kConcat:
        return Calls(rule, children);
      case IrKind::kText:
        return Spell(rule, TextOf(ir_, node));
      case IrKind::kTextSet:
        for (const std::u32string& text : TextSetOf(ir_, node)) Spell(rule, text);
        return;
      case IrKind::kCharSet:
        return Chain(rule, std::vector<Edge>{OneOf(CharSetOf(ir_, node))});
      case IrKind::kAlt:
        for (const RuleNo child : children) Calls(rule, {child});
        return;
      case IrKind::kRepeat:
        return Repeat(rule, children[0], AsRepeat(node).min, AsRepeat(node).max);
      case IrKind::kAnd:
      case IrKind::kEncode:
      case IrKind::kLimited:
        return Calls(rule, {children[0]});
      default:
        return Calls(rule, {AnyText()});
    }
  }
  void Spell(RuleNo rule, const std::u32string& text) {
    std::vector<Edge> steps;
    for (const char32_t character : text)
      steps.push_back({Way::kCharacter, static_cast<std::uint32_t>(character), 0});
    Chain(rule, steps);
  }

  const SourceGrammar& grammar_;
  const GrammarIr& ir_;
  NextParts& network_;
};

// One text followed through the network.
class NextPartsSearch {
 public:
  explicit NextPartsSearch(const NextParts& network) : network_(network) {}

  std::optional<std::vector<NextPart>> Run(absl::string_view taken) {
    Enter(network_.begins_[network_.start_], 0);
    if (!Close()) return std::nullopt;
    // Bytes of a character that is not whole yet say nothing.
    for (std::size_t at = 0; at < taken.size() && !sets_.back().items.empty();) {
      const std::optional<std::uint32_t> character = DecodeUtf8(taken, &at);
      if (!character.has_value()) break;
      Take(*character);
      if (!Close()) return std::nullopt;
    }
    return Wanted();
  }

 private:
  using Place = NextParts::Place;
  using RuleNo = NextParts::RuleNo;
  using Way = NextParts::Way;
  struct Item {
    Place place;
    std::uint32_t origin;  // the set in which its rule began
    auto operator<=>(const Item&) const = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Item& item) {
      return H::combine(std::move(hash), item.place, item.origin);
    }
  };
  // What holds behind so many characters.
  struct Set {
    std::vector<Item> items;
    absl::flat_hash_set<Item> known;
    // By rule that was called here: where it returns to.
    absl::flat_hash_map<RuleNo, std::vector<Item>> callers;
    // Rules that began here and may end here.
    absl::flat_hash_set<RuleNo> ended_empty;
  };

  void Enter(Place place, std::uint32_t origin) {
    if (sets_.empty()) sets_.emplace_back();
    const Item item = {place, origin};
    if (!sets_.back().known.insert(item).second) return;
    sets_.back().items.push_back(item);
    ++entered_;
  }
  [[nodiscard]] std::uint32_t Here() const { return static_cast<std::uint32_t>(sets_.size() - 1); }

  // Adds what follows without a character. False where that is too much.
  bool Close() {
    for (std::size_t i = 0; i < sets_.back().items.size(); ++i) {
      if (entered_ > NextParts::kMostItems) return false;
      const Item item = sets_.back().items[i];
      const RuleNo rule = network_.rule_of_[item.place];
      if (item.place == network_.ends_[rule]) Return(rule, item.origin);
      for (const NextParts::Edge& edge : network_.edges_[item.place]) {
        if (edge.way == Way::kFree) Enter(edge.to, item.origin);
        if (edge.way == Way::kCall) Call(edge.what, {edge.to, item.origin});
      }
    }
    return true;
  }
  void Call(RuleNo rule, const Item& back) {
    sets_.back().callers[rule].push_back(back);
    if (sets_.back().ended_empty.contains(rule)) Enter(back.place, back.origin);
    Enter(network_.begins_[rule], Here());
  }
  void Return(RuleNo rule, std::uint32_t origin) {
    assert(origin <= Here() && "a rule ends behind its begin");
    if (origin == Here()) sets_.back().ended_empty.insert(rule);
    const auto callers = sets_[origin].callers.find(rule);
    if (callers == sets_[origin].callers.end()) return;
    for (const Item& back : callers->second) Enter(back.place, back.origin);
  }

  // The set behind one character more.
  void Take(std::uint32_t character) {
    const std::vector<Item> before = sets_.back().items;
    sets_.emplace_back();
    for (const Item& item : before) {
      for (const NextParts::Edge& edge : network_.edges_[item.place])
        if (Takes(edge, character)) Enter(edge.to, item.origin);
    }
  }
  [[nodiscard]] bool Takes(const NextParts::Edge& edge, std::uint32_t character) const {
    if (edge.way == Way::kCharacter) return edge.what == character;
    return edge.way == Way::kSet && network_.sets_[edge.what].Contains(character);
  }
  [[nodiscard]] bool WantsCharacter(Place place) const {
    return std::ranges::any_of(network_.edges_[place], [](const NextParts::Edge& edge) {
      return edge.way == Way::kCharacter || edge.way == Way::kSet;
    });
  }

  // The parts in which the last set's items want a character, in the source's order.
  std::vector<NextPart> Wanted() {
    std::vector<std::pair<RuleNo, std::uint32_t>> open;
    absl::flat_hash_set<std::pair<RuleNo, std::uint32_t>> seen;
    const auto look_at = [&](RuleNo rule, std::uint32_t origin) {
      if (seen.insert({rule, origin}).second) open.push_back({rule, origin});
    };
    for (const Item& item : sets_.back().items)
      if (WantsCharacter(item.place)) look_at(network_.rule_of_[item.place], item.origin);
    std::vector<NextPart> parts;
    while (!open.empty()) {
      const auto [rule, origin] = open.back();
      open.pop_back();
      if (network_.parts_[rule].has_value()) {
        parts.push_back(*network_.parts_[rule]);
        continue;
      }
      assert((rule == network_.start_ || sets_[origin].callers.contains(rule)) &&
             "who is in a rule was called");
      for (const Item& back : sets_[origin].callers[rule])
        look_at(network_.rule_of_[back.place], back.origin);
    }
    std::ranges::sort(parts, {}, &NextPart::at);
    parts.erase(std::ranges::unique(parts).begin(), parts.end());
    return parts;
  }

  const NextParts& network_;
  std::vector<Set> sets_;
  std::size_t entered_ = 0;
};

NextParts::NextParts(const SourceGrammar& grammar, const GrammarIr& ir, SymbolId start) {
  NextPartsBuilder(grammar, ir, *this).Build(start);
}

std::optional<std::vector<NextPart>> NextParts::Behind(absl::string_view taken) const {
  return NextPartsSearch(*this).Run(taken);
}

}  // namespace maskd
