// The rules that begin with each other, in groups, and what of a grammar stays as it is when those
// groups are rewritten.
//
// Threads  one thread makes them, any may read them.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_GROUPS_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/strong_components.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// A group is a strongly connected component of "may begin with a call of".
class LeftGroups {
 public:
  // Rules in the order that StrongComponents() gives. `recursive`: one may begin with itself, at
  // once or through others.
  struct Group {
    std::vector<RuleId> rules;
    bool recursive;
  };

  // Both must outlive this.
  LeftGroups(const GrammarIr& ir, const std::vector<bool>& nullable)
      : ir_(ir), nullable_(nullable), seen_by_(ir.nodes.size(), 0) {}

  // To be called once, first. Errors: those of the budget.
  absl::Status Find(Budget& budget);

  // Groups come after those that they begin with. All three need Find() first.
  [[nodiscard]] const std::vector<Group>& all() const { return groups_; }
  [[nodiscard]] std::size_t GroupOf(RuleId rule) const { return group_of_[rule]; }
  [[nodiscard]] bool Recursive(RuleId rule) const { return groups_[group_of_[rule]].recursive; }
  // The place of a rule in its group.
  [[nodiscard]] std::uint32_t VariableOf(RuleId rule) const { return variable_of_[rule]; }

 private:
  // The rules that `rule` may begin with.
  absl::Status Read(RuleId rule, Budget& budget, std::vector<RuleId>* calls);
  void Add(const Graph& calls, std::vector<RuleId> rules);

  const GrammarIr& ir_;
  const std::vector<bool>& nullable_;
  std::vector<RuleId> seen_by_;  // rule + 1
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;
  std::vector<std::uint32_t> variable_of_;
};

// What is kept word for word: all that stands behind a beginning of a recursive group, and all
// rules outside of those groups.
class KeptParts {
 public:
  // All must outlive this.
  KeptParts(const GrammarIr& ir, const std::vector<bool>& nullable, const LeftGroups& groups)
      : ir_(ir),
        nullable_(nullable),
        groups_(groups),
        kept_(ir.nodes.size(), false),
        begins_in_(ir.nodes.size(), 0),
        wanted_(ir.rules.size(), false),
        read_(groups.all().size(), false) {}

  // To be called once, first. Errors: those of the budget.
  absl::Status Find(Budget& budget);

  // Whether the new grammar takes the node as it is.
  [[nodiscard]] bool Kept(NodeId node) const { return kept_[node]; }
  // Whether the rule is called elsewhere than at the beginning of a rule of its group.
  [[nodiscard]] bool Wanted(RuleId rule) const { return wanted_[rule]; }

 private:
  struct Beginning {
    NodeId node;
    std::size_t group;
  };

  void Want(RuleId rule);
  void Keep(NodeId node);
  void Begin(Beginning beginning);
  void ReadKept(NodeId node);
  void ReadBeginning(const Beginning& beginning);

  const GrammarIr& ir_;
  const std::vector<bool>& nullable_;
  const LeftGroups& groups_;
  std::vector<bool> kept_;
  std::vector<std::size_t> begins_in_;  // by node: the group that read it last, plus 1
  std::vector<bool> wanted_;
  std::vector<bool> read_;
  std::vector<NodeId> open_;
  std::vector<Beginning> open_begins_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_GROUPS_H_
