// From IR nodes to terms, on demand: a rule's body is made when a derivative first calls it.
//
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_LOWERING_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_LOWERING_H_

#include <vector>

#include "grammar_core/automaton/number_terms.h"
#include "grammar_core/automaton/object_terms.h"
#include "grammar_core/automaton/term_store.h"

namespace maskd {

class Lowering final : public NodeLowering {
 public:
  // Both must outlive this. `numbers` may be null where no number is lowered.
  Lowering(TermStore* store, NumberTerms* numbers)
      : store_(store), numbers_(numbers), terms_(store->ir().nodes.size(), kUnknownTerm) {}

  void set_objects(ObjectTerms* objects) { objects_ = objects; }

  // The term of `node`. Works through its children with a stack of its own, not by recursion.
  TermId Lower(NodeId node) override;

  TermId RuleBody(RuleId rule) { return Lower(store_->ir().rules[rule].body); }

 private:
  // The term of `node`, whose children have theirs.
  TermId LowerNode(NodeId node);
  [[nodiscard]] bool OfObjects(const IrNode& distinct) const;
  TermId LowerConcat(const std::vector<TermId>& parts);

  TermStore* store_;
  NumberTerms* numbers_;
  ObjectTerms* objects_ = nullptr;
  std::vector<TermId> terms_;  // by node
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_LOWERING_H_
