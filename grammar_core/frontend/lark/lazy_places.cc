// The terminals that a text may begin with, and those that may follow each, are found as for the
// positions of a regular expression: nullable, first and last of each expression, to a fixed point
// over the rules that call each other. Places are then the sets of a subset construction, which
// steps by a kind of terminal instead of a character.
//
// A rule has other positions for each call, so that what follows is what follows that call. Where
// rules come back to themselves all calls share their positions, and what follows any may follow.
//
// Invariant  the expressions of a definition stand behind their parts, so one sweep forwards
//            settles a definition whose calls are settled.
// Cost       sweeps until nothing changes, each over all expressions of all calls; then one look at
//            each terminal of each place.
// Bounds     limits.rule_instances calls, and places; the budget's work.
// Source     Glushkov 1961; Rabin and Scott 1959.
#include "grammar_core/frontend/lark/lazy_places.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

// What rules are made of; the rest is terminals, and what stands in the place of one.
bool IsOfRules(const Expression& e) {
  switch (e.kind) {
    case ExprKind::kSequence:
    case ExprKind::kChoice:
    case ExprKind::kRepeat:
    case ExprKind::kIf:
    case ExprKind::kLimited:
      return true;
    default:
      return false;
  }
}

// Whether it calls a rule; a template's arguments are not followed.
bool CallsRule(const Expression& e) {
  return (e.kind == ExprKind::kName || e.kind == ExprKind::kIndexed) && e.use == ExprUse::kRule &&
         e.child_count == 0;
}

// The empty text.
bool IsEmptyText(const Expression& e) { return e.kind == ExprKind::kCharacters && e.b == 0; }

void AddAll(const std::set<std::uint32_t>& some, std::set<std::uint32_t>* all) {
  all->insert(some.begin(), some.end());
}

}  // namespace

ExprId LazyBody(const SourceGrammar& grammar, ExprId body) {
  assert(body < grammar.expressions.size());
  const auto child = [&](ExprId id) {
    return grammar.children[grammar.expressions[id].first_child];
  };
  if (grammar.expressions[body].kind != ExprKind::kLexeme) return kNoLazyBody;
  ExprId within = child(body);
  if (grammar.expressions[within].kind == ExprKind::kLimited) within = child(within);
  return grammar.expressions[within].kind == ExprKind::kShortest ? child(within) : kNoLazyBody;
}

absl::Status LazyPlaces::Find(std::uint32_t start) {
  rule_level_.resize(grammar_.expressions.size());
  FindReached(start);
  FindGroups();
  if (absl::Status status = FindCalled(start); !status.ok()) return status;
  for (std::uint32_t called = 0; called < called_.size(); ++called) {
    const Definition& rule = DefinitionOf(called);
    for (ExprId id = rule.first; id <= rule.body; ++id) {
      const Expression& e = grammar_.expressions[id];
      const bool is_leaf = rule_level_[id] && !IsOfRules(e) && !CallsRule(e) && !IsEmptyText(e);
      if (is_leaf) AddLeaf(called, id);
    }
  }
  behind_.resize(leaves_.size());
  if (absl::Status status = FindEnds(); !status.ok()) return status;
  return FindPlaces();
}

void LazyPlaces::FindReached(std::uint32_t start) {
  std::set<std::uint32_t> seen = {start};
  reached_ = {start};
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    MarkRuleLevel(reached_[i]);
    for (const ExprId call : CallsIn(reached_[i])) {
      const std::uint32_t called = *grammar_.definition_of[grammar_.expressions[call].a];
      if (seen.insert(called).second) reached_.push_back(called);
    }
  }
}

// Calls of rules that are defined. A rule that is not is an error, which is told later.
std::vector<ExprId> LazyPlaces::CallsIn(std::uint32_t definition) const {
  const Definition& rule = grammar_.definitions[definition];
  std::vector<ExprId> calls;
  for (ExprId id = rule.first; id <= rule.body; ++id) {
    const Expression& e = grammar_.expressions[id];
    if (rule_level_[id] && CallsRule(e) && grammar_.definition_of[e.a].has_value())
      calls.push_back(id);
  }
  return calls;
}

