// The same as compile/warm_up.h from any state on: for those who see the automaton.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_FROM_H_
#define MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_FROM_H_

#include <atomic>

#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/compile/warm_up_bounds.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// A few steps behind `state` of `automaton`, the grammar's: a place of a sequence, and what it will
// likely ask for next. The number of states whose masks it made or found.
inline constexpr WarmUpBounds kFewAhead = {.masks = 16, .wall_ms = 2};
int WarmUpFrom(const CompiledGrammar& grammar, MaskedAutomaton* automaton, TermId state,
               const WarmUpBounds& bounds = kFewAhead,
               const std::atomic<bool>* cancelled = nullptr);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_WARM_UP_FROM_H_
