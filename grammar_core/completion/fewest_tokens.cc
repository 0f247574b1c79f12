// Three answers to how soon a text can end, dearer as they are closer. First a bound by bytes, or
// what a search has shown before. Then the tokens of the shortest string, by a dynamic program over
// its ends. Then a breadth-first search, which is only asked for less than the second gives.
#include "grammar_core/completion/fewest_tokens.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/completion/breadth_first.h"
#include "grammar_core/completion/shortest_path.h"

namespace maskd {
namespace {

// The tokens of `text` that are fewest: for each end, the best of the tokens that end there.
class PieceTable {
 public:
  PieceTable(const TokenSearch& search, absl::string_view text)
      : search_(search), text_(text), best_(text.size() + 1) {
    best_[0].tokens = 0;
  }

  // Empty where the vocabulary lacks a byte of the text.
  std::vector<TokenId> Run() {
    for (std::size_t begin = 0; begin < text_.size(); ++begin)
      if (best_[begin].tokens != kNone) AddTokensAt(begin);
    // Every best piece ends behind its begin, so the way back comes to the start.
    std::vector<TokenId> tokens;
    if (best_.back().tokens == kNone) return tokens;
    for (std::size_t end = text_.size(); end > 0; end = best_[end].begin) {
      assert(best_[end].begin < end && "a piece has bytes");
      tokens.push_back(best_[end].last);
    }
    std::ranges::reverse(tokens);
    return tokens;
  }

 private:
  static constexpr int kNone = std::numeric_limits<int>::max();
  struct Best {
    int tokens = kNone;
    TokenId last = 0;
    std::size_t begin = 0;  // of the last
  };

  void AddTokensAt(std::size_t begin) {
    const TokenTrie& trie = search_.index->trie();
    trie.VisitPrefixes(text_.substr(begin), [&](std::size_t bytes, const TrieNode& node) {
      AddToken(trie, node, begin, begin + bytes);
    });
  }

  void AddToken(const TokenTrie& trie, const TrieNode& node, std::size_t begin, std::size_t end) {
    if (best_[begin].tokens + 1 >= best_[end].tokens) return;
    trie.VisitTokens(node, [&](TokenId id) {
      if (search_.IsText(id)) best_[end] = {best_[begin].tokens + 1, id, begin};
    });
  }

  const TokenSearch& search_;
  absl::string_view text_;
  std::vector<Best> best_;  // by end
};

// Bytes of a completion beyond which its tokens are not looked at as a first guess.
constexpr int kGuessBytes = 4096;

}  // namespace

std::vector<TokenId> FewestPieces(const TokenSearch& search, absl::string_view text) {
  return PieceTable(search, text).Run();
}

std::int64_t WorkOfPieces(absl::string_view text) {
  constexpr std::size_t kBytesPerUnit = 4;
  return 1 + static_cast<std::int64_t>(text.size() / kBytesPerUnit);
}

absl::StatusOr<std::vector<TokenId>> FewTokens(const TokenSearch& search, RowStates::State state,
                                               int max_bytes, Work& work) {
  const absl::StatusOr<std::string> text =
      ShortestCompletion(*search.states, state, max_bytes, work);
  if (!text.ok()) return text.status();
  if (!work.Spend(WorkOfPieces(*text))) return work.error();
  std::vector<TokenId> tokens = FewestPieces(search, *text);
  if (tokens.empty() && !text->empty())
    return LimitExceeded("", "completion_bytes", max_bytes, std::int64_t{max_bytes} + 1);
  return tokens;
}

absl::StatusOr<std::vector<TokenId>> FewestTokens(const TokenSearch& search, RowStates::State state,
                                                  int max_tokens, Work& work) {
  // What is known to do bounds the search for something better.
  absl::StatusOr<std::vector<TokenId>> known = FewTokens(search, state, kGuessBytes, work);
  if (!work.ok()) return work.error();
  const bool is_enough = known.ok() && static_cast<int>(known->size()) <= max_tokens;
  if (is_enough && static_cast<int>(known->size()) == LeastTokens(search, state)) return known;
  const RowStates::Scratch scratch(*search.states);
  BreadthFirst better(search, is_enough ? static_cast<int>(known->size()) - 1 : max_tokens, &work);
  // Asked for less than is known, so what it finds is better, and nothing found proves the known.
  if (better.Run(state)) return std::move(better.tokens());
  if (!work.ok()) return work.error();
  if (is_enough) return known;
  return LimitExceeded("", "completion_tokens", max_tokens, std::int64_t{max_tokens} + 1);
}

}  // namespace maskd