// The strongly connected rules, by two walks (Kosaraju; Sharir 1981).
void LazyPlaces::FindGroups() {
  using Graph = std::map<std::uint32_t, std::vector<std::uint32_t>>;
  Graph calls, callers;
  for (const std::uint32_t rule : reached_) {
    for (const ExprId call : CallsIn(rule)) {
      const std::uint32_t called = *grammar_.definition_of[grammar_.expressions[call].a];
      calls[rule].push_back(called);
      callers[called].push_back(rule);
    }
  }
  // Appends what a walk from `from` meets, each behind all that it leads to.
  const auto walk = [](Graph& graph, std::uint32_t from, std::set<std::uint32_t>* seen,
                       std::vector<std::uint32_t>* ended) {
    if (!seen->insert(from).second) return;
    std::vector<std::pair<std::uint32_t, std::size_t>> open = {{from, 0}};
    while (!open.empty()) {
      auto& [rule, next] = open.back();
      const std::vector<std::uint32_t>& leads_to = graph[rule];
      if (next == leads_to.size()) {
        ended->push_back(rule);
        open.pop_back();
      } else if (const std::uint32_t other = leads_to[next++]; seen->insert(other).second) {
        open.emplace_back(other, 0);
      }
    }
  };
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> ended;
  for (const std::uint32_t rule : reached_) walk(calls, rule, &seen, &ended);
  seen.clear();
  for (auto rule = ended.rbegin(); rule != ended.rend(); ++rule) {
    std::vector<std::uint32_t> group;
    walk(callers, *rule, &seen, &group);
    for (const std::uint32_t one : group) group_[one] = *rule;
  }
}

absl::Status LazyPlaces::FindCalled(std::uint32_t start) {
  called_ = {{start, 0}};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known = {{{0, start}, 0}};
  for (std::uint32_t i = 0; i < called_.size(); ++i) {
    const std::uint32_t rule = called_[i].definition;
    // Some hundred bytes are held for each expression.
    constexpr std::int64_t kUnitsAnExpression = 8;
    const Definition& definition = DefinitionOf(i);
    const std::int64_t expressions = definition.body - definition.first + std::int64_t{1};
    const absl::Status status = reading_.budget.Spend(kUnitsAnExpression * expressions);
    if (!status.ok()) return status;
    for (const ExprId call : CallsIn(rule)) {
      const std::uint32_t to = *grammar_.definition_of[grammar_.expressions[call].a];
      const auto next = static_cast<std::uint32_t>(called_.size());
      const std::uint32_t entry = group_.at(to) == group_.at(rule) ? called_[i].entry : next;
      const auto [made, is_new] = known.try_emplace({entry, to}, next);
      if (is_new) called_.push_back({to, entry});
      called_[i].calls[call] = made->second;
      const auto count = static_cast<std::int64_t>(called_.size());
      if (count > reading_.limits.rule_instances)
        return LimitExceeded(reading_.lines.Place(grammar_.expressions[call].at), "rule_instances",
                             reading_.limits.rule_instances, count);
    }
  }
  return absl::OkStatus();
}

void LazyPlaces::MarkRuleLevel(std::uint32_t definition) {
  const Definition& rule = grammar_.definitions[definition];
  rule_level_[rule.body] = true;
  for (ExprId id = rule.body + 1; id-- > rule.first;) {
    if (!rule_level_[id] || !IsOfRules(grammar_.expressions[id])) continue;
    for (const ExprId child : ChildrenOf(id)) rule_level_[child] = true;
  }
}

