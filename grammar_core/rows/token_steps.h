// Takes every token of a vocabulary that may be text by its bytes, as tokens that begin alike share
// them.
//
// Errors   by Work; then what was visited is not all.
#ifndef MASKD_GRAMMAR_CORE_ROWS_TOKEN_STEPS_H_
#define MASKD_GRAMMAR_CORE_ROWS_TOKEN_STEPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "grammar_core/mask/token_index.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {

// Calls arrive(id, next) for each token of `trie` that leads from `state` somewhere, until it
// returns true; whether it did. Tokens are left out that begin with a node of the trie for which
// enter(next, node), `next` being the state behind it, is false; a node comes behind the one above
// it.
template <typename Enter, typename Arrive>
bool VisitTrieSteps(const TokenTrie& trie, const RowStates& states, RowStates::State state,
                    Work& work, Enter enter, Arrive arrive) {
  constexpr std::int64_t kNodesPerUnit = 64;  // of work, as in mask_maker.cc
  const std::span<const TrieNode> nodes = trie.nodes();
  std::array<RowStates::State, TokenTrie::kMaxDepth + 1> path;
  path[0] = state;
  std::int64_t visited = 0;
  for (std::size_t i = 0; i < nodes.size(); ++visited) {
    if (visited % kNodesPerUnit == 0 && !work.Spend()) return false;
    const TrieNode node = nodes[i];
    const RowStates::State next =
        states.Take(path[node.depth - 1], static_cast<unsigned char>(node.byte), work);
    if (next == kFailedTerm) return false;
    if (next == kNothingTerm || !enter(next, node)) {
      i += node.skip;
      continue;
    }
    if (node.token != TokenTrie::kNoToken) {
      bool stop = false;
      trie.VisitTokens(node, [&](TokenId id) {
        stop = stop || (!states.automaton().tables().IsMarker(id) && arrive(id, next));
      });
      if (stop) return true;
    }
    path[node.depth] = next;
    ++i;
  }
  return false;
}

// The same of the tokens of `index` that are too long for a trie.
template <typename Arrive>
bool VisitLongSteps(const TokenIndex& index, const RowStates& states, RowStates::State state,
                    Work& work, Arrive arrive) {
  for (const TokenId id : index.trie().long_tokens()) {
    if (!work.ok()) return false;
    if (states.automaton().tables().IsMarker(id)) continue;
    std::size_t taken = 0;
    const absl::string_view bytes = index.vocabulary().TokenBytes(id);
    const RowStates::State next = states.StepText(state, bytes, &taken, work);
    if (next == kFailedTerm) return false;
    if (taken == bytes.size() && arrive(id, next)) return true;
  }
  return false;
}

// The same of `trie`, which has some of the tokens of `index`, or all, and of those too long for a
// trie, which are always visited.
template <typename Enter, typename Arrive>
bool VisitTokenSteps(const TokenIndex& index, const TokenTrie& trie, const RowStates& states,
                     RowStates::State state, Work& work, Enter enter, Arrive arrive) {
  return VisitTrieSteps(trie, states, state, work, enter, arrive) ||
         VisitLongSteps(index, states, state, work, arrive);
}
template <typename Enter, typename Arrive>
bool VisitTokenSteps(const TokenIndex& index, const RowStates& states, RowStates::State state,
                     Work& work, Enter enter, Arrive arrive) {
  return VisitTokenSteps(index, index.trie(), states, state, work, enter, arrive);
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_ROWS_TOKEN_STEPS_H_
