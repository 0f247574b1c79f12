// What a node of characters becomes in an automaton, without the rest of one.
#ifndef MASKD_TESTS_AUTOMATON_CHARACTER_TERMS_H_
#define MASKD_TESTS_AUTOMATON_CHARACTER_TERMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "grammar_core/derivatives/char_derivative.h"
#include "grammar_core/ir/facts/grammar_facts.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/terms/lowering.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {

class CharacterTerms {
 public:
  // Takes what the builder has made; `characters` is where it starts.
  CharacterTerms(IrBuilder& b, NodeId characters,
                 std::int64_t max_nodes = Limits().emptiness_states) {
    const RuleId rule = b.DeclareRule("start", "1:1");
    b.DefineRule(rule, b.Encode(Spelling::kUtf8, characters));
    ir_ = *std::move(b).Build(rule);
    facts_ = std::make_unique<const GrammarFacts>(*GrammarFacts::Create(ir_, Limits(), budget_));
    store_ = std::make_unique<TermStore>(*facts_, 0);
    derivative_ = std::make_unique<CharDerivative>(store_.get(), nullptr, max_nodes);
    shown_.emplace(store_.get());
  }

  [[nodiscard]] const GrammarIr& ir() const { return ir_; }
  TermStore* store() { return store_.get(); }
  CharDerivative* derivative() { return derivative_.get(); }
  Work& work() { return work_; }
  CharTerm Lower(NodeId node) { return CharTerm(Lowering(store_.get(), nullptr).Lower(node, 0)); }

 private:
  GrammarIr ir_;
  Budget budget_ = Budget::Unlimited();
  Work work_{budget_};
  std::unique_ptr<const GrammarFacts> facts_;
  std::unique_ptr<TermStore> store_;
  std::unique_ptr<CharDerivative> derivative_;
  std::optional<ShownTerms> shown_;
};

}  // namespace maskd

#endif  // MASKD_TESTS_AUTOMATON_CHARACTER_TERMS_H_
