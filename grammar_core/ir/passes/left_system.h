// Solves the left-linear equations of a group of rules that begin with each other:
//
//   A_i = plain_i | A_0 rest_i0 | A_1 rest_i1 | ...        (no A_i holds the empty text)
//
// How      Arden's rule, A = p | A r is p r*, takes out one variable after the other, the cheapest
//          first, as long as that adds no more ways than it removes: a rule and the chains through
//          it become sequences and loops. A rule that is followed by itself (A: A A | p) is a loop
//          of what else it is. What is left over, dense as the graph of a large finite
//          automaton, is turned round: a rule "A_i after A_k" for each k has the texts that may
//          follow an A_k until it has become an A_i (the left-corner transform of Rosenkrantz and
//          Lewis, 1970).
// Result   the body of a variable begins with no variable, or only with ones that were taken out
//          later: no left recursion.
// Size     at most quadratic; the builder's limit and the budget hold.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_SYSTEM_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_SYSTEM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/left_forms.h"

namespace maskd {

// Reduce() once, then Body() of each variable that is wanted, then DefineRules() once.
class LeftSystem {
 public:
  // One variable's line of the system; its number is its place in the list.
  struct Equation {
    LeftForm form;
    std::string name;   // of the rule
    std::string place;  // likewise
    // The rule called elsewhere than at the beginning of a rule of the group; Nothing: it is not.
    NodeId call;
    bool nullable;  // the rule, as it is called there
  };
  // The rule of the texts of a variable.
  using RuleOf = std::function<RuleId(std::uint32_t)>;

  // `builder` must outlive this, and so must what `rule_of` uses.
  LeftSystem(std::vector<Equation> equations, IrBuilder* builder, RuleOf rule_of);

  // To be called once, first. Errors: those of the budget and the builder.
  absl::Status Reduce(Budget& budget);

  // The texts of `variable`. May call rules that are yet to be defined: see DefineRules().
  NodeId Body(std::uint32_t variable);

  // Defines the rules "A after B" that bodies asked for. Errors: as above.
  absl::Status DefineRules(Budget& budget);

 private:
  struct Rest {
    std::vector<NodeId> ways;
    bool nullable = false;
  };
  struct Variable {
    std::vector<NodeId> plain;
    std::map<std::uint32_t, Rest> calls;  // what follows each variable that this may begin with
    std::set<std::uint32_t> users;        // the others that may begin with this one
    bool taken_out = false;
  };
  // Ascends as variables should be taken out. The number before the variable's own spreads
  // neighbours of a chain, so that its parts are joined in pairs and not to one ever longer part.
  using Rank = std::tuple<bool, bool, std::int64_t, std::uint32_t, std::uint32_t>;

  [[nodiscard]] Rank RankOf(std::uint32_t variable) const;
  // A variable that can begin with another one and nothing after it.
  [[nodiscard]] std::optional<std::uint32_t> FindUnit() const;
  // Those whose ranks change when `variable` is taken out, itself among them.
  [[nodiscard]] std::set<std::uint32_t> Around(std::uint32_t variable) const;
  void JoinPowers(std::uint32_t variable);
  void TakeOut(std::uint32_t variable);
  void Substitute(std::uint32_t variable, std::uint32_t user);
  // What may follow a text of `variable` for it to be one still, any number of times.
  NodeId Loop(std::uint32_t variable);

  RuleId After(std::uint32_t from, std::uint32_t target);
  NodeId AfterBody(std::uint32_t from, std::uint32_t target);

  const std::vector<Equation> equations_;
  IrBuilder* const builder_;
  const RuleOf rule_of_;
  std::vector<Variable> variables_;
  std::set<Rank> queue_;  // variables not taken out
  std::map<std::pair<std::uint32_t, std::uint32_t>, RuleId> after_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> undefined_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_LEFT_SYSTEM_H_
