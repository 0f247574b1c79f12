// The outermost intersections and complements of a grammar are copied into a small grammar of their
// own, with terms of its own, and asked one by one whether they hold a string. Nothing of that is
// kept: an automaton makes its terms for the rules that are left.
//
// Cost  that of the searches, once a compile, charged to the compile's budget.
#include "grammar_core/derivatives/emptiness.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/base/work.h"
#include "grammar_core/derivatives/char_derivative.h"
#include "grammar_core/ir/facts/grammar_facts.h"
#include "grammar_core/ir/facts/rule_groups.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/passes/ir_copier.h"
#include "grammar_core/terms/lowering.h"
#include "grammar_core/terms/object_terms.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {
namespace {

bool IsLogical(const IrNode& node) {
  return node.kind == IrKind::kAnd || node.kind == IrKind::kNot;
}

// What has to be looked at: nodes of characters.
struct Questions {
  std::vector<NodeId> nodes;  // outermost intersections and complements
  struct Names {
    std::uint32_t object;
    std::size_t others;
  };
  std::vector<Names> names;
  // All that they consist of.
  std::vector<bool> parts;
};

// Whether there may be any: most grammars have no node of that kind, reached or not.
bool MayHaveQuestions(const GrammarIr& ir) {
  const auto is_open = [&](const ObjectSpec::Others& others) {
    return !IsEndless(ir, others.name);
  };
  return std::ranges::any_of(ir.nodes, IsLogical) ||
         std::ranges::any_of(ir.objects, [&](const ObjectSpec& object) {
           return std::ranges::any_of(object.others, is_open);
         });
}

class QuestionReader {
 public:
  explicit QuestionReader(const GrammarIr& ir) : ir_(ir), seen_(ir.nodes.size(), false) {
    questions_.parts.assign(ir.nodes.size(), false);
  }

  // Stops at the outermost intersection or complement: what is empty within it shows in its own
  // answer. Each node is pushed once, so rules that call each other do no harm.
  absl::StatusOr<Questions> Read(Budget& budget) && {
    for (const IrRule& rule : ir_.rules) Push(rule.body);
    while (!open_.empty()) {
      const NodeId node = open_.back();
      open_.pop_back();
      if (absl::Status status = budget.Spend(); !status.ok()) return status;
      if (IsLogical(ir_.nodes[node])) {
        questions_.nodes.push_back(node);
        if (absl::Status status = AddParts(node, budget); !status.ok()) return status;
        continue;
      }
      ForEachPart(ir_, node, [&](NodeId part) { Push(part); });
      if (ir_.nodes[node].kind != IrKind::kObject) continue;
      if (absl::Status status = AddNames(PoolIndexOf(ir_.nodes[node]), budget); !status.ok())
        return status;
    }
    return std::move(questions_);
  }

 private:
  void Push(NodeId node) {
    if (!seen_[node]) open_.push_back(node);
    seen_[node] = true;
  }

  // Endless names need no question: finitely many declared names cannot use them up.
  absl::Status AddNames(std::uint32_t object, Budget& budget) {
    const std::vector<ObjectSpec::Others>& others = ir_.objects[object].others;
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (IsEndless(ir_, others[i].name)) continue;
      questions_.names.push_back({object, i});
      if (absl::Status status = AddParts(others[i].name, budget); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status AddParts(NodeId root, Budget& budget) {
    std::vector<NodeId> open = {root};
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      if (questions_.parts[node]) continue;
      questions_.parts[node] = true;
      const IrNode& n = ir_.nodes[node];
      if (absl::Status status = budget.Spend(1 + n.child_count); !status.ok()) return status;
      const auto first = ir_.children.begin() + n.first_child;
      open.insert(open.end(), first, first + n.child_count);
    }
    return absl::OkStatus();
  }

  const GrammarIr& ir_;
  std::vector<bool> seen_;
  std::vector<NodeId> open_;
  Questions questions_;
};

// The parts of the questions as a grammar of their own, and its terms.
class EmptinessSearch {
 public:
  EmptinessSearch(const GrammarIr& ir, const Limits& limits, Budget& budget)
      : ir_(ir), limits_(limits), budget_(budget), builder_(limits), copier_(ir, &builder_) {}

