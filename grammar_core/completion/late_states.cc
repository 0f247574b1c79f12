// A state is looked up as its widest known like: what is shown of that one is so of all narrower
// ones.
#include "grammar_core/completion/late_states.h"

#include <algorithm>

#include "grammar_core/terms/term_views.h"

namespace maskd {

// The first part is a run of bytes, or the characters of a string; not of a name, which may not be
// any text.
WideState WideState::Of(const RowStates& states, RowStates::State state) {
  const WideState alone = {{kNothingTerm, 0, 0, state}, 0};
  if (RowStates::IsOwn(state)) return alone;
  const TermStore& store = states.automaton().store();
  const auto [cell_id, tail] = store.PartsOf(states.Shared(state));
  const Term& cell = store.term(cell_id);
  const bool is_string = cell.kind == TermKind::kEncode && !IsOfNames(cell);
  const Term& part = is_string ? store.term(AsEncode(cell).characters) : cell;
  if (part.kind != TermKind::kRepeat) return alone;
  const auto [body, fewest, most] = AsRepeat<AnyTerm>(part);
  const std::uint32_t partial = is_string ? AsEncode(cell).partial.Pack() : 0;
  return {{body, partial, fewest, RowMemory::Of(tail)}, most};
}

void LateStates::ForgetOthers(std::uint64_t automaton) {
  if (automaton_ == automaton) return;
  automaton_ = automaton;
  known_.clear();
}

// Nothing is known of a wider state than the known one: it may take a text that ends sooner.
int LateStates::LeastTokens(const RowStates& states, State state) const {
  if (RowStates::IsOwn(state)) return 0;
  const WideState wide = WideState::Of(states, state);
  const auto known = known_.find(wide.key);
  return known != known_.end() && known->second.most >= wide.most ? known->second.least : 0;
}

// One bound for each key: the later one, and of two such that of the wider state.
void LateStates::Add(const RowStates& states, State state, int least) {
  if (RowStates::IsOwn(state)) return;
  if (known_.size() >= kMaxKnown) known_.clear();
  const WideState wide = WideState::Of(states, state);
  const auto [known, is_new] = known_.try_emplace(wide.key, Late{wide.most, least});
  if (is_new) return;
  Late& late = known->second;
  const bool is_better = least != late.least ? least > late.least : wide.most > late.most;
  if (is_better) late = {wide.most, least};
}

std::int64_t LateStates::held_bytes() const {
  return static_cast<std::int64_t>(known_.capacity() * sizeof(decltype(known_)::value_type));
}

}  // namespace maskd
