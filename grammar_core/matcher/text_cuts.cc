// A text has many cuts into tokens, and where tokens of a part are counted, or named ones stand for
// their spelling, the cuts differ in what they allow. So the text is walked with the set of states
// that any cut leads to, place by place (as an automaton's subsets are), the best of those alike.
//
// Invariant  a place holds the states behind all cuts that end there, but those that take no more
//            than another.
// Cost       for each place the tokens that begin there, times the states of the place.
#include "grammar_core/matcher/text_cuts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/rows/row_states.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

using State = RowStates::State;

// States between two tokens, without those that take no more than another one. Where states begin
// with a part whose tokens are counted, the one with most of them left is enough.
class Places {
 public:
  explicit Places(const RowStates& states) : row_(states) {}

  void Add(State state) {
    const Automaton& automaton = row_.automaton();
    const Term& term = automaton.store().term(row_.Shared(state));
    const bool is_cat = term.kind == TermKind::kCat;
    const Term& cell = is_cat ? automaton.store().term(AsCat(term).head) : term;
    if (RowStates::IsOwn(state) || cell.kind != TermKind::kLimited) {
      states_.try_emplace({state, kUnknownTerm}, Best{state, 0});
      return;
    }
    // More tokens left take all that fewer do.
    const auto [text, left, touched] = AsLimited(cell);
    Best& best = states_[{RowMemory::Of(text), is_cat ? AsCat(term).tail : kEmptyTerm}];
    if (best.state == kNothingTerm || best.left < left) best = {state, left};
  }

  template <typename Visit>
  void VisitAll(Visit visit) const {
    for (const auto& [text, best] : states_) visit(best.state);
  }

 private:
  struct Best {
    State state = kNothingTerm;
    std::uint32_t left = 0;
  };

  const RowStates& row_;
  // By the state, or by the text whose tokens are counted and what follows it.
  absl::flat_hash_map<std::pair<State, TermId>, Best> states_;
};

class Cutter {
 public:
  Cutter(const TokenStepper& stepper, absl::string_view text, Work* work)
      : row_(stepper.states()), search_(stepper.search()), text_(text), work_(*work) {}

  TextCut Run(State start) {
    At(0).Add(start);
    TextCut cut;
    while (!places_.empty() && work_.ok()) {
      const auto [begin, places] = *places_.begin();
      places_.erase(places_.begin());
      cut.taken_bytes = std::max(cut.taken_bytes, begin);
      places.VisitAll([&, at = begin](State state) {
        if (at == text_.size()) cut.may_end = cut.may_end || row_.MayEnd(state);
        if (work_.Spend()) cut.taken_bytes = std::max(cut.taken_bytes, Follow(at, state));
      });
    }
    return cut;
  }

 private:
  Places& At(std::size_t place) { return places_.try_emplace(place, row_).first->second; }

  // Takes the tokens that the text has at `begin`; where the longest that fits, or its beginning,
  // ends.
  std::size_t Follow(std::size_t begin, State state) {
    const std::size_t named = FollowNamed(begin, state);
    return std::max(named, FollowText(begin, state));
  }

  // Takes those that the grammar names and whose spelling the text has at `begin`.
  std::size_t FollowNamed(std::size_t begin, State state) {
    std::size_t end = begin;
    for (const NamedTokens::Step& step : row_.NamedSteps(state)) {
      VisitTokensAt(begin, [&](TokenId id) {
        if (!step.tokens.Allows(id)) return;
        const std::size_t behind = begin + search_.index->vocabulary().TokenBytes(id).size();
        At(behind).Add(row_.AtTokenEnd(RowMemory::Of(step.next)));
        end = std::max(end, behind);
      });
    }
    return end;
  }

  // All tokens that the text has at `begin`, special ones among them.
  template <typename Visit>
  void VisitTokensAt(std::size_t begin, Visit visit) const {
    const Vocabulary& vocabulary = search_.index->vocabulary();
    const absl::string_view rest = text_.substr(begin);
    if (rest.empty()) return;
    for (const TokenId id : vocabulary.special_ids()) {
      const absl::string_view bytes = vocabulary.TokenBytes(id);
      if (bytes[0] == rest[0] && rest.substr(0, bytes.size()) == bytes) visit(id);
    }
    const TokenTrie& trie = search_.index->trie();
    trie.VisitPrefixes(rest,
                       [&](std::size_t, const TrieNode& node) { trie.VisitTokens(node, visit); });
    for (const TokenId id : trie.long_tokens()) {
      const absl::string_view bytes = vocabulary.TokenBytes(id);
      if (rest.substr(0, bytes.size()) == bytes) visit(id);
    }
  }

  std::size_t FollowText(std::size_t begin, State state) {
    const TokenTrie& trie = search_.index->trie();
    std::span<const TrieNode> nodes = trie.nodes();
    State next = state;
    std::size_t end = begin;
    while (end < text_.size()) {
      const auto byte = static_cast<unsigned char>(text_[end]);
      const TrieNode* const node = TokenTrie::FindChild(nodes, byte);
      if (node == nullptr) break;
      next = row_.Take(next, byte, work_);
      if (next == kNothingTerm || next == kFailedTerm) return end;
      ++end;
      if (node->token != TokenTrie::kNoToken && HasToken(trie, *node))
        At(end).Add(row_.AtTokenEnd(next));
      nodes = TokenTrie::Below(*node);
    }
    for (const TokenId id : trie.long_tokens()) FollowLong(begin, state, id);
    return end;
  }

  void FollowLong(std::size_t begin, State state, TokenId id) {
    const absl::string_view bytes = search_.index->vocabulary().TokenBytes(id);
    if (!search_.IsText(id) || text_.substr(begin, bytes.size()) != bytes) return;
    std::size_t taken = 0;
    const State next = row_.StepText(state, bytes, &taken, work_);
    if (taken == bytes.size() && work_.ok()) At(begin + taken).Add(row_.AtTokenEnd(next));
  }

  [[nodiscard]] bool HasToken(const TokenTrie& trie, const TrieNode& node) const {
    bool any = false;
    trie.VisitTokens(node, [&](TokenId id) { any = any || search_.IsText(id); });
    return any;
  }

  const RowStates& row_;
  const TokenSearch search_;
  const absl::string_view text_;
  Work& work_;
  std::map<std::size_t, Places> places_;  // that are reached and not left yet
};

}  // namespace

TextCut CutText(const TokenStepper& stepper, TokenStepper::State state, absl::string_view text,
                Work& work) {
  return Cutter(stepper, text, &work).Run(state);
}

}  // namespace maskd
