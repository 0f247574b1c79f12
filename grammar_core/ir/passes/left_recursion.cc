// Rules that begin with each other form a group. Each group is written as a system of left-linear
// equations (LeftForms), which is solved (LeftSystem). All else is copied word for word
// (KeptParts).
//
// Invariant  the new grammar has the texts of the old one, and no rule of it begins with itself.
// Cost       linear in what is kept; see left_system.h for what is solved.
// Source     Arden's rule (1961); Rosenkrantz and Lewis, 1970, for what is left over.
#include "grammar_core/ir/passes/left_recursion.h"

#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/ir_copier.h"
#include "grammar_core/ir/passes/left_forms.h"
#include "grammar_core/ir/passes/left_groups.h"
#include "grammar_core/ir/passes/left_system.h"
#include "grammar_core/ir/passes/nullable.h"
#include "grammar_core/ir/passes/rebuild.h"

namespace maskd {
namespace {

// Depth-first search over "may begin with", with its own stack: the nodes that are open, and what
// each of them is still to be followed to, all in one list.
class CycleSearch {
 public:
  CycleSearch(const GrammarIr& ir, const std::vector<bool>& nullable)
      : ir_(ir), nullable_(nullable), mark_(ir.nodes.size(), kNew) {}

  absl::StatusOr<bool> Find(Budget& budget) && {
    for (const IrRule& rule : ir_.rules) {
      const absl::StatusOr<bool> found = From(rule.body, budget);
      if (!found.ok() || *found) return found;
    }
    return false;
  }

 private:
  enum Mark : char { kNew, kOpen, kDone };
  struct Frame {
    NodeId node;
    std::size_t begin;  // of its nodes in next_
  };

  void Open(NodeId node) {
    mark_[node] = kOpen;
    stack_.push_back({node, next_.size()});
    AppendBegins(ir_, nullable_, node, &next_);
  }

  absl::StatusOr<bool> From(NodeId root, Budget& budget) {
    assert(stack_.empty() && next_.empty());
    if (mark_[root] == kNew) Open(root);
    while (!stack_.empty()) {
      if (absl::Status status = budget.Spend(); !status.ok()) return status;
      const Frame frame = stack_.back();
      if (next_.size() == frame.begin) {
        mark_[frame.node] = kDone;
        stack_.pop_back();
        continue;
      }
      const NodeId node = next_.back();
      next_.pop_back();
      if (mark_[node] == kOpen) return true;
      if (mark_[node] == kNew) Open(node);
    }
    return false;
  }

  const GrammarIr& ir_;
  const std::vector<bool>& nullable_;
  std::vector<Mark> mark_;
  std::vector<Frame> stack_;
  std::vector<NodeId> next_;
};

// Rewrites the grammar. A wanted rule keeps its name; where the texts of a rule that are not
// empty are needed by themselves they get a rule of their own.
class Rewriter {
 public:
  Rewriter(GrammarIr* ir, const std::vector<bool>& nullable, const LeftGroups& groups,
           const KeptParts& kept, const Limits& limits)
      : ir_(*ir),
        nullable_(nullable),
        groups_(groups),
        kept_(kept),
        builder_(limits),
        copier_(ir, &builder_),
        systems_(groups.all().size()),
        non_empty_(ir->rules.size(), kNoRule) {}

  absl::StatusOr<GrammarIr> Run(Budget& budget) && {
    if (absl::Status status = CopyKept(budget); !status.ok()) return status;
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule) {
      if (!kept_.Wanted(rule)) continue;
      if (absl::Status status = DefineWanted(rule, budget); !status.ok()) return status;
    }
    while (!undefined_.empty()) {
      const RuleId rule = undefined_.back();
      undefined_.pop_back();
      const absl::StatusOr<NodeId> body = NonEmptyBody(rule, budget);
      if (!body.ok()) return body.status();
      builder_.DefineRule(non_empty_[rule], *body);
    }
    return std::move(builder_).Build(copier_.RuleOf(ir_.start));
  }

 private:
  static constexpr RuleId kNoRule = 0xFFFFFFFF;

  [[nodiscard]] bool Nullable(RuleId rule) const { return nullable_[ir_.rules[rule].body]; }

