// Tokens that may hold parts of more than one item are tried one by one, along their common
// beginnings. Less tells enough where they end a string (item_ends.h). All other tokens stay
// within one item. They matter only where it may become the equal of one before it, and are found
// along the vocabulary's trie.
//
// Invariant  what is reported is in the mask, and no state is behind it; tokens that are not looked
//            at cannot end an item, and their item cannot become a repetition within them.
// Cost       a step for each byte that differs from the token before; the trie is entered only
//            where a repetition is still possible, which after one letter is mostly nowhere.
#include "grammar_core/unique_items/repeated_tokens.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "absl/strings/string_view.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/unique_items/item_ends.h"
#include "grammar_core/unique_items/row_step.h"

namespace maskd {
namespace {

std::size_t CommonPrefix(absl::string_view a, absl::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// One look at the tokens of a mask. The states that it makes are void behind it.
class Search {
 public:
  using State = RowMemory::State;

  Search(const ItemTokens& tokens, RowMemory* row, const TokenMask& mask, Work* work)
      : tokens_(tokens), row_(*row), mask_(mask), work_(*work), scratch_(row) {}

  std::vector<TokenId> Run(State state) {
    const bool in_string = row_.InString(state);
    if (!RowMemory::IsOwn(state)) {
      TryEach(tokens_.BeginningArray(in_string), state);
      return std::move(repeated_);
    }
    if (const auto in_item = row_.InItemString(state); in_item.has_value())
      TryEnds(*in_item, state);
    else
      TryEach(tokens_.Holding(in_string), state);
    if (row_.MayRepeat(state)) FollowRepeated(state);
    return std::move(repeated_);
  }

 private:
  // A state behind some bytes. `narrowed`: a way to read them was dropped, so that what is behind
  // them may be less than the mask has.
  struct Place {
    State state;
    bool narrowed;
  };

  Place Take(const Place& at, unsigned char byte) {
    const State next = TakeByte(&row_, at.state, byte, work_);
    const bool narrowed = at.narrowed || (row_.IsAmbiguous(at.state) && !IsWhole(at, byte, next));
    return {next, narrowed};
  }

  // Whether `next` still has every way that the automaton has there. Where one was dropped, tokens
  // may be refused further on that the mask, which knows all ways, allows.
  bool IsWhole(const Place& at, unsigned char byte, State next) {
    if (next == kNothingTerm || next == kFailedTerm) return false;
    Automaton& automaton = row_.automaton();
    const TermId whole = automaton.Step(row_.Shared(at.state), byte, work_);
    return work_.ok() && StateTerms(automaton).WithoutDistinct(whole) == row_.Shared(next);
  }

  // Whether something may be refused in `rest` behind `at`.
  [[nodiscard]] bool MayMatter(const Place& at, absl::string_view rest) const {
    if (at.narrowed) return true;
    if (!RowMemory::IsOwn(at.state)) return ItemTokens::MayBeginArray(rest);
    return row_.MayRepeat(at.state) || row_.MayBeginAnother(at.state, rest);
  }

  // Those that end the string at hand.
  void TryEnds(const RowMemory::InItem& in_item, State state) {
    ItemTokens::Tokens untold;
    ItemEnds(tokens_, &row_.automaton(), in_item, &work_).Sort(mask_, &repeated_, &untold);
    if (!work_.ok()) return;
    TryEach(untold, state);
    TryEach(tokens_.OtherEnds(), state);
  }

  // Goes along the bytes of those of `tokens` that the mask has, as far as matters.
  void TryEach(const ItemTokens::Tokens& tokens, State state) {
    std::vector<Place> path = {{state, false}};
    absl::string_view taken;  // one byte for each place behind the first
    for (const TokenId id : tokens) {
      if (!mask_.Allows(id)) continue;
      const absl::string_view bytes = tokens_.index().vocabulary().TokenBytes(id);
      // What this token shares with the one before has its places already.
      path.resize(CommonPrefix(taken, bytes) + 1);
      assert(path.size() <= bytes.size() + 1 && "a place for each byte taken, and the start");
      while (path.size() <= bytes.size() && path.back().state != kNothingTerm &&
             MayMatter(path.back(), bytes.substr(path.size() - 1))) {
        path.push_back(Take(path.back(), static_cast<unsigned char>(bytes[path.size() - 1])));
        if (!work_.ok()) return;
      }
      if (path.back().state == kNothingTerm) repeated_.push_back(id);
      taken = bytes.substr(0, path.size() - 1);
    }
  }

  void ForbidBelow(std::size_t node) {
    const TokenTrie& trie = tokens_.index().trie();
    const std::size_t end = node + trie.nodes()[node].skip;
    for (std::size_t i = node; i < end; ++i) {
      if (trie.nodes()[i].token == TokenTrie::kNoToken) continue;
      trie.VisitTokens(trie.nodes()[i], [&](TokenId id) {
        if (mask_.Allows(id)) repeated_.push_back(id);
      });
    }
  }

  // Goes along the bytes that may lead to a repetition. What the state does not take as if items
  // could be equal, the mask does not have.
  void FollowRepeated(State state) {
    struct Level {
      Place place;
      FirstClasses::Set first;
    };
    const std::span<const TrieNode> nodes = tokens_.index().trie().nodes();
    std::vector<Level> path = {{{state, false}, row_.FirstOf(state, work_)}};
    for (std::size_t i = 0; i < nodes.size();) {
      assert(nodes[i].depth >= 1 && nodes[i].depth <= path.size() && "left the trie's order");
      path.resize(nodes[i].depth);
      const auto byte = static_cast<unsigned char>(nodes[i].byte);
      const Level& level = path.back();
      const bool matters =
          level.place.narrowed || (level.first.test(row_.automaton().classes().Of(byte)) &&
                                   row_.MayRepeatBehind(level.place.state, byte));
      const Place next = matters ? Take(level.place, byte) : Place{kNothingTerm, false};
      if (!work_.ok()) return;
      if (matters && next.state == kNothingTerm) ForbidBelow(i);
      const bool deeper =
          next.state != kNothingTerm && (next.narrowed || row_.MayRepeat(next.state));
      if (deeper) path.push_back({next, row_.FirstOf(next.state, work_)});
      i += deeper ? 1 : nodes[i].skip;
    }
    TryLong(state);
  }

  // Tokens too long for the trie's depth: few, each by itself.
  void TryLong(State state) {
    for (const TokenId id : tokens_.index().trie().long_tokens()) {
      if (!mask_.Allows(id)) continue;
      Place at = {state, false};
      for (const char byte : tokens_.index().vocabulary().TokenBytes(id))
        if (at.state != kNothingTerm) at = Take(at, static_cast<unsigned char>(byte));
      if (!work_.ok()) return;
      if (at.state == kNothingTerm) repeated_.push_back(id);
    }
  }

  const ItemTokens& tokens_;
  RowMemory& row_;
  const TokenMask mask_;  // a copy, as it is asked for many tokens
  Work& work_;
  const RowMemory::Scratch scratch_;
  std::vector<TokenId> repeated_;
};

}  // namespace

std::vector<TokenId> FindRepeated(const ItemTokens& tokens, RowMemory* row, RowMemory::State state,
                                  const TokenMask& mask, Work& work) {
  assert(row != nullptr && mask.vocab_size() == tokens.index().vocabulary().size());
  return Search(tokens, row, mask, &work).Run(state);
}

}  // namespace maskd
