#include "grammar_core/frontend/notation/source_grammar.h"

#include <algorithm>
#include <cassert>

namespace maskd {

SymbolId SourceGrammar::Symbol(absl::string_view name) {
  const auto [found, is_new] =
      symbols.try_emplace(std::string(name), static_cast<SymbolId>(names.size()));
  if (is_new) {
    names.emplace_back(name);
    definition_of.emplace_back();
  }
  return found->second;
}

const Definition* SourceGrammar::Find(absl::string_view name) const {
  const auto symbol = symbols.find(std::string(name));
  if (symbol == symbols.end() || !definition_of[symbol->second].has_value()) return nullptr;
  return &definitions[*definition_of[symbol->second]];
}

ExprId SourceGrammar::Add(Expression expression, const std::vector<ExprId>& expression_children) {
  // Children stand before their parent: the compiler evaluates a definition in this order.
  assert(std::ranges::all_of(expression_children,
                             [&](ExprId child) { return child < expressions.size(); }));
  expression.first_child = static_cast<std::uint32_t>(children.size());
  expression.child_count = static_cast<std::uint32_t>(expression_children.size());
  children.insert(children.end(), expression_children.begin(), expression_children.end());
  expressions.push_back(expression);
  return static_cast<ExprId>(expressions.size() - 1);
}

void SourceGrammar::Define(const Definition& definition) {
  definition_of[definition.symbol] = static_cast<std::uint32_t>(definitions.size());
  definitions.push_back(definition);
}

}  // namespace maskd
