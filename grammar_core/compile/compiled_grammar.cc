#include "grammar_core/compile/compiled_grammar.h"

#include "grammar_core/automaton/automaton.h"

namespace maskd {

CompiledGrammar::~CompiledGrammar() = default;

GrammarCosts CompiledGrammar::costs() const {
  GrammarCosts costs;
  costs.rules = static_cast<std::int64_t>(ir_.rules.size());
  costs.ir_nodes = static_cast<std::int64_t>(ir_.nodes.size());
  costs.terms = automaton_->terms();
  costs.held_bytes = automaton_->held_bytes() +
                     costs.ir_nodes * static_cast<std::int64_t>(sizeof(IrNode)) +
                     static_cast<std::int64_t>(source_.text.size());
  costs.compile_us = compile_us_;
  costs.first_mask_us = first_mask_us_;
  return costs;
}

std::string CompiledGrammar::Explain() const { return PrintIr(ir_); }

}  // namespace maskd
