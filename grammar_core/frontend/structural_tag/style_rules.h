// What writers of styles share (xml_style.h, argument_style.h): rules for values that may be within
// themselves, and members in any order.
//
// Threads  one thread a writer.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_STYLE_RULES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_STYLE_RULES_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// Whether the name of a member holds one of `texts`, which no string may hold.
bool HoldsAny(absl::string_view name, const std::vector<std::string>& texts);

// For each rule of a schema's values one of the same values in a style.
class StyleRules {
 public:
  // The rules are called `name`. `from` and `builder` must outlive it.
  StyleRules(const GrammarIr& from, std::string name, IrBuilder& builder)
      : from_(from), name_(std::move(name)), b_(builder) {}

  // A call of the rule for the values of `rule`.
  NodeId Call(RuleId rule);
  // Gives each called rule its body, those that bodies call too: forms(the values' node).
  // Errors: those of `forms`.
  absl::Status Define(absl::FunctionRef<absl::StatusOr<NodeId>(NodeId values)> forms);

 private:
  const GrammarIr& from_;
  const std::string name_;
  IrBuilder& b_;
  absl::flat_hash_map<RuleId, RuleId> made_;  // by the rule of the values
  std::vector<RuleId> waiting_;               // those of them without a body yet
};

// The members of an object in any order, each at most once, and others between them: a rule for
// each set of members that are behind. Cost: two to the number of members.
class MembersInAnyOrder {
 public:
  // `members` are those of `spec`, written, and `other` is any of the others. `between` stands
  // before each but the first.
  MembersInAnyOrder(const ObjectSpec& spec, std::vector<NodeId> members, NodeId other,
                    NodeId between, const std::string& place, IrBuilder& builder);

  // All of them, none behind, as a call of a rule: `between` stands before the first one, too.
  [[nodiscard]] NodeId CallOfAll() const { return b_.Call(rules_.front()); }
  // What may follow where those of `set`, a bit each, are behind. `before` stands before it.
  [[nodiscard]] NodeId After(std::size_t set, NodeId before) const;

 private:
  const std::vector<NodeId> members_;
  const NodeId other_;
  IrBuilder& b_;
  std::size_t required_ = 0;
  std::vector<RuleId> rules_;  // by set
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_STYLE_RULES_H_
