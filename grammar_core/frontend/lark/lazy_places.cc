// The terminals that a text may begin with, and those that may follow each, are found as for the
// positions of a regular expression: nullable, first and last of each expression, to a fixed point
// over the rules that call each other. Places are then the sets of a subset construction, which
// steps by a kind of terminal instead of a character.
//
// Invariant  the expressions of a definition stand behind their parts, so one sweep forwards
//            settles a definition whose calls are settled.
// Cost       sweeps until nothing changes, each over all expressions that are reached; then one
//            look at each terminal of each place.
// Bounds     limits.rule_instances places; the budget's work.
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
  for (const std::uint32_t definition : reached_) {
    const Definition& rule = grammar_.definitions[definition];
    for (ExprId id = rule.first; id <= rule.body; ++id) {
      const Expression& e = grammar_.expressions[id];
      const bool is_leaf = rule_level_[id] && !IsOfRules(e) && !CallsRule(e) && !IsEmptyText(e);
      if (is_leaf) AddLeaf(definition, id);
    }
  }
  behind_.resize(leaves_.size());
  if (absl::Status status = FindEnds(); !status.ok()) return status;
  return FindPlaces(start);
}

void LazyPlaces::FindReached(std::uint32_t start) {
  std::set<std::uint32_t> seen = {start};
  reached_ = {start};
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    MarkRuleLevel(reached_[i]);
    const Definition& rule = grammar_.definitions[reached_[i]];
    for (ExprId id = rule.first; id <= rule.body; ++id) {
      const Expression& e = grammar_.expressions[id];
      if (!rule_level_[id] || !CallsRule(e) || !grammar_.definition_of[e.a].has_value()) continue;
      const std::uint32_t called = *grammar_.definition_of[e.a];
      if (seen.insert(called).second) reached_.push_back(called);
    }
  }
}

void LazyPlaces::MarkRuleLevel(std::uint32_t definition) {
  const Definition& rule = grammar_.definitions[definition];
  rule_level_[rule.body] = true;
  for (ExprId id = rule.body + 1; id-- > rule.first;) {
    if (!rule_level_[id] || !IsOfRules(grammar_.expressions[id])) continue;
    for (const ExprId child : ChildrenOf(id)) rule_level_[child] = true;
  }
}

void LazyPlaces::AddLeaf(std::uint32_t definition, ExprId expression) {
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
  leaf_of_[expression] = static_cast<std::uint32_t>(leaves_.size());
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

absl::Status LazyPlaces::FindEnds() {
  std::vector<Ends> by_expression(grammar_.expressions.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t definition : reached_) {
      const Definition& rule = grammar_.definitions[definition];
      for (ExprId id = rule.first; id <= rule.body; ++id) {
        if (!rule_level_[id]) continue;
        if (absl::Status status = reading_.budget.Spend(); !status.ok()) return status;
        by_expression[id] = EndsOf(id, by_expression);
      }
      Ends& known = ends_[definition];
      if (known == by_expression[rule.body]) continue;
      known = by_expression[rule.body];
      changed = true;
    }
  }
  for (const std::uint32_t definition : reached_) {
    const Definition& rule = grammar_.definitions[definition];
    for (ExprId id = rule.first; id <= rule.body; ++id)
      if (rule_level_[id]) Join(id, by_expression);
  }
  return absl::OkStatus();
}

LazyPlaces::Ends LazyPlaces::EndsOf(ExprId expression, const std::vector<Ends>& ends) const {
  const Expression& e = grammar_.expressions[expression];
  if (const auto leaf = leaf_of_.find(expression); leaf != leaf_of_.end())
    return {false, {leaf->second}, {leaf->second}};
  if (IsEmptyText(e)) return {true, {}, {}};
  if (CallsRule(e)) {
    // One that is not defined is told of later.
    const std::optional<std::uint32_t> called = grammar_.definition_of[e.a];
    const auto known = called.has_value() ? ends_.find(*called) : ends_.end();
    return known == ends_.end() ? Ends() : known->second;
  }
  const std::vector<ExprId> parts = ChildrenOf(expression);
  if (e.kind == ExprKind::kSequence) return EndsOfSequence(parts, ends);
  Ends all;
  for (const ExprId part : parts) {
    all.may_be_empty = all.may_be_empty || ends[part].may_be_empty;
    AddAll(ends[part].first, &all.first);
    AddAll(ends[part].last, &all.last);
  }
  const bool may_be_left_out = e.kind == ExprKind::kRepeat ? e.a == 0 : e.kind == ExprKind::kIf;
  all.may_be_empty = all.may_be_empty || may_be_left_out;
  return all;
}

LazyPlaces::Ends LazyPlaces::EndsOfSequence(const std::vector<ExprId>& parts,
                                            const std::vector<Ends>& ends) const {
  Ends all = {true, {}, {}};
  for (const ExprId part : parts) {
    if (all.may_be_empty) AddAll(ends[part].first, &all.first);
    all.may_be_empty = all.may_be_empty && ends[part].may_be_empty;
  }
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    AddAll(ends[*part].last, &all.last);
    if (!ends[*part].may_be_empty) break;
  }
  return all;
}

// What follows what within one expression.
void LazyPlaces::Join(ExprId expression, const std::vector<Ends>& ends) {
  const Expression& e = grammar_.expressions[expression];
  const std::vector<ExprId> parts = ChildrenOf(expression);
  if (e.kind == ExprKind::kRepeat && e.b > 1)
    for (const std::uint32_t leaf : ends[parts[0]].last)
      AddAll(ends[parts[0]].first, &behind_[leaf]);
  if (e.kind != ExprKind::kSequence) return;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t next = i + 1; next < parts.size(); ++next) {
      for (const std::uint32_t leaf : ends[parts[i]].last)
        AddAll(ends[parts[next]].first, &behind_[leaf]);
      if (!ends[parts[next]].may_be_empty) break;
    }
  }
}

absl::Status LazyPlaces::FindPlaces(std::uint32_t start) {
  const auto list = [](const Leaves& leaves) {
    return std::vector<std::uint32_t>(leaves.begin(), leaves.end());
  };
  std::vector<std::vector<std::uint32_t>> open = {list(ends_[start].first)};
  places_.insert(open.back());
  while (!open.empty()) {
    const std::vector<std::uint32_t> place = std::move(open.back());
    open.pop_back();
    const auto spent = static_cast<std::int64_t>(1 + place.size());
    if (absl::Status status = reading_.budget.Spend(spent); !status.ok()) return status;
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
