#include "grammar_core/frontend/chat/symbols.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace maskd {

Symbols CutIntoSymbols(absl::string_view text, const MarkerTable* table) {
  Symbols symbols;
  const auto add_bytes = [&](absl::string_view bytes) {
    for (const char byte : bytes) symbols.push_back(static_cast<unsigned char>(byte));
  };
  if (table == nullptr) {
    add_bytes(text);
    return symbols;
  }
  for (const MarkerTable::Piece& piece : table->Cut(text))
    if (piece.marker == MarkerTable::kNone)
      add_bytes(piece.text);
    else
      symbols.push_back(kFirstMarker + static_cast<Symbol>(piece.marker));
  return symbols;
}

SymbolSearch::SymbolSearch(const std::vector<Symbols>& texts) : nodes_(1) {
  for (const Symbols& text : texts) AddText(text);
  LinkFailures();
}

void SymbolSearch::AddText(const Symbols& text) {
  assert(!text.empty());
  Node node = 0;
  for (const Symbol symbol : text) {
    Node next = Child(node, symbol);
    if (next == 0) {
      next = static_cast<Node>(nodes_.size());
      const std::uint32_t depth = nodes_[node].depth + 1;
      nodes_[node].children.emplace_back(symbol, next);
      nodes_.emplace_back().depth = depth;
    }
    node = next;
  }
  nodes_[node].found = nodes_[node].depth;
  if (text[0] < kFirstMarker) first_bytes_.set(text[0]);
}

void SymbolSearch::LinkFailures() {
  std::vector<Node> open = {0};
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Node node = open[i];
    for (const auto& [symbol, child] : nodes_[node].children) {
      const Node fail = node == 0 ? 0 : Step(nodes_[node].fail, symbol);
      nodes_[child].fail = fail;
      nodes_[child].found = std::max(nodes_[child].found, nodes_[fail].found);
      open.push_back(child);
    }
  }
}

SymbolSearch::Node SymbolSearch::Child(Node node, Symbol symbol) const {
  assert(node < nodes_.size());
  for (const auto& [on, child] : nodes_[node].children)
    if (on == symbol) return child;
  return 0;
}

SymbolSearch::Node SymbolSearch::Step(Node node, Symbol symbol) const {
  if (node == 0 && symbol < kFirstMarker && !first_bytes_.test(symbol)) return 0;
  for (;; node = nodes_[node].fail) {
    const Node child = Child(node, symbol);
    if (child != 0 || node == 0) return child;
  }
}

SymbolChoice::SymbolChoice(std::vector<Text> texts) : texts_(std::move(texts)) {
  std::ranges::sort(texts_, {}, &Text::symbols);
}

SymbolChoice::State SymbolChoice::Begin() const {
  return {.begin = 0, .end = static_cast<std::uint32_t>(texts_.size())};
}

bool SymbolChoice::Step(Symbol symbol, State* state) const {
  assert(state->begin <= state->end && state->end <= texts_.size());
  const std::size_t at = state->depth;
  const auto first = texts_.begin() + state->begin;
  const auto last = texts_.begin() + state->end;
  // A text that ends here sorts before those that go on.
  const auto behind = [&](const Text& text) { return text.symbols.size() > at; };
  const auto from = std::partition_point(
      first, last, [&](const Text& text) { return !behind(text) || text.symbols[at] < symbol; });
  const auto to = std::partition_point(
      from, last, [&](const Text& text) { return text.symbols[at] <= symbol; });
  state->begin = static_cast<std::uint32_t>(from - texts_.begin());
  state->end = static_cast<std::uint32_t>(to - texts_.begin());
  ++state->depth;
  if (from == to) return false;
  if (from->symbols.size() == state->depth) {
    state->best = from->target;
    state->best_depth = state->depth;
    return state->end - state->begin > 1;
  }
  return true;
}

}  // namespace maskd
