// Three answers to how soon a text can end, dearer as they are closer. First a bound by bytes. Then
// the tokens of the shortest string, by a dynamic program over its ends. Then a breadth-first
// search over states, one token a level, which is only asked for less than the second gives.
//
// Invariant  the search leaves out only what the bound of bytes shows to be too late.
// Cost       the search walks the trie once for each state that it meets.
#include "grammar_core/completion/fewest_tokens.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/error.h"
#include "grammar_core/completion/shortest_path.h"
#include "grammar_core/rows/token_steps.h"

namespace maskd {
namespace {

using State = RowStates::State;

bool IsExcluded(const TokenSearch& search, TokenId id) {
  return std::ranges::binary_search(search.excluded, id);
}

int TokensOfBytes(const TokenSearch& search, std::uint32_t bytes) {
  const auto reach = static_cast<std::uint32_t>(search.index->vocabulary().max_token_bytes());
  return static_cast<int>((std::int64_t{bytes} + reach - 1) / std::max(1U, reach));
}

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

class BreadthFirst {
 public:
  // Finds completions of at most `max_tokens`.
  BreadthFirst(const TokenSearch& search, int max_tokens, Work* work)
      : search_(search), states_(*search.states), max_tokens_(max_tokens), work_(*work) {}

  // False if there is none, or `work` failed.
  bool Run(State start) {
    if (states_.MayEnd(start)) return true;
    arrivals_[start] = {start, 0};
    level_ = {start};
    for (int tokens = 1; tokens <= max_tokens_ && !level_.empty(); ++tokens) {
      tokens_left_ = max_tokens_ - tokens;
      for (const State state : std::exchange(level_, {})) {
        if (Expand(state)) {
          Trace(start);
          return true;
        }
        if (!work_.ok()) return false;
      }
    }
    return false;
  }

  [[nodiscard]] std::vector<TokenId>& tokens() { return tokens_; }

 private:
  struct Arrival {
    State from;
    TokenId token;
  };

  // Takes each token in `state`; true at one after which the text may end.
  bool Expand(State state) {
    const auto in_time = [&](State next, const TrieNode& node) {
      return CanEndInTime(next, node.depth);
    };
    const auto arrive = [&](TokenId id, State next) {
      return Arrive(state, id, states_.AtTokenEnd(next));
    };
    return VisitTokenSteps(*search_.index, states_, state, work_, in_time, arrive) ||
           ExpandNamed(state);
  }

  bool ExpandNamed(State state) {
    if (!states_.names_tokens()) return false;
    TokenMask named(search_.index->vocabulary().size());
    states_.AddNamedTokens(state, &named);
    bool found = false;
    named.VisitAllowed([&](TokenId id) {
      std::size_t taken = 0;
      if (found || !work_.Spend()) return;
      const State next = states_.StepToken(state, id, &taken, work_);
      if (next != kFailedTerm) found = Arrive(state, id, next);
    });
    return found;
  }

  // Whether the text can end after what is left of a token of which `depth` bytes are behind, and
  // the tokens that are left then.
  [[nodiscard]] bool CanEndInTime(State state, std::uint32_t depth) const {
    const auto reach = static_cast<std::int64_t>(search_.index->vocabulary().max_token_bytes());
    return states_.MinBytes(state) <= reach - depth + tokens_left_ * reach;
  }

  // True if the text may end in `next`.
  bool Arrive(State from, TokenId token, State next) {
    if (IsExcluded(search_, token)) return false;
    if (states_.MayEnd(next)) {
      last_ = {from, token};
      return true;
    }
    // A state that was met sooner is as good with more tokens left.
    const bool in_time = TokensOfBytes(search_, states_.MinBytes(next)) <= tokens_left_;
    if (in_time && arrivals_.try_emplace(next, Arrival{from, token}).second) level_.push_back(next);
    return false;
  }

  void Trace(State start) {
    tokens_ = {last_.token};
    assert(arrivals_.contains(last_.from) && "the last token came from a state that was met");
    for (State state = last_.from; state != start; state = arrivals_.at(state).from)
      tokens_.push_back(arrivals_.at(state).token);
    std::ranges::reverse(tokens_);
  }

  const TokenSearch& search_;
  const RowStates& states_;
  const int max_tokens_;
  Work& work_;
  int tokens_left_ = 0;  // after the level in work
  absl::flat_hash_map<State, Arrival> arrivals_;
  std::vector<State> level_;
  Arrival last_ = {};
  std::vector<TokenId> tokens_;
};

// Bytes of a completion beyond which its tokens are not looked at as a first guess.
constexpr int kGuessBytes = 4096;

}  // namespace

bool TokenSearch::IsText(TokenId id) const {
  return !IsExcluded(*this, id) &&
         (states == nullptr || !states->automaton().tables().IsMarker(id));
}

std::vector<TokenId> FewestPieces(const TokenSearch& search, absl::string_view text) {
  return PieceTable(search, text).Run();
}

std::int64_t WorkOfPieces(absl::string_view text) {
  constexpr std::size_t kBytesPerUnit = 4;
  return 1 + static_cast<std::int64_t>(text.size() / kBytesPerUnit);
}

int LeastTokens(const TokenSearch& search, RowStates::State state) {
  const int of_text = TokensOfBytes(search, search.states->MinBytes(state));
  return std::max(of_text, search.states->MayEnd(state) ? 0 : 1);
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