  // Numbers of nodes ascend from parts to wholes, so a part is copied before what holds it.
  absl::Status Prepare(const Questions& questions) {
    for (NodeId node = 0; node < ir_.nodes.size(); ++node) {
      if (!questions.parts[node]) continue;
      if (absl::Status status = copier_.Copy(node, budget_); !status.ok()) return status;
    }
    // Facts are made of rules; the nodes here are looked at without one.
    const RuleId rule = builder_.DeclareRule("", "");
    builder_.DefineRule(rule, builder_.Empty());
    absl::StatusOr<GrammarIr> characters = std::move(builder_).Build(rule);
    if (!characters.ok()) return characters.status();
    characters_ = *std::move(characters);
    if (absl::Status status = CheckDepth(questions); !status.ok()) return status;
    absl::StatusOr<GrammarFacts> facts = GrammarFacts::Create(characters_, limits_, budget_);
    if (!facts.ok()) return facts.status();
    facts_ = std::make_unique<const GrammarFacts>(*std::move(facts));
    store_ = std::make_unique<TermStore>(*facts_, 0);
    lowering_ = std::make_unique<Lowering>(store_.get(), nullptr);
    derivative_ = std::make_unique<CharDerivative>(store_.get(), nullptr, limits_.emptiness_states);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> IsNothing(NodeId node) {
    return IsNothingTerm(CharTerm(lowering_->Lower(copier_.CopyOf(node), 0)), node);
  }

  // Whether the others have no name beside the declared ones. UNIMPLEMENTED where those of an array
  // have some, but not many.
  absl::StatusOr<bool> HasNoName(const ObjectSpec& spec, const ObjectSpec::Others& others) {
    std::vector<std::u32string> declared;
    for (const ObjectSpec::Member& member : spec.members)
      if (!member.bare) declared.push_back(*Utf8ToCodePoints(member.name));
    std::sort(declared.begin(), declared.end());
    const auto count = static_cast<std::uint32_t>(declared.size());
    const std::uint32_t set = store_->AddTextSet(std::move(declared));
    const CharTerm undeclared = store_->Not(store_->TextSet(set, 0, count, 0));
    const CharTerm name(lowering_->Lower(copier_.CopyOf(others.name), 0));
    const CharTerm left = store_->And({name, undeclared});
    absl::StatusOr<bool> nothing = IsNothingTerm(left, others.name);
    if (!nothing.ok() || *nothing || !spec.is_array) return nothing;
    Work work(budget_);
    const std::int64_t texts = derivative_->CountTexts(left, kAmpleTexts, work);
    if (!work.ok()) return work.error();
    if (texts >= kAmpleTexts) return false;
    return UnsupportedAt(PlaceOf(others.name), "uniqueItems",
                         absl::StrCat("of ", texts, " strings that are not listed"));
  }

 private:
  // A search fails for its own limit or since the compile's budget is spent; the budget is asked
  // first, so that a cancelled compile is not reported as a grammar that is too hard.
  absl::StatusOr<bool> IsNothingTerm(CharTerm term, NodeId node) {
    Work work(budget_);
    const bool nothing = derivative_->IsNothing(term, work);
    if (work.ok()) return nothing;
    if (absl::Status status = budget_.Spend(0); !status.ok()) return status;
    return LimitExceeded(PlaceOf(node), "emptiness_states", limits_.emptiness_states,
                         limits_.emptiness_states + 1);
  }

  // Walks through the rules one by one; only errors need it.
  // That of a rule whose body holds `node`.
  std::string PlaceOf(NodeId node) const {
    std::vector<RuleId> seen_by(ir_.nodes.size(), 0);
    std::vector<NodeId> open;
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule) {
      open.push_back(ir_.rules[rule].body);
      while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        if (at == node) return ir_.rules[rule].place;
        if (std::exchange(seen_by[at], rule + 1) != rule + 1) AppendParts(ir_, at, &open);
      }
    }
    return "";
  }

  // Derivatives descend by recursion, and the facts that bound it elsewhere are made of rules. A
  // node comes behind those below it.
  absl::Status CheckDepth(const Questions& questions) const {
    std::vector<std::int64_t> depth(characters_.nodes.size());
    for (NodeId id = 0; id < depth.size(); ++id) {
      const IrNode& node = characters_.nodes[id];
      for (std::uint32_t i = 0; i < node.child_count; ++i)
        depth[id] = std::max(depth[id], depth[characters_.children[node.first_child + i]] + 1);
    }
    for (NodeId node = 0; node < ir_.nodes.size(); ++node) {
      const std::int64_t descent = questions.parts[node] ? depth[copier_.CopyOf(node)] : 0;
      if (descent > limits_.derivative_depth)
        return LimitExceeded(PlaceOf(node), "derivative_depth", limits_.derivative_depth, descent);
    }
    return absl::OkStatus();
  }

  const GrammarIr& ir_;
  const Limits& limits_;
  Budget& budget_;
  IrBuilder builder_;
  IrCopier copier_;
  GrammarIr characters_;
  std::unique_ptr<const GrammarFacts> facts_;
  std::unique_ptr<TermStore> store_;
  std::unique_ptr<Lowering> lowering_;
  std::unique_ptr<CharDerivative> derivative_;
};

// All intersections are asked before any node is changed. An error may come behind an edit of an
// object, so `ir` is of no use then.
absl::StatusOr<IrForm> Answer(const Questions& questions, EmptinessSearch* search, GrammarIr* ir) {
  IrForm form = IrForm::kBuilt;
  std::vector<NodeId> nothing;
  for (const NodeId node : questions.nodes) {
    const absl::StatusOr<bool> empty = search->IsNothing(node);
    if (!empty.ok()) return empty.status();
    if (*empty) nothing.push_back(node);
  }
  // From the last kind of others on, so that the places of those before stay.
  for (auto names = questions.names.rbegin(); names != questions.names.rend(); ++names) {
    ObjectSpec& spec = ir->objects[names->object];
    const auto others = spec.others.begin() + static_cast<std::ptrdiff_t>(names->others);
    const absl::StatusOr<bool> empty = search->HasNoName(spec, *others);
    if (!empty.ok()) return empty.status();
    if (!*empty) continue;
    spec.others.erase(others);
    form = IrForm::kEdited;
  }
  for (const NodeId node : nothing) {
    ir->nodes[node] = IrNode(IrKind::kNothing);
    form = IrForm::kEdited;
  }
  return form;
}

}  // namespace

absl::StatusOr<IrForm> DropEmpty(const Limits& limits, Budget& budget, GrammarIr* ir) {
  const auto units = static_cast<std::int64_t>(ir->nodes.size());
  if (absl::Status status = budget.Spend(units); !status.ok()) return status;
  if (!MayHaveQuestions(*ir)) return IrForm::kBuilt;
  const absl::StatusOr<Questions> questions = QuestionReader(*ir).Read(budget);
  if (!questions.ok()) return questions.status();
  if (questions->nodes.empty() && questions->names.empty()) return IrForm::kBuilt;
  EmptinessSearch search(*ir, limits, budget);
  if (absl::Status status = search.Prepare(*questions); !status.ok()) return status;
  return Answer(*questions, &search, ir);
}

}  // namespace maskd
