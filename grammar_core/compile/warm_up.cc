#include "grammar_core/compile/warm_up.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/warm_up_from.h"
#include "grammar_core/rows/masked_automaton.h"

namespace maskd {

int WarmUp(const CompiledGrammar& grammar, const WarmUpBounds& bounds,
           const std::atomic<bool>* cancelled) {
  const std::shared_ptr<MaskedAutomaton> automaton = grammar.automaton();
  return WarmUpFrom(grammar, automaton.get(), automaton->start(), bounds, cancelled);
}

void WarmUpTokenizer(const std::shared_ptr<TokenizerSpace>& tokenizer) {
  constexpr WarmUpBounds kAll = {.masks = 1'000, .wall_ms = 2'000};
  for (const char* kind : {"json", "json_object"}) {
    Budget budget = Budget::Unlimited();
    const auto grammar = CompileGrammar({kind, "", {}}, tokenizer, Limits(), budget);
    if (grammar.ok()) WarmUp(**grammar, kAll);
  }
}

}  // namespace maskd