  absl::Status CopyKept(Budget& budget) {
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule)
      if (kept_.Wanted(rule)) copier_.DeclareRule(rule);
    for (NodeId node = 0; node < ir_.nodes.size(); ++node) {
      if (!kept_.Kept(node)) continue;
      if (absl::Status status = copier_.Copy(node, budget); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status DefineWanted(RuleId rule, Budget& budget) {
    if (!groups_.Recursive(rule)) {
      builder_.DefineRule(copier_.RuleOf(rule), copier_.CopyOf(ir_.rules[rule].body));
      return absl::OkStatus();
    }
    const absl::StatusOr<NodeId> body = NonEmptyBody(rule, budget);
    if (!body.ok()) return body.status();
    builder_.DefineRule(copier_.RuleOf(rule), Nullable(rule) ? builder_.Optional(*body) : *body);
    return absl::OkStatus();
  }

  // The rule of the texts of `rule` that are not empty.
  RuleId NonEmptyRule(RuleId rule) {
    if (!Nullable(rule) && kept_.Wanted(rule)) return copier_.RuleOf(rule);
    if (non_empty_[rule] == kNoRule) {
      const IrRule& old = ir_.rules[rule];
      const std::string name = Nullable(rule) ? absl::StrCat(old.name, " not empty") : old.name;
      non_empty_[rule] = builder_.DeclareRule(name, old.place);
      undefined_.push_back(rule);
    }
    return non_empty_[rule];
  }

  // What NonEmptyRule(rule) is to be.
  absl::StatusOr<NodeId> NonEmptyBody(RuleId rule, Budget& budget) {
    std::unique_ptr<LeftSystem>& system = systems_[groups_.GroupOf(rule)];
    if (system == nullptr) {
      absl::Status status = Solve(groups_.GroupOf(rule), budget);
      if (!status.ok()) return status;
    }
    const NodeId body = system->Body(groups_.VariableOf(rule));
    if (absl::Status status = system->DefineRules(budget); !status.ok()) return status;
    return body;
  }

  absl::Status Solve(std::size_t group, Budget& budget) {
    const std::vector<RuleId>& rules = groups_.all()[group].rules;
    const bool recursive = groups_.all()[group].recursive;
    LeftForms forms(
        ir_, nullable_, copier_, &builder_,
        [&](RuleId rule) {
          const bool is_variable = recursive && groups_.GroupOf(rule) == group;
          return is_variable ? groups_.VariableOf(rule) : LeftForms::kNoVariable;
        },
        [&](RuleId rule) { return NonEmptyRule(rule); });
    std::vector<LeftSystem::Equation> equations;
    for (const RuleId rule : rules) {
      absl::StatusOr<LeftForm> form = forms.Of(ir_.rules[rule], budget);
      if (!form.ok()) return form.status();
      const NodeId call =
          kept_.Wanted(rule) ? builder_.Call(copier_.RuleOf(rule)) : builder_.Nothing();
      equations.push_back(
          {*std::move(form), ir_.rules[rule].name, ir_.rules[rule].place, call, Nullable(rule)});
    }
    systems_[group] = std::make_unique<LeftSystem>(
        std::move(equations), &builder_,
        [this, &rules](std::uint32_t variable) { return NonEmptyRule(rules[variable]); });
    return systems_[group]->Reduce(budget);
  }

  const GrammarIr& ir_;
  const std::vector<bool>& nullable_;
  const LeftGroups& groups_;
  const KeptParts& kept_;
  IrBuilder builder_;
  IrCopier copier_;
  std::vector<std::unique_ptr<LeftSystem>> systems_;  // by group, where one was asked for
  std::vector<RuleId> non_empty_;                     // by rule
  std::vector<RuleId> undefined_;                     // of those, the ones without a body
};

}  // namespace

absl::StatusOr<bool> HasLeftRecursion(const GrammarIr& ir, Budget& budget) {
  const absl::StatusOr<std::vector<bool>> nullable = NullableNodes(ir, budget);
  if (!nullable.ok()) return nullable.status();
  return CycleSearch(ir, *nullable).Find(budget);
}

// Most grammars are known to have none by what each node says of itself.
absl::StatusOr<GrammarIr> RemoveLeftRecursion(GrammarIr ir, const Limits& limits, Budget& budget) {
  const absl::StatusOr<std::vector<bool>> perhaps = PerhapsNullableNodes(ir, budget);
  if (!perhaps.ok()) return perhaps.status();
  const absl::StatusOr<bool> doubtful = CycleSearch(ir, *perhaps).Find(budget);
  if (!doubtful.ok()) return doubtful.status();
  if (!*doubtful) return ir;
  const absl::StatusOr<std::vector<bool>> nullable = NullableNodes(ir, budget);
  if (!nullable.ok()) return nullable.status();
  const absl::StatusOr<bool> found = CycleSearch(ir, *nullable).Find(budget);
  if (!found.ok()) return found.status();
  if (!*found) return ir;
  LeftGroups groups(ir, *nullable);
  if (absl::Status status = groups.Find(budget); !status.ok()) return status;
  KeptParts kept(ir, *nullable, groups);
  if (absl::Status status = kept.Find(budget); !status.ok()) return status;
  absl::StatusOr<GrammarIr> written = Rewriter(&ir, *nullable, groups, kept, limits).Run(budget);
  if (!written.ok()) return written.status();
  // Bodies that were substituted everywhere are no longer reached.
  return Rebuild(*std::move(written), IrForm::kBuilt, limits, budget, [](NodeId) { return true; });
}

}  // namespace maskd
