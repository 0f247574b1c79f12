// What a grammar holds is in three parts: what never changes (source, IR, tables), counted once as
// fixed_bytes_; what is learnt, which its generations count as it grows; and the tokenizer's space,
// which is others' too and not counted here.
#include "grammar_core/compile/compiled_grammar.h"

#include <cassert>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/ir/ir_bytes.h"
#include "grammar_core/rows/generations.h"

namespace maskd {

CompiledGrammar::~CompiledGrammar() = default;

std::shared_ptr<MaskedAutomaton> CompiledGrammar::automaton() const {
  return generations_->Current();
}

std::int64_t CompiledGrammar::FixedBytes() const {
  const auto of_diagnostic = [](const Diagnostic& one) {
    return HeldBytes(one.place) + HeldBytes(one.message);
  };
  const auto of_document = [](const GrammarSource::Document& one) {
    return HeldBytes(one.uri) + HeldBytes(one.text);
  };
  return static_cast<std::int64_t>(sizeof(*this) + sizeof(Generations)) + HeldBytes(id_) +
         HeldBytes(source_.kind) + HeldBytes(source_.text) +
         HeldBytes(source_.documents, of_document) + HeldBytes(warnings_, of_diagnostic) +
         HeldBytes(bounds_, of_diagnostic) + HeldBytes(ir_) + generations_->tables().held_bytes();
}

GrammarCosts CompiledGrammar::costs() const {
  assert(generations_ != nullptr && "only the compiler sees a grammar that is not built");
  GrammarCosts costs;
  costs.rules = static_cast<std::int64_t>(ir_.rules.size());
  costs.ir_nodes = static_cast<std::int64_t>(ir_.nodes.size());
  const Generations::Held held = generations_->held();
  costs.terms = held.terms;
  costs.mask_bytes = held.mask_bytes;
  costs.automatons = held.automatons;
  costs.renewals = held.renewals;
  costs.held_bytes = held.bytes + fixed_bytes_;
  costs.compile_us = compile_us_;
  costs.reduce_us = reduce_us_;
  costs.first_mask_us = first_mask_us_;
  return costs;
}

void CompiledGrammar::Forget() const { generations_->Drop(); }

std::int64_t CompiledGrammar::TotalRenewals() { return Generations::TotalRenewals(); }

std::string CompiledGrammar::Explain() const { return PrintIr(ir_); }

}  // namespace maskd
