// Every definition, expression and IR node is a rule of the network, which calls its parts.
// What is named is where an expression has texts, and no other expression, within it.
//
// Invariant  what is not followed exactly takes more than the grammar does, up to any text.
// Cost       a rule for each of them; a count is as many calls.
#include "grammar_core/frontend/places/notation_places.h"

#include <optional>
#include <utility>
#include <vector>

#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

using RuleNo = PlaceNetwork::RuleNo;
using Way = PlaceNetwork::Way;

class NotationPlaces {
 public:
  NotationPlaces(const SourceGrammar& grammar, const GrammarIr& ir, std::string pointer,
                 PlaceNetwork& network)
      : grammar_(grammar), ir_(ir), pointer_(std::move(pointer)), network_(network) {}

  RuleNo Build(SymbolId start) {
    first_ = network_.NewRule();
    const std::size_t rules =
        grammar_.definitions.size() + grammar_.expressions.size() + ir_.nodes.size();
    for (std::size_t rule = 1; rule < rules; ++rule) network_.NewRule();
    any_text_ = network_.NewRule();
    network_.AddAnyText(any_text_);
    symbol_of_.resize(grammar_.expressions.size());
    for (std::size_t index = 0; index < grammar_.definitions.size(); ++index) {
      const Definition& definition = grammar_.definitions[index];
      network_.AddChain(RuleOfDefinition(index), {RuleOfExpression(definition.body)});
      for (ExprId id = definition.first; id <= definition.body; ++id)
        if (!symbol_of_[id].has_value()) symbol_of_[id] = definition.symbol;
    }
    for (ExprId id = 0; id < grammar_.expressions.size(); ++id) BuildExpression(id);
    for (NodeId id = 0; id < ir_.nodes.size(); ++id) BuildNode(id);
    return BuildStart(start);
  }

 private:
  [[nodiscard]] RuleNo RuleOfDefinition(std::size_t index) const {
    return first_ + static_cast<RuleNo>(index);
  }
  [[nodiscard]] RuleNo RuleOfExpression(ExprId id) const {
    return RuleOfDefinition(grammar_.definitions.size() + id);
  }
  [[nodiscard]] RuleNo RuleOfNode(NodeId id) const {
    return RuleOfDefinition(grammar_.definitions.size() + grammar_.expressions.size() + id);
  }
  [[nodiscard]] RuleNo RuleOfSymbol(SymbolId symbol) const {
    const std::optional<std::uint32_t> definition = grammar_.definition_of[symbol];
    return definition.has_value() ? RuleOfDefinition(*definition) : any_text_;
  }

  // What is ignored may follow.
  void ThenIgnored(RuleNo rule, RuleNo child) {
    const PlaceNetwork::Place behind = network_.NewPlace(rule);
    network_.Add(network_.begin(rule), Way::kCall, child, behind);
    if (grammar_.ignored.has_value())
      network_.Add(behind, Way::kCall, RuleOfDefinition(*grammar_.ignored), behind);
    network_.Add(behind, Way::kFree, 0, network_.end(rule));
  }

  RuleNo BuildStart(SymbolId start) {
    const RuleNo rule = network_.NewRule();
    const PlaceNetwork::Place begin = network_.begin(rule);
    if (grammar_.ignore_first && grammar_.ignored.has_value())
      network_.Add(begin, Way::kCall, RuleOfDefinition(*grammar_.ignored), begin);
    network_.Add(begin, Way::kCall, RuleOfSymbol(start), network_.end(rule));
    return rule;
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
        return network_.AddChain(rule, {RuleOfNode(expression.a)});
      case ExprKind::kName:
      case ExprKind::kIndexed:
        if (expression.use == ExprUse::kLexeme)
          return ThenIgnored(rule, RuleOfSymbol(expression.a));
        return network_.AddChain(rule, {RuleOfSymbol(expression.a)});
      case ExprKind::kSequence:
        return network_.AddChain(rule, children);
      case ExprKind::kChoice:
        for (const RuleNo child : children) network_.AddChain(rule, {child});
        return;
      case ExprKind::kRepeat:
        return network_.AddRepeat(rule, children[0], expression.a, expression.b);
      case ExprKind::kLexeme:
        return ThenIgnored(rule, children[0]);
      case ExprKind::kIf:
      case ExprKind::kLimited:
      case ExprKind::kShortest:
      case ExprKind::kAtMost:
      case ExprKind::kBoth:
        network_.Approximate();
        return network_.AddChain(rule, {children[0]});
      case ExprKind::kParameter:
      case ExprKind::kNot:
        NameIn(id);
        network_.Approximate();
        return network_.AddChain(rule, {any_text_});
    }
  }
  // What comes next in this expression is said to stand where it stands.
  void NameIn(ExprId id) {
    NextPart part = {.pointer = pointer_, .at = grammar_.expressions[id].at};
    if (symbol_of_[id].has_value()) {
      // Names that no text can write end with a number: "%ignore 1" stands for %ignore.
      const std::string& name = grammar_.names[*symbol_of_[id]];
      part.rule = name.substr(0, name.find(' '));
    }
    network_.SetPart(RuleOfExpression(id), std::move(part));
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
        return network_.AddChain(rule, children);
      case IrKind::kText:
        return network_.AddText(rule, TextOf(ir_, node));
      case IrKind::kTextSet:
        for (const std::u32string& text : TextSetOf(ir_, node)) network_.AddText(rule, text);
        return;
      case IrKind::kCharSet:
        return network_.AddCharacters(rule, CharSetOf(ir_, node));
      case IrKind::kAlt:
        for (const RuleNo child : children) network_.AddChain(rule, {child});
        return;
      case IrKind::kRepeat:
        return network_.AddRepeat(rule, children[0], AsRepeat(node).min, AsRepeat(node).max);
      case IrKind::kEncode:
        return network_.AddChain(rule, {children[0]});
      case IrKind::kAnd:
      case IrKind::kLimited:
        network_.Approximate();
        return network_.AddChain(rule, {children[0]});
      default:
        network_.Approximate();
        return network_.AddChain(rule, {any_text_});
    }
  }

  const SourceGrammar& grammar_;
  const GrammarIr& ir_;
  const std::string pointer_;
  PlaceNetwork& network_;
  std::vector<std::optional<SymbolId>> symbol_of_;  // by expression: whose definition it is in
  // Numbers of rules: from here on the definitions, then the expressions and the IR nodes.
  RuleNo first_ = 0;
  RuleNo any_text_ = 0;
};

}  // namespace

RuleNo AddNotation(const SourceGrammar& grammar, const GrammarIr& ir, SymbolId start,
                   const std::string& pointer, PlaceNetwork& network) {
  return NotationPlaces(grammar, ir, pointer, network).Build(start);
}

}  // namespace maskd