void LazyPlaces::AddLeaf(std::uint32_t called, ExprId expression) {
  const std::uint32_t definition = called_[called].definition;
  LazyLeaf leaf = {definition, expression};
  const Expression& e = grammar_.expressions[expression];
  const Expression& within =
      e.kind == ExprKind::kLexeme ? grammar_.expressions[ChildrenOf(expression)[0]] : e;
  if (within.kind == ExprKind::kBytes) {
    leaf.is_token = reading_.builder.node(within.a).kind == IrKind::kTokens;
    leaf.is_opaque = !leaf.is_token;
  }
  leaf.is_opaque = leaf.is_opaque || within.kind == ExprKind::kLimited ||
                   within.kind == ExprKind::kParameter ||
                   (within.kind == ExprKind::kName && within.use == ExprUse::kRule) ||
                   (within.kind == ExprKind::kIndexed && within.use == ExprUse::kRule);
  if (LazyBody(grammar_, expression) != kNoLazyBody) leaf.lazy = FirstEqual(definition);
  leaf.kind = leaf.is_lazy() ? absl::StrCat("lazy ", *leaf.lazy) : KindOf(expression);
  leaf_of_[{called, expression}] = static_cast<std::uint32_t>(leaves_.size());
  leaves_.push_back(std::move(leaf));
}

std::string LazyPlaces::KindOf(ExprId expression) const {
  const Expression* e = &grammar_.expressions[expression];
  if (e->kind == ExprKind::kLexeme) e = &grammar_.expressions[ChildrenOf(expression)[0]];
  if (e->kind == ExprKind::kName && e->child_count == 0) return absl::StrCat("name ", e->a);
  if (e->kind == ExprKind::kCharacters) return absl::StrCat("characters ", e->a);
  if (e->kind == ExprKind::kBytes) return absl::StrCat("bytes ", e->a);
  return absl::StrCat("expression ", expression);
}

// The first of the lazy rules that are written as `definition` is.
std::uint32_t LazyPlaces::FirstEqual(std::uint32_t definition) {
  const Definition& rule = grammar_.definitions[definition];
  std::string texts;
  for (ExprId id = rule.first; id <= LazyBody(grammar_, rule.body); ++id) {
    const Expression& e = grammar_.expressions[id];
    absl::StrAppend(&texts, static_cast<int>(e.kind), " ", static_cast<int>(e.use), " ", e.a, " ",
                    e.b);
    for (const ExprId child : ChildrenOf(id)) absl::StrAppend(&texts, " <", child - rule.first);
    texts.push_back(';');
  }
  return lazy_by_texts_.try_emplace(texts, definition).first->second;
}

