// From IR nodes to terms, on demand: a rule's body is made when a derivative first calls it.
//
// Depth    the levels of indentation around a node; a node whose texts do not depend on it has one
//          term for all. So a rule that calls itself is made once for each level that is reached.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_TERMS_LOWERING_H_
#define MASKD_GRAMMAR_CORE_TERMS_LOWERING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/terms/number_terms.h"
#include "grammar_core/terms/object_terms.h"
#include "grammar_core/terms/term_store.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {

// Makes the terms of IR nodes, each node once for each depth that its texts depend on. Threads: the
// automaton's lock.
class Lowering final : public NodeLowering {
 public:
  // Both must outlive this. `numbers` may be null where no number is lowered.
  Lowering(TermStore* store, NumberTerms* numbers)
      : store_(store), numbers_(numbers), terms_(store->ir().nodes.size(), kUnknownTerm) {}

  // Before the first object is lowered; it must outlive this. Apart from the constructor, as
  // objects need a Lowering themselves.
  void set_objects(ObjectTerms* objects) { objects_ = objects; }

  // The term of `node`. Works through its children with its own stack, not by recursion.
  AnyTerm Lower(NodeId node, std::uint32_t depth) override;

  // Bytes of the tables from nodes to terms; the terms are the store's.
  [[nodiscard]] std::int64_t held_bytes() const { return HeldBytes(terms_) + TableBytes(deeper_); }

  // The body of the rule that a Call term calls.
  TermId RuleBody(const Term& call) {
    return TermId(Lower(store_->ir().rules[AsCall(call).rule].body, AsCall(call).depth));
  }

 private:
  // A node where its texts are the same as around it.
  struct Place {
    NodeId node;
    std::uint32_t depth;
  };
  [[nodiscard]] Place PlaceOf(NodeId node, std::uint32_t depth) const {
    return {node, depth > 0 && store_->facts().IsLaidOut(node) ? depth : 0};
  }
  [[nodiscard]] Place ChildOf(const Place& place, std::uint32_t child) const;
  // The term of `place`, or kUnknownTerm.
  [[nodiscard]] AnyTerm Known(const Place& place) const;
  // The same, whose children have theirs.
  AnyTerm LowerNode(const Place& place);
  [[nodiscard]] bool OfObjects(const IrNode& distinct) const;
  TermId LowerObject(const Place& place);
  TermId LowerBlock(const BlockNode& block, std::uint32_t depth, TermId lines);
  AnyTerm LowerConcat(const std::vector<AnyTerm>& parts);
  // A line feed and the spaces behind it.
  TermId Line(std::uint32_t spaces);

  TermStore* store_;
  NumberTerms* numbers_;
  ObjectTerms* objects_ = nullptr;
  std::vector<AnyTerm> terms_;  // by node, with no level around it
  absl::flat_hash_map<std::pair<NodeId, std::uint32_t>, AnyTerm> deeper_;  // by node and depth
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_LOWERING_H_
