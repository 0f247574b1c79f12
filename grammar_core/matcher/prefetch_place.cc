#include "grammar_core/matcher/prefetch_place.h"

#include <cassert>

#include "grammar_core/compile/warm_up_from.h"
#include "grammar_core/rows/masked_automaton.h"

namespace maskd {

PrefetchPlace::PrefetchPlace(std::shared_ptr<const CompiledGrammar> grammar,
                             const std::shared_ptr<MaskedAutomaton>& automaton,
                             std::uint64_t serial, RowStateId state)
    : grammar_(std::move(grammar)), automaton_(automaton), key_(serial, state) {
  assert(grammar_ != nullptr && automaton != nullptr && automaton->serial() == serial);
}

void PrefetchPlace::Prefetch(const WarmUpBounds& bounds, const std::atomic<bool>* cancelled) const {
  const std::shared_ptr<MaskedAutomaton> automaton = automaton_.lock();
  if (automaton != nullptr)
    WarmUpFrom(*grammar_, automaton.get(), RowMemory::TermOf(key_.second), bounds, cancelled);
}

}  // namespace maskd
