// Nodes by what their texts begin with: the step in which left recursion is taken apart.
// In a group of rules that begin with each other, each rule is a variable. A node has two kinds of
// texts that are not empty. Those of `plain` begin with no variable. The others are a text of a
// variable v that is not empty, and behind it one of the rest that the form has for v. This is the
// derivative of a regular expression (Brzozowski 1964) by a rule instead of by a letter.
//
// Cost     a form is made once a node. In a sequence every child that may be empty adds the
//          children behind it once more, so a form is at most quadratic in the length of a
//          sequence.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_FORMS_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_FORMS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {

// What follows a variable.
struct LeftRest {
  NodeId node;
  bool nullable;
};

// A node taken apart by the variable that its texts begin with.
struct LeftForm {
  // Texts that begin with no variable, none of them empty; Nothing where there are none.
  NodeId plain;
  struct Call {
    std::uint32_t variable;
    LeftRest rest;
  };
  std::vector<Call> calls;  // variables ascend
};

// The nodes that the text of `node` may begin with; a call's is the body of its rule.
std::vector<NodeId> Begins(const GrammarIr& ir, const std::vector<bool>& nullable, NodeId node);
// Appends them, for loops over many nodes.
void AppendBegins(const GrammarIr& ir, const std::vector<bool>& nullable, NodeId node,
                  std::vector<NodeId>* out);

// Makes forms for one group of rules at a time.
class LeftForms {
 public:
  static constexpr std::uint32_t kNoVariable = 0xFFFFFFFF;
  // The variable that a rule is, or kNoVariable.
  using VariableOf = std::function<std::uint32_t(RuleId)>;
  // The rule, in the new grammar, of the texts of a rule that are not empty.
  using NonEmptyRule = std::function<RuleId(RuleId)>;

  // All must outlive this. `copier` has the nodes behind a beginning, and those at a beginning that
  // are no operator or call.
  LeftForms(const GrammarIr& ir, const std::vector<bool>& nullable, const IrCopier& copier,
            IrBuilder* builder, VariableOf variable_of, NonEmptyRule non_empty_rule);

  // The form of the body of `rule`, in nodes of the new grammar. Errors: those of the budget and of
  // the builder; UNIMPLEMENTED where tokens are counted at its beginning.
  absl::StatusOr<LeftForm> Of(const IrRule& rule, Budget& budget);

 private:
  absl::Status Make(NodeId node, const IrRule& rule, Budget& budget);
  LeftForm OfCall(NodeId node);
  LeftForm OfConcat(const IrNode& n);
  LeftForm OfAlt(const IrNode& n);
  LeftForm OfRepeat(const IrNode& n);
  LeftForm OfEncode(NodeId node);
  LeftForm OfLeaf(NodeId node);
  // `ways`, each followed by its `rest`, as one form.
  struct Way {
    const LeftForm* form;
    LeftRest rest;
  };
  LeftForm Union(const std::vector<Way>& ways);

  const GrammarIr& ir_;
  const std::vector<bool>& nullable_;
  const IrCopier& copier_;
  IrBuilder* const builder_;
  const VariableOf variable_of_;
  const NonEmptyRule non_empty_rule_;
  absl::flat_hash_map<NodeId, LeftForm> forms_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_FORMS_H_
