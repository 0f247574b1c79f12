// A term becomes a number once, with its lower bound and the number of what it negates. Its ways
// and its edges are made when first asked for. Derivatives come from the terms (CharEdgeSource),
// but a target that is an intersection is read as a list of its parts, so that lists of different
// texts share their conditions.
//
// Invariant  a condition's number, list and edges do not move: they lie in a deque and behind
//            pointers.
// Cost       a condition's edges are read once; a list that is met again is one look-up.
// Source     Brzozowski 1964 (derivatives of intersections and complements, part by part).
#include "grammar_core/intersection/conditions.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/base/sort_unique.h"
#include "grammar_core/terms/term_check.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {

ConditionId Conditions::IdOf(CharTerm term) {
  if (const auto known = ids_.find(term); known != ids_.end()) return known->second;
  if (store_->IsAllText(term)) return ids_[term] = kEveryText;
  const Term& negation = store_->term(term);
  std::optional<ConditionId> negated;
  if (negation.kind == TermKind::kNot) negated = IdOf(NegatedOf(negation));
  const auto id = static_cast<ConditionId>(conditions_.size());
  Condition& condition = conditions_.emplace_back();
  condition.term = term;
  condition.negated = negated;
  condition.fewest = FewestCharsOf(term);
  condition.places = PlacesOf(term);
  MASKD_DCHECK_TERM(*store_, term, !store_->term(term).nullable || condition.fewest == 0);
  held_bytes_ += static_cast<std::int64_t>(2 * sizeof(Condition));
  return ids_[term] = id;
}

bool Conditions::Append(CharTerm term, ConditionList* list) {
  if (term == kNothingTerm) return false;
  const Term& both = store_->term(term);
  if (both.kind == TermKind::kAnd)
    return std::ranges::all_of(PartsOf(both), [&](CharTerm part) { return Append(part, list); });
  if (both.kind == TermKind::kNot && store_->term(NegatedOf(both)).kind == TermKind::kAlt) {
    return std::ranges::all_of(PartsOf(store_->term(NegatedOf(both))),
                               [&](CharTerm way) { return Append(store_->Not(way), list); });
  }
  if (const ConditionId id = IdOf(term); id != kEveryText) list->push_back(id);
  return true;
}

// A copy: terms that are made while it is read may move what it is a part of.
std::vector<CharTerm> Conditions::PartsOf(const Term& term) const {
  const auto branches = BranchesOf<CharTerm>(*store_, term);
  return {branches.begin(), branches.end()};
}

// Of a list {a, not (a|b)} no text is left, and that is seen without a search: one way of what is
// negated is held as a whole. Other contradictions are for ConditionSearch.
bool Conditions::Sort(ConditionList* list) {
  SortUnique(list);
  assert(list->empty() || list->back() < conditions_.size());
  const auto is_held = [&](ConditionId id) { return std::ranges::binary_search(*list, id); };
  return std::ranges::none_of(*list, [&](ConditionId id) {
    const std::optional<ConditionId> negated = conditions_[id].negated;
    if (!negated.has_value()) return false;
    if (is_held(*negated)) return true;
    return std::ranges::any_of(WaysOf(*negated), [&](const ConditionList& way) {
      return std::ranges::all_of(way, is_held);
    });
  });
}

// The one way of an intersection, which only a complement is made of, is its parts.
const std::vector<ConditionList>& Conditions::WaysOf(ConditionId id) {
  Condition& condition = conditions_[id];
  if (condition.has_ways) return condition.ways;
  condition.has_ways = true;
  const Term& term = store_->term(condition.term);
  if (term.kind != TermKind::kAlt && term.kind != TermKind::kAnd) return condition.ways;
  const auto add = [&](CharTerm branch) {
    ConditionList way;
    if (Append(branch, &way) && Sort(&way)) condition.ways.push_back(std::move(way));
  };
  if (term.kind == TermKind::kAlt)
    std::ranges::for_each(BranchesOf<CharTerm>(*store_, term), add);
  else
    add(condition.term);
  return condition.ways;
}

