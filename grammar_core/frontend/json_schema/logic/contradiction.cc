// A sound, incomplete proof that a conjunction has no value.
//
// Tried in the order of cost: the types left, then the merged keywords (listed values, counts, what
// patterns begin and end with), then one required member or item, then one choice all of whose
// alternatives contradict the rest. Looking into members or choices takes one level of depth.
//
// Invariant  true is a proof; false means nothing. At depth 0 or without budget the answer is
//            false.
// Cost       one merge for each conjunction and depth; answers are remembered by
//            Conjunction::Key().
#include "grammar_core/frontend/json_schema/logic/contradiction.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/frontend/json_schema/logic/pattern_ends.h"

namespace maskd {
namespace {

using Kind = Claim::Kind;

// Listed values, alternatives of a choice and choices that are looked at, at most. More choices are
// more work than what they prove saves.
constexpr std::size_t kMaxValues = 100;
constexpr std::size_t kMaxAlternatives = 32;
constexpr std::size_t kMaxChoices = 1;

bool IsOnly(TypeSet types, TypeSet of) { return (types & ~of) == 0; }

}  // namespace

// The pair in one order, so that each is proved once.
bool Contradiction::Between(const Claim& x, const Claim& y) {
  const auto pair = x < y ? std::make_pair(x, y) : std::make_pair(y, x);
  const auto known = pairs_.find(pair);
  if (known != pairs_.end()) return known->second;
  const bool found = In(logic_.Expand({pair.first, pair.second}));
  pairs_.emplace(pair, found);
  return found;
}

bool Contradiction::In(const Conjunction& all, int depth) {
  assert(depth >= 0 && depth <= kDepth);
  // Choices are in the key alone.
  const std::size_t units = 1 + all.own.size() + all.atoms.size() + all.choices.size() / 2;
  if (depth == 0 || !budget_.Spend(static_cast<std::int64_t>(units)).ok()) return false;
  if (TypesLeft(all) == kNoType) return true;
  std::string key = all.Key();
  key.push_back(static_cast<char>(depth));
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const bool found = Find(all, depth);
  known_.emplace(std::move(key), found);
  return found;
}

// Most contradictions are of types, and seen without a look at anything else.
TypeSet Contradiction::TypesLeft(const Conjunction& all) const {
  TypeSet types = all.is_false ? kNoType : all.types;
  for (const Claim& claim : all.own) {
    const SchemaView& view = logic_.view(claim);
    types &= view.is_false ? kNoType : view.types;
  }
  return types;
}

// What is cheap and common first. Members and items are looked at only where no other type is left.
bool Contradiction::Find(const Conjunction& all, int depth) {
  const MergedSchema merged = Merge(logic_, all);
  if (merged.types == kNoType) return true;
  // What an open choice evaluates may lift claims of those who watch it.
  const bool watched = std::any_of(all.choices.begin(), all.choices.end(),
                                   [](const Claim& choice) { return choice.watchers != 0; });
  if (watched) return false;
  if (merged.has_listed_values()) return InListedValues(all, merged);
  if (IsOnly(merged.types, kStringType) && (merged.length.empty() || InPatterns(merged)))
    return true;
  if (IsOnly(merged.types, kArrayType) && InItems(merged, depth)) return true;
  if (IsOnly(merged.types, kObjectType) && InMembers(merged, depth)) return true;
  // One level of choices: products are what this is to avoid.
  const std::size_t choices = depth < kDepth ? 0 : std::min(all.choices.size(), kMaxChoices);
  for (std::size_t i = 0; i < choices; ++i)
    if (InChoice(all, i, depth)) return true;
  return false;
}

// No listed value fits. One that could not be checked may fit.
bool Contradiction::InListedValues(const Conjunction& all, const MergedSchema& merged) {
  const std::vector<JsonValue> values = merged.ListedValues();
  if (values.size() > kMaxValues) return false;
  return std::none_of(values.begin(), values.end(), [&](const JsonValue& value) {
    const absl::StatusOr<bool> fits = checker_.Fits(value, all, merged);
    return !fits.ok() || *fits;
  });
}

// Two patterns whose fixed beginnings or ends differ.
bool Contradiction::InPatterns(const MergedSchema& merged) {
  std::vector<PatternEnds> ends;
  for (const Facet& facet : merged.facets) {
    if (facet.keyword != Keyword::kPattern || facet.negated) continue;
    const PatternEnds next = EndsOf(facet.at.text());
    if (!logic_.Take(1 + ends.size() / 4, facet.at.id())) return false;
    if (std::any_of(ends.begin(), ends.end(),
                    [&](const PatternEnds& known) { return AreDisjoint(known, next); })) {
      return true;
    }
    ends.push_back(next);
  }
  return false;
}

// An item that must be there and can have no value. Behind the prefix all items are alike: one is
// looked at for all of them.
bool Contradiction::InItems(const MergedSchema& merged, int depth) {
  if (merged.item_count.empty()) return true;
  const std::size_t count = std::min<std::size_t>(merged.item_count.min, merged.prefix_size() + 1);
  for (std::size_t i = 0; i < count; ++i)
    if (In(logic_.Expand(merged.ItemClaims(i)), depth - 1)) return true;
  return false;
}

// A required member that can have no value, or more required ones than there may be.
bool Contradiction::InMembers(const MergedSchema& merged, int depth) {
  if (merged.member_count.empty()) return true;
  const std::vector<JsonValue> required = merged.RequiredNames();
  if (required.size() > merged.member_count.max) return true;
  return std::any_of(required.begin(), required.end(), [&](const JsonValue& at) {
    const MemberName name = checker_.NameOf(NameAt(at));
    return In(logic_.Expand(merged.MemberClaims(name)), depth - 1);
  });
}

// Every alternative contradicts the rest.
bool Contradiction::InChoice(const Conjunction& all, std::size_t choice, int depth) {
  assert(choice < all.choices.size());
  const auto& ways = logic_.AlternativesOf(all.choices[choice]);
  if (!ways.has_value() || ways->size() > kMaxAlternatives) return false;
  Conjunction rest = all;
  rest.choices.erase(rest.choices.begin() + static_cast<std::ptrdiff_t>(choice));
  return std::all_of(ways->begin(), ways->end(), [&](const std::vector<Claim>& way) {
    return In(logic_.Expand(way, rest), depth - 1);
  });
}

}  // namespace maskd
