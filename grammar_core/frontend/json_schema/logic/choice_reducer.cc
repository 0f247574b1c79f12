// Unit propagation over the choices of a conjunction.
//
// An alternative that contradicts what stands beside the choice is crossed out. A choice with one
// alternative left is no choice: its claims join the conjunction, and all choices are looked at
// again, since more may be settled now. A choice with none left makes the conjunction false.
// Branches of a oneOf that exclude one another anyway lose the negations of each other.
//
// Cost    a proof for each alternative of each choice, again after each choice that was settled: at
//         most kMaxChoices squared times kMaxAlternatives, charged to the budget.
// Source  Davis, Logemann, Loveland 1962 (unit rule).
#include "grammar_core/frontend/json_schema/logic/choice_reducer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/frontend/json/equality.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// A choice of more alternatives is left as it is.
constexpr std::size_t kMaxAlternatives = 64;
// More choices beside one another are not looked through.
constexpr std::size_t kMaxChoices = 16;

bool IsOneOf(const Claim& choice) {
  return choice.kind == Kind::kKeyword && choice.keyword == K::kOneOf && !choice.negated;
}

Conjunction Without(const Conjunction& all, std::size_t choice) {
  assert(choice < all.choices.size());
  Conjunction rest = all;
  rest.choices.erase(rest.choices.begin() + static_cast<std::ptrdiff_t>(choice));
  return rest;
}

}  // namespace

Conjunction ChoiceReducer::Reduce(Conjunction all) {
  // On its own a choice is settled by nothing.
  if (all.own.empty() && all.atoms.empty() && all.types == kEveryType && all.choices.size() == 1)
    return all;
  DropImplied(&all);
  if (all.choices.size() > kMaxChoices) return all;
  for (std::size_t i = 0; i < all.choices.size() && !all.is_false;) {
    if (!budget_.Spend().ok()) return all;
    i = ReduceOne(i, &all) ? 0 : i + 1;
  }
  return all;
}

// A oneOf of many branches leaves as many negated ones in each.
void ChoiceReducer::DropImplied(Conjunction* all) {
  Conjunction sure = *all;
  // Without what a watched choice evaluates more would be forbidden.
  std::erase_if(sure.choices, [](const Claim& choice) { return choice.watchers == 0; });
  std::erase_if(all->choices, [&](const Claim& choice) {
    return choice.kind == Kind::kSchema && choice.negated && budget_.Spend().ok() &&
           contradiction_.In(logic_.Expand({choice.Negated()}, sure));
  });
}

// A choice that is a negated schema holds anyway if the schema contradicts the rest.
bool ChoiceReducer::ReduceOne(std::size_t index, Conjunction* all) {
  const Claim choice = all->choices[index];
  Conjunction rest = Without(*all, index);
  if (choice.kind == Kind::kSchema && contradiction_.In(logic_.Expand({choice.Negated()}, rest))) {
    *all = std::move(rest);
    return true;
  }
  if (logic_.at(choice).size() > kMaxAlternatives) return false;
  ClaimLogic::Alternatives ways = AlternativesOf(choice);
  if (ways.size() > kMaxAlternatives) return false;
  std::erase_if(ways, [&](const std::vector<Claim>& way) {
    return contradiction_.In(logic_.Expand(way, rest));
  });
  if (ways.size() > 1) return false;
  if (ways.empty()) {
    all->is_false = true;
    all->false_at = choice.at;
  } else {
    *all = logic_.Expand(ways.front(), std::move(rest));
  }
  return true;
}

const ClaimLogic::Alternatives& ChoiceReducer::AlternativesOf(const Claim& choice) {
  if (!IsOneOf(choice)) return *logic_.AlternativesOf(choice);
  if (const auto known = one_of_.find(choice); known != one_of_.end()) return known->second;
  return one_of_.emplace(choice, FindOneOf(choice)).first->second;
}

// By definition an alternative of oneOf is a branch and the negations of all others. A negation
// that the branch implies is left out.
ClaimLogic::Alternatives ChoiceReducer::FindOneOf(const Claim& choice) {
  assert(IsOneOf(choice));
  std::vector<Claim> branches;
  for (const JsonValue branch : logic_.at(choice).children()) {
    branches.push_back(
        {Kind::kSchema, false, K::kAnnotation, choice.watchers, choice.scope, branch.id()});
  }
  ClaimLogic::Alternatives ways;
  for (const Claim& branch : branches) ways.push_back({branch});
  for (std::size_t i = 0; i < branches.size(); ++i) {
    for (std::size_t j = i + 1; j < branches.size(); ++j) {
      if (!budget_.Spend().ok() || Exclude(branches[i], branches[j])) continue;
      ways[i].push_back(branches[j].Negated());
      ways[j].push_back(branches[i].Negated());
    }
  }
  return ways;
}

// Lists of values, as of discriminators, are compared by keys; no proof is needed.
bool ChoiceReducer::Exclude(const Claim& x, const Claim& y) {
  const absl::flat_hash_set<std::string>* fewer = ListedKeys(x);
  const absl::flat_hash_set<std::string>* more = ListedKeys(y);
  if (fewer == nullptr || more == nullptr) return contradiction_.Between(x, y);
  if (fewer->size() > more->size()) std::swap(fewer, more);
  if (!logic_.Take(fewer->size(), x.at)) return false;
  return std::none_of(fewer->begin(), fewer->end(),
                      [&](const std::string& key) { return more->contains(key); });
}

const absl::flat_hash_set<std::string>* ChoiceReducer::ListedKeys(const Claim& schema) {
  assert(schema.kind == Kind::kSchema);
  const SchemaView& view = logic_.schemas().view(schema.at);
  const bool only = view.parts.size() == 1 && view.assertions.size() == 1 && view.facets.empty();
  if (!only || !(view.const_value.has_value() || view.enum_values.has_value())) return nullptr;
  std::unique_ptr<absl::flat_hash_set<std::string>>& keys = listed_[schema.at];
  if (keys != nullptr) return keys.get();
  keys = std::make_unique<absl::flat_hash_set<std::string>>();
  if (view.const_value.has_value())
    keys->insert(EqualityKey(*view.const_value));
  else
    for (const JsonValue value : view.enum_values->children()) keys->insert(EqualityKey(value));
  return keys.get();
}

}  // namespace maskd
