#include "grammar_core/completion/token_search.h"

#include <algorithm>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/completion/late_states.h"

namespace maskd {

bool TokenSearch::IsExcluded(TokenId id) const { return std::ranges::binary_search(excluded, id); }

// A marker is taken by its name alone, never as text.
bool TokenSearch::IsText(TokenId id) const {
  return !IsExcluded(id) && (states == nullptr || !states->automaton().tables().IsMarker(id));
}

// No token has more bytes than the longest one.
int TokensOfBytes(const TokenIndex& index, std::uint32_t bytes) {
  const auto reach = static_cast<std::uint32_t>(index.vocabulary().max_token_bytes());
  return static_cast<int>((std::int64_t{bytes} + reach - 1) / std::max(1U, reach));
}

// By bytes, and by what searches have shown; neither is always the larger one.
int LeastTokens(const TokenSearch& search, RowStates::State state) {
  const int of_text = TokensOfBytes(*search.index, search.states->MinBytes(state));
  const int shown = search.late == nullptr ? 0 : search.late->LeastTokens(*search.states, state);
  return std::max({of_text, shown, search.states->MayEnd(state) ? 0 : 1});
}

}  // namespace maskd
