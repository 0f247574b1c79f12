// A token that leads out of a number would have a digit and behind it what no number has.
#include "grammar_core/rows/number_ends.h"

#include <algorithm>

#include "grammar_core/automaton/automaton.h"

namespace maskd {

bool IsNumberApart(const RowStates& states, const TokenIndex& index, TermId state, Work& work) {
  Automaton& automaton = states.automaton();
  const auto [cell, tail] = automaton.store().PartsOf(state);
  if (automaton.store().term(cell).kind != TermKind::kNumber || !index.digits_are_alone() ||
      states.names_tokens() || states.limits_tokens() || automaton.tables().remembers())
    return false;
  return std::ranges::all_of(kNumberBytes, [&, tail = tail](char byte) {
    return automaton.Step(tail, static_cast<unsigned char>(byte), work) == kNothingTerm;
  });
}

}  // namespace maskd