// Where `work` failed nothing is kept, and what is returned is empty.
const Conditions::Edges& Conditions::EdgesOf(ConditionId id, Work& work) {
  Condition& condition = conditions_[id];
  if (condition.has_edges) return condition.edges;
  const CharEdges& edges = characters_->Edges(condition.term, work);
  if (!work.ok()) return condition.edges;
  condition.edges.reserve(edges.size());
  for (const CharEdge& edge : edges) condition.edges.push_back({edge.lo, edge.hi, ListOf(edge.to)});
  condition.has_edges = true;
  held_bytes_ += static_cast<std::int64_t>(edges.size() * sizeof(Edges::value_type));
  return condition.edges;
}

const ConditionList* Conditions::ListOf(CharTerm term) {
  const auto known = lists_.find(term);
  if (known != lists_.end()) return known->second.get();
  auto list = std::make_unique<ConditionList>();
  if (!Append(term, list.get()) || !Sort(list.get())) list = nullptr;
  if (list != nullptr) {
    held_bytes_ +=
        static_cast<std::int64_t>(sizeof(*list) + list->capacity() * sizeof(ConditionId));
  }
  return (lists_[term] = std::move(list)).get();
}

std::uint32_t Conditions::FewestCharsOf(CharTerm id) {
  if (const auto known = fewest_.find(id); known != fewest_.end()) return known->second;
  return fewest_[id] = ComputeFewest(store_->term(id));
}

// By the form alone: `a{3,}b` has 4, `x|yz` the lesser of its ways, an intersection the greatest of
// its parts. What is not nullable and tells no more, as a complement, has 1. The tails of a
// sequence are a loop, so a long one is no deep recursion.
std::uint32_t Conditions::ComputeFewest(const Term& term) {
  if (term.nullable) return 0;
  std::uint32_t fewest = 0;
  switch (term.kind) {
    case TermKind::kNothing:
      return kNoEnd;
    case TermKind::kText:
      return LengthOfRest(*store_, term);
    case TermKind::kCat: {
      const Term* cell = &term;
      while (cell->kind == TermKind::kCat) {
        const auto [head, tail] = AsCat<CharTerm>(*cell);
        fewest = SaturatingAdd(fewest, FewestCharsOf(head));
        if (store_->term(tail).kind != TermKind::kCat) break;
        cell = &store_->term(tail);
      }
      return SaturatingAdd(fewest, FewestCharsOf(AsCat<CharTerm>(*cell).tail));
    }
    case TermKind::kRepeat:
      return SaturatingMul(FewestCharsOf(AsRepeat<CharTerm>(term).body),
                           AsRepeat<CharTerm>(term).min);
    case TermKind::kAlt:
      fewest = kNoEnd;
      for (const CharTerm way : BranchesOf<CharTerm>(*store_, term))
        fewest = std::min(fewest, FewestCharsOf(way));
      return fewest;
    case TermKind::kAnd:
      for (const CharTerm part : BranchesOf<CharTerm>(*store_, term))
        fewest = std::max(fewest, FewestCharsOf(part));
      return fewest;
    default:
      return 1;
  }
}

std::uint32_t Conditions::PlacesOf(CharTerm id) {
  if (const auto known = places_.find(id); known != places_.end()) return known->second;
  const std::uint32_t places = ComputePlaces(store_->term(id));
  return places_[id] = places;
}

// As a nondeterministic machine has states: the characters of a text, the sum of parts, counts
// times what is counted. The tails of a sequence are a loop, as in ComputeFewest().
std::uint32_t Conditions::ComputePlaces(const Term& term) {
  std::uint32_t places = 0;
  switch (term.kind) {
    case TermKind::kText:
      return LengthOfRest(*store_, term);
    case TermKind::kCat: {
      const Term* cell = &term;
      while (true) {
        const auto [head, tail] = AsCat<CharTerm>(*cell);
        places = SaturatingAdd(places, PlacesOf(head));
        if (store_->term(tail).kind != TermKind::kCat) return SaturatingAdd(places, PlacesOf(tail));
        cell = &store_->term(tail);
      }
    }
    case TermKind::kRepeat: {
      const auto [body, min, max] = AsRepeat<CharTerm>(term);
      const std::uint32_t count = max == kUnbounded ? std::max<std::uint32_t>(min, 1) : max;
      return SaturatingMul(PlacesOf(body), count);
    }
    case TermKind::kAlt:
    case TermKind::kAnd:
      for (const CharTerm part : PartsOf(term)) places = SaturatingAdd(places, PlacesOf(part));
      return places;
    case TermKind::kNot:
      return PlacesOf(NegatedOf(term));
    default:
      return 1;
  }
}

}  // namespace maskd
