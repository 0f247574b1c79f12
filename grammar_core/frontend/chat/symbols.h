// An answer as symbols: a byte, or a marker of the vocabulary as its token. What a family spells is
// cut into symbols the same way, so reading compares numbers and never asks how tokens fall.
//
// SymbolSearch  the first of several texts in a stream, by the automaton of Aho and Corasick: how
//               much of the stream's end may still become one of them is a node's depth.
// SymbolChoice  which of several texts a stream goes on with, the longest that fits.
// Cost          a search takes amortised constant time a symbol; a choice, the logarithm of its
//               texts.
// Threads       immutable; any number of readers.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_SYMBOLS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_SYMBOLS_H_

#include <bitset>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/marker_table.h"

namespace maskd {

// Below kFirstMarker a byte, else that and a token's id.
using Symbol = std::uint32_t;
using Symbols = std::vector<Symbol>;
inline constexpr Symbol kFirstMarker = 256;

// `text` with its markers as tokens; all bytes where `table` is null.
Symbols CutIntoSymbols(absl::string_view text, const MarkerTable* table);

// Made once for a plan; a stream's place in it is one number.
class SymbolSearch {
 public:
  using Node = std::uint32_t;

  // Finds nothing.
  SymbolSearch() : SymbolSearch(std::vector<Symbols>()) {}
  // None of `texts` may be empty. Without texts nothing is found.
  explicit SymbolSearch(const std::vector<Symbols>& texts);

  // The node behind `symbol`; a search begins at node 0.
  [[nodiscard]] Node Step(Node node, Symbol symbol) const;
  // The node where what was read goes on as one of the texts, or 0.
  [[nodiscard]] Node Child(Node node, Symbol symbol) const;
  // How many symbols at the end of the stream may belong to a text.
  [[nodiscard]] std::uint32_t Depth(Node node) const { return nodes_[node].depth; }
  // The length of the longest text that ends here; 0 where none does.
  [[nodiscard]] std::uint32_t Found(Node node) const { return nodes_[node].found; }
  [[nodiscard]] bool HasChildren(Node node) const { return !nodes_[node].children.empty(); }

 private:
  struct Entry {
    std::vector<std::pair<Symbol, Node>> children;
    Node fail = 0;
    std::uint32_t depth = 0;
    std::uint32_t found = 0;
  };

  void AddText(const Symbols& text);
  void LinkFailures();

  std::vector<Entry> nodes_;
  std::bitset<kFirstMarker> first_bytes_;
};

// Texts sorted, so that what was read is a range of them.
class SymbolChoice {
 public:
  static constexpr int kNone = -1;
  // A place in a choice.
  struct State {
    std::uint32_t begin = 0;  // the texts that what was read is a beginning of
    std::uint32_t end = 0;
    std::uint32_t depth = 0;       // symbols read
    std::uint32_t best_depth = 0;  // of the longest text that was read as a whole
    int best = kNone;              // what that text stands for
  };
  // One of the texts; several may have one target.
  struct Text {
    Symbols symbols;  // not empty
    int target;       // what it stands for, from 0
  };

  SymbolChoice() = default;
  // No two texts may be equal.
  explicit SymbolChoice(std::vector<Text> texts);

  // Without texts nothing can be chosen; Begin() is before the first symbol.
  [[nodiscard]] bool empty() const { return texts_.empty(); }
  [[nodiscard]] State Begin() const;
  // Reads a symbol. Whether more may follow; else `best` is the answer, if it is one.
  [[nodiscard]] bool Step(Symbol symbol, State* state) const;

 private:
  std::vector<Text> texts_;  // sorted
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_SYMBOLS_H_
