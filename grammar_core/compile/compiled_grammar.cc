#include "grammar_core/compile/compiled_grammar.h"

#include "grammar_core/automaton/generations.h"

namespace maskd {

CompiledGrammar::~CompiledGrammar() = default;

std::shared_ptr<MaskedAutomaton> CompiledGrammar::automaton() const {
  return generations_->Current();
}

GrammarCosts CompiledGrammar::costs() const {
  GrammarCosts costs;
  costs.rules = static_cast<std::int64_t>(ir_.rules.size());
  costs.ir_nodes = static_cast<std::int64_t>(ir_.nodes.size());
  const Generations::Held held = generations_->held();
  costs.terms = held.terms;
  costs.mask_bytes = held.mask_bytes;
  costs.automatons = held.automatons;
  costs.renewals = held.renewals;
  costs.held_bytes = held.bytes + costs.ir_nodes * static_cast<std::int64_t>(sizeof(IrNode)) +
                     static_cast<std::int64_t>(source_.text.size());
  costs.compile_us = compile_us_;
  costs.first_mask_us = first_mask_us_;
  return costs;
}

void CompiledGrammar::Forget() const { generations_->Drop(); }

std::int64_t CompiledGrammar::TotalRenewals() { return Generations::TotalRenewals(); }

std::string CompiledGrammar::Explain() const { return PrintIr(ir_); }

}  // namespace maskd
