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

// Nodes of a trie that are stepped to in a unit of work, as in mask_maker.cc.
inline constexpr std::int64_t kStepsPerUnit = 64;

// The loop of the two below. `At` has the state of the row as `state`; take(at, byte) is what `at`
// becomes behind a byte. Only nodes from `begin` to before `end`, which are first bytes with all
// below. `*visited` counts the nodes that were looked at, for the work that they are.
template <typename At, typename Take, typename Enter, typename Arrive>
bool VisitNodeSteps(const TokenTrie& trie, std::size_t begin, std::size_t end,
                    const RowStates& states, At from, std::int64_t* visited, Work& work, Take take,
                    Enter enter, Arrive arrive) {
  const std::span<const TrieNode> nodes = trie.nodes();
  std::array<At, TokenTrie::kMaxDepth + 1> path;
  path[0] = from;
  for (std::size_t i = begin; i < end; ++*visited) {
    if (*visited % kStepsPerUnit == 0 && !work.Spend()) return false;
    const TrieNode node = nodes[i];
    const At next = take(path[node.depth - 1], static_cast<unsigned char>(node.byte));
    if (next.state == kFailedTerm) return false;
    if (next.state == kNothingTerm || !enter(next, node)) {
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

// The loop of the next one, over nodes as above.
template <typename Enter, typename Arrive>
bool VisitTrieSteps(const TokenTrie& trie, std::size_t begin, std::size_t end,
                    const RowStates& states, RowStates::State state, std::int64_t* visited,
                    Work& work, Enter enter, Arrive arrive) {
  struct At {
    RowStates::State state;
  };
  return VisitNodeSteps(
      trie, begin, end, states, At{state}, visited, work,
      [&](At at, unsigned char byte) { return At{states.Take(at.state, byte, work)}; },
      [&](At next, const TrieNode& node) { return enter(next.state, node); },
      [&](TokenId id, At next) { return arrive(id, next.state); });
}

// Calls arrive(id, next) for each token of `trie` that leads from `state` somewhere, until it
// returns true; whether it did. Tokens are left out that begin with a node of the trie for which
// enter(next, node), `next` being the state behind it, is false; a node comes behind the one above
// it.
template <typename Enter, typename Arrive>
bool VisitTrieSteps(const TokenTrie& trie, const RowStates& states, RowStates::State state,
                    Work& work, Enter enter, Arrive arrive) {
  std::int64_t visited = 0;
  return VisitTrieSteps(trie, 0, trie.nodes().size(), states, state, &visited, work, enter, arrive);
}

// The same of a state that is `cell` before `tail`, where no byte that goes on within the cell
// begins the tail: calls arrive(id, next, is_within), `next` being a state of the cell alone or
// else behind it. So whatever stands behind a cell goes through the same states of it. Only tokens
// among the nodes from `begin` to before `end`, which are first bytes with all below.
template <typename Arrive>
void VisitCellSteps(const TokenTrie& trie, std::size_t begin, std::size_t end,
                    const RowStates& states, RowStates::State cell, RowStates::State tail,
                    Work& work, Arrive arrive) {
  struct At {
    RowStates::State state;
    bool is_within;
  };
  const auto take = [&](At at, unsigned char byte) {
    const At next = {states.Take(at.state, byte, work), at.is_within};
    const bool may_leave = next.state == kNothingTerm && at.is_within && states.MayEnd(at.state);
    return may_leave ? At{states.Take(tail, byte, work), false} : next;
  };
  std::int64_t visited = 0;
  VisitNodeSteps(
      trie, begin, end, states, At{cell, true}, &visited, work, take,
      [](At, const TrieNode&) { return true; },
      [&](TokenId id, At next) {
        arrive(id, next.state, next.is_within);
        return false;
      });
}

// As VisitTrieSteps(), of the tokens of `index` that are too long for a trie.
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