// What is called stands behind its callers, so the last come first.
absl::Status LazyPlaces::FindEnds() {
  for (std::uint32_t called = 0; called < called_.size(); ++called) {
    const Definition& rule = DefinitionOf(called);
    called_[called].ends.resize(rule.body - rule.first + 1);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto called = static_cast<std::uint32_t>(called_.size()); called-- > 0;) {
      const Definition& rule = DefinitionOf(called);
      const Ends before = EndsIn(called, rule.body);
      for (ExprId id = rule.first; id <= rule.body; ++id) {
        if (!rule_level_[id]) continue;
        Ends ends = EndsOf(called, id);
        const std::size_t size = ends.first.size() + ends.last.size();
        if (absl::Status status = SpendOnLeaves(size); !status.ok()) return status;
        called_[called].ends[id - rule.first] = std::move(ends);
      }
      changed = changed || before != EndsIn(called, rule.body);
    }
  }
  for (std::uint32_t called = 0; called < called_.size(); ++called) {
    const Definition& rule = DefinitionOf(called);
    for (ExprId id = rule.first; id <= rule.body; ++id) {
      if (!rule_level_[id]) continue;
      if (absl::Status status = Join(called, id); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status LazyPlaces::SpendOnLeaves(std::size_t count) const {
  constexpr std::size_t kLeavesPerUnit = 4;
  return reading_.budget.Spend(static_cast<std::int64_t>(1 + count / kLeavesPerUnit));
}

LazyPlaces::Ends LazyPlaces::EndsOf(std::uint32_t called, ExprId expression) const {
  const Expression& e = grammar_.expressions[expression];
  if (const auto leaf = leaf_of_.find({called, expression}); leaf != leaf_of_.end())
    return {false, {leaf->second}, {leaf->second}};
  if (IsEmptyText(e)) return {true, {}, {}};
  if (CallsRule(e)) {
    const auto to = called_[called].calls.find(expression);
    if (to == called_[called].calls.end()) return {};
    return EndsIn(to->second, DefinitionOf(to->second).body);
  }
  const bool is_none_of_it =
      (e.kind == ExprKind::kRepeat && e.b == 0) || (e.kind == ExprKind::kLimited && e.a == 0);
  if (is_none_of_it) return {true, {}, {}};
  const std::vector<ExprId> parts = ChildrenOf(expression);
  if (e.kind == ExprKind::kSequence) return EndsOfSequence(called, parts);
  Ends all;
  for (const ExprId part : parts) {
    const Ends& ends = EndsIn(called, part);
    all.may_be_empty = all.may_be_empty || ends.may_be_empty;
    AddAll(ends.first, &all.first);
    AddAll(ends.last, &all.last);
  }
  // An alternative whose condition does not hold is no text, not the empty one.
  all.may_be_empty = all.may_be_empty || (e.kind == ExprKind::kRepeat && e.a == 0);
  return all;
}

LazyPlaces::Ends LazyPlaces::EndsOfSequence(std::uint32_t called,
                                            const std::vector<ExprId>& parts) const {
  Ends all = {true, {}, {}};
  for (const ExprId part : parts) {
    if (all.may_be_empty) AddAll(EndsIn(called, part).first, &all.first);
    all.may_be_empty = all.may_be_empty && EndsIn(called, part).may_be_empty;
  }
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    AddAll(EndsIn(called, *part).last, &all.last);
    if (!EndsIn(called, *part).may_be_empty) break;
  }
  return all;
}

// What follows what within one expression.
absl::Status LazyPlaces::Join(std::uint32_t called, ExprId expression) {
  const Expression& e = grammar_.expressions[expression];
  const std::vector<ExprId> parts = ChildrenOf(expression);
  const auto join = [&](ExprId part, ExprId next) {
    const Leaves& last = EndsIn(called, part).last;
    const Leaves& first = EndsIn(called, next).first;
    for (const std::uint32_t leaf : last) AddAll(first, &behind_[leaf]);
    return SpendOnLeaves(last.size() * first.size());
  };
  if (e.kind == ExprKind::kRepeat && e.b > 1) return join(parts[0], parts[0]);
  if (e.kind != ExprKind::kSequence) return absl::OkStatus();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t next = i + 1; next < parts.size(); ++next) {
      if (absl::Status status = join(parts[i], parts[next]); !status.ok()) return status;
      if (!EndsIn(called, parts[next]).may_be_empty) break;
    }
  }
  return absl::OkStatus();
}

absl::Status LazyPlaces::FindPlaces() {
  const auto list = [](const Leaves& leaves) {
    return std::vector<std::uint32_t>(leaves.begin(), leaves.end());
  };
  std::vector<std::vector<std::uint32_t>> open = {list(EndsIn(0, DefinitionOf(0).body).first)};
  places_.insert(open.back());
  while (!open.empty()) {
    const std::vector<std::uint32_t> place = std::move(open.back());
    open.pop_back();
    std::size_t behind_all = 4 * place.size();
    for (const std::uint32_t leaf : place) behind_all += behind_[leaf].size();
    if (absl::Status status = SpendOnLeaves(behind_all); !status.ok()) return status;
    std::map<std::string, Leaves> behind;
    for (const std::uint32_t leaf : place) AddAll(behind_[leaf], &behind[leaves_[leaf].kind]);
    for (const auto& [kind, leaves] : behind) {
      if (leaves.empty() || !places_.insert(list(leaves)).second) continue;
      open.push_back(list(leaves));
      const auto count = static_cast<std::int64_t>(places_.size());
      if (count > reading_.limits.rule_instances)
        return LimitExceeded("", "rule_instances", reading_.limits.rule_instances, count);
    }
  }
  return absl::OkStatus();
}

std::vector<ExprId> LazyPlaces::ChildrenOf(ExprId expression) const {
  const Expression& e = grammar_.expressions[expression];
  const auto first = grammar_.children.begin() + e.first_child;
  return {first, first + e.child_count};
}

}  // namespace maskd
