// The own assertions of a conjunction as one schema.
//
// Bounds are intersected to the tighter one, types to the common ones, facets collected. What is
// said of members and items is not merged but looked up for one name or index at a time: the names
// are not known here. A negated keyword (an atom) narrows as its opposite does: not minItems 3 is
// at most 2.
//
// Invariant  own[i] and locals[i] are the same schema. Each range keeps the keyword that set its
//            end, for the error.
// Cost       linear in the assertions, except that facets and those who watch are compared with
//            one another; taken from the budget.
#include "grammar_core/frontend/json_schema/logic/merged_schema.h"

#include <algorithm>
#include <cassert>

#include "absl/container/flat_hash_set.h"

#include "grammar_core/frontend/json/equality.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// Claims that are compared in the time of a look at a schema.
constexpr std::size_t kLook = 4;

// The intersection of two ranges.
void Narrow(const CountRange& by, CountRange* range) {
  if (by.min > range->min) {
    range->min = by.min;
    range->min_at = by.min_at;
  }
  if (by.max < range->max) {
    range->max = by.max;
    range->max_at = by.max_at;
  }
}

// Equal facets of different places are both kept: each may be the one that an error names.
void AddFacet(const Facet& facet, MergedSchema* merged) {
  const auto same = [&](const Facet& known) {
    return known.at.id() == facet.at.id() && known.keyword == facet.keyword &&
           known.negated == facet.negated;
  };
  std::vector<Facet>& facets = merged->facets;
  if (!merged->logic->TakeFor(facets.size(), facet.at.id())) return;
  if (std::none_of(facets.begin(), facets.end(), same)) facets.push_back(facet);
}

// Fewer than a keyword asks for at least.
CountRange Below(const JsonValue& min) {
  CountRange range;
  const std::uint32_t count = CountOf(min);
  // Fewer than none: a range without a number.
  range.min = count == 0 ? 1 : 0;
  range.max = count == 0 ? 0 : count - 1;
  range.min_at = range.max_at = min;
  return range;
}

// One more than allowed, and never so many that it would read as unbounded.
CountRange Above(const JsonValue& max) {
  CountRange range;
  range.min = std::min(CountOf(max), kUnbounded - 2) + 1;
  range.min_at = max;
  return range;
}

// What uniqueItems takes to be violated.
CountRange Pair(const JsonValue& unique_items) {
  CountRange range;
  range.min = 2;
  range.min_at = unique_items;
  return range;
}

// Adds what it means that a keyword is violated.
void MergeViolation(const Claim& claim, const JsonValue& at, MergedSchema* merged) {
  switch (claim.keyword) {
    case K::kMinLength:
      return Narrow(Below(at), &merged->length);
    case K::kMaxLength:
      return Narrow(Above(at), &merged->length);
    case K::kMinItems:
      return Narrow(Below(at), &merged->item_count);
    case K::kMaxItems:
      return Narrow(Above(at), &merged->item_count);
    case K::kMinProperties:
      return Narrow(Below(at), &merged->member_count);
    case K::kMaxProperties:
      return Narrow(Above(at), &merged->member_count);
    case K::kUniqueItems:
      return Narrow(Pair(at), &merged->item_count);
    default:
      if (IsFacet(claim.keyword)) AddFacet({claim.keyword, at, true}, merged);
  }
}

// What an atom says beside itself: of which type the value is, and how many items there must be.
void MergeAtom(const ClaimLogic& logic, const Claim& claim, MergedSchema* merged) {
  assert(claim.kind != Kind::kOwn && claim.kind != Kind::kTypes);
  const JsonValue at = logic.at(claim);
  switch (claim.kind) {
    case Kind::kHas:
      merged->types &= kObjectType;
      break;
    case Kind::kValue:
      if (claim.negated)
        AddFacet({K::kConst, at, true}, merged);
      else
        merged->types &= TypeOf(at);
      break;
    case Kind::kElement:
      merged->types &= DomainOf(claim.keyword);
      if (claim.keyword == K::kPrefixItems) {
        CountRange there;
        there.min = at.index() + 1;
        there.min_at = at;
        Narrow(there, &merged->item_count);
      }
      break;
    case Kind::kKeyword:
      if (claim.keyword == K::kType) {
        merged->types &= ~logic.schemas().view(at.parent()->id()).types;
      } else {
        merged->types &= DomainOf(claim.keyword);
        MergeViolation(claim, at, merged);
      }
      break;
    default:
      break;  // a schema that fails and cannot be taken apart
  }
}

// For each own assertion with an unevaluated keyword, those that count it among their watchers.
void FindWatchers(const ClaimLogic& logic, MergedSchema* merged) {
  assert(merged->own.size() == merged->locals.size());
  for (std::size_t i = 0; i < merged->own.size(); ++i) {
    if (!merged->locals[i]->watches()) continue;
    MergedSchema::Watcher watcher = {merged->own[i], merged->locals[i], {}};
    for (std::size_t j = 0; j < merged->own.size(); ++j) {
      if (!merged->logic->TakeFor(logic.WatchersOf(merged->own[j]).size(), watcher.own.at)) return;
      for (const Claim& seer : logic.WatchersOf(merged->own[j])) {
        if (seer.at != watcher.own.at || seer.scope != watcher.own.scope) continue;
        watcher.seen.push_back(j);
      }
    }
    merged->watchers.push_back(std::move(watcher));
  }
}

// The schemas of `view` that a member must satisfy.
std::vector<JsonId> SchemasOfMember(const SchemaView& view, const MemberName& name) {
  std::vector<JsonId> schemas;
  for (const K keyword : {K::kProperties, K::kPatternProperties, K::kAdditionalProperties})
    for (const JsonId schema : view.MemberSchemas(keyword, name)) schemas.push_back(schema);
  return schemas;
}

bool IsEqualTo(const Claim& atom) { return atom.kind == Kind::kValue && !atom.negated; }

// That an item violates its element of prefixItems.
bool IsItem(const Claim& atom) {
  return atom.kind == Kind::kElement && atom.keyword == K::kPrefixItems;
}

// Whether arrays must and must not have items that are all different.
bool IsUniqueAndNot(const MergedSchema& schema) {
  const auto asks = [](const SchemaView* view) { return view->unique_items.has_value(); };
  const auto denies = [](const Claim& atom) { return atom.keyword == K::kUniqueItems; };
  return std::any_of(schema.atoms.begin(), schema.atoms.end(), denies) &&
         std::any_of(schema.locals.begin(), schema.locals.end(), asks);
}

}  // namespace

bool EvaluatesMember(const SchemaView& by, const SchemaView& watcher, const MemberName& name) {
  return !SchemasOfMember(by, name).empty() ||
         (&by != &watcher && by.unevaluated_properties.has_value());
}

std::size_t MergedSchema::prefix_size() const {
  std::size_t size = 0;
  for (const SchemaView* view : locals) size = std::max(size, view->prefix_items.size());
  for (const Claim& atom : atoms)
    if (IsItem(atom)) size = std::max<std::size_t>(size, at.at(atom.at).index() + 1);
  return size;
}

// From three sides: prefixItems or items, unevaluatedItems where nothing else evaluated the item,
// and violated elements of prefixItems.
std::vector<Claim> MergedSchema::ItemClaims(std::size_t index) const {
  assert(own.size() == locals.size());
  std::vector<Claim> claims;
  // A look at one schema is far from the look at the next.
  if (!logic->TakeFor(kLook * own.size() + atoms.size(), at.id())) return claims;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const SchemaView& view = *locals[i];
    if (index < view.prefix_items.size())
      logic->AddOnce(PartHolds(own[i], view.prefix_items[index]), &claims);
    else if (view.items.has_value())
      logic->AddOnce(PartHolds(own[i], view.items->id()), &claims);
  }
  for (const Watcher& watcher : watchers) {
    const bool asks = watcher.view->unevaluated_items.has_value() && LiftedBy(watcher).empty();
    if (!asks || IsEvaluated(watcher, index)) continue;
    logic->AddOnce(PartHolds(watcher.own, watcher.view->unevaluated_items->id()), &claims);
  }
  for (const Claim& atom : atoms) {
    const bool meant = IsItem(atom) && at.at(atom.at).index() == index;
    if (meant) logic->AddOnce(PartHolds(atom, atom.at).Negated(), &claims);
  }
  return claims;
}

// A watcher's own unevaluated keyword evaluates nothing for itself: it asks about the rest.
bool MergedSchema::IsEvaluated(const Watcher& watcher, std::size_t index) const {
  logic->TakeFor(kLook * watcher.seen.size(), watcher.own.at);
  return std::any_of(watcher.seen.begin(), watcher.seen.end(), [&](std::size_t by) {
    const SchemaView& view = *locals[by];
    return index < view.prefix_items.size() || view.items.has_value() ||
           (&view != watcher.view && view.unevaluated_items.has_value());
  });
}

// Where a match of `contains` evaluates an item, unevaluatedItems holds only for items that match
// none. That depends on the item's value, so it is left to ArrayStates as tests.
std::vector<Claim> MergedSchema::LiftedBy(const Watcher& watcher) const {
  std::vector<Claim> claims;
  if (!logic->schemas().contains_evaluates()) return claims;
  if (!logic->TakeFor(kLook * watcher.seen.size(), watcher.own.at)) return claims;
  for (const std::size_t by : watcher.seen) {
    const SchemaView& view = *locals[by];
    if (view.contains.has_value()) logic->AddOnce(PartHolds(own[by], view.contains->id()), &claims);
  }
  return claims;
}

std::vector<Claim> MergedSchema::MemberClaims(const MemberName& name) const {
  assert(own.size() == locals.size());
  std::vector<Claim> claims;
  // A look at one schema is some look-ups of the name.
  if (!logic->Take(own.size() + atoms.size() / ClaimLogic::kClaimsAStep, at.id())) return claims;
  for (std::size_t i = 0; i < own.size(); ++i)
    for (const JsonId schema : SchemasOfMember(*locals[i], name))
      logic->AddOnce(PartHolds(own[i], schema), &claims);
  for (const Watcher& watcher : watchers) {
    if (!watcher.view->unevaluated_properties.has_value()) continue;
    if (!logic->Take(watcher.seen.size(), watcher.own.at)) return claims;
    const bool evaluated = std::any_of(
        watcher.seen.begin(), watcher.seen.end(),
        [&](std::size_t by) { return EvaluatesMember(*locals[by], *watcher.view, name); });
    if (evaluated) continue;
    logic->AddOnce(PartHolds(watcher.own, watcher.view->unevaluated_properties->id()), &claims);
  }
  for (const Claim& atom : atoms) {
    if (!name.text.has_value() || NameAt(at.at(atom.at)) != *name.text) continue;
    if (atom.kind == Kind::kHas && atom.negated) logic->AddOnce(NoValue(), &claims);
    if (atom.kind == Kind::kElement && atom.keyword == K::kProperties)
      logic->AddOnce(PartHolds(atom, atom.at).Negated(), &claims);
  }
  return claims;
}

bool MergedSchema::has_listed_values() const {
  const auto lists = [](const SchemaView* view) {
    return view->const_value.has_value() || view->enum_values.has_value();
  };
  return std::any_of(locals.begin(), locals.end(), lists) ||
         std::any_of(atoms.begin(), atoms.end(), IsEqualTo);
}

// A const rather than an enum.
std::vector<JsonValue> MergedSchema::ListedValues() const {
  for (const Claim& atom : atoms)
    if (IsEqualTo(atom)) return {at.at(atom.at)};
  std::vector<JsonValue> values;
  for (const SchemaView* view : locals) {
    if (view->const_value.has_value()) return {*view->const_value};
    if (!view->enum_values.has_value() || !values.empty()) continue;
    for (const JsonValue value : view->enum_values->children()) values.push_back(value);
  }
  return values;
}

// For true, false and null the type is the value, so an excluded value is an excluded word.
bool MergedSchema::Excludes(JsonType word) const {
  const auto lists = [&](const Facet& facet) {
    if (!facet.negated) return false;
    if (facet.keyword == K::kConst) return facet.at.type() == word;
    if (facet.keyword != K::kEnum) return false;
    for (const JsonValue listed : facet.at.children())
      if (listed.type() == word) return true;
    return false;
  };
  return std::any_of(facets.begin(), facets.end(), lists);
}

// A member that must violate its schema must be there, so it is required as well.
std::vector<JsonValue> MergedSchema::RequiredNames() const {
  std::vector<JsonValue> names;
  absl::flat_hash_set<absl::string_view> known;
  const auto add = [&](const JsonValue& name) {
    if (known.insert(NameAt(name)).second) names.push_back(name);
  };
  for (const SchemaView* view : locals) {
    if (!view->required.has_value()) continue;
    for (const JsonValue name : view->required->children()) add(name);
  }
  for (const Claim& atom : atoms) {
    const bool has = atom.kind == Kind::kHas && !atom.negated;
    const bool fails = atom.kind == Kind::kElement && atom.keyword == K::kProperties;
    if (has || fails) add(at.at(atom.at));
  }
  return names;
}

MergedSchema Merge(ClaimLogic& logic, const Conjunction& all) {
  MergedSchema merged(logic);
  logic.TakeFor(all.own.size() + all.atoms.size(), all.own.empty() ? 0 : all.own.front().at);
  merged.own = all.own;
  merged.atoms = all.atoms;
  merged.types = all.is_false ? kNoType : all.types;
  bool watched = false;
  for (const Claim& claim : all.own) {
    const SchemaView& view = logic.view(claim);
    merged.locals.push_back(&view);
    merged.types &= view.is_false ? kNoType : view.types;
    Narrow(view.length, &merged.length);
    Narrow(view.item_count, &merged.item_count);
    Narrow(view.member_count, &merged.member_count);
    for (const Facet& facet : view.facets) AddFacet(facet, &merged);
    watched |= view.watches();
  }
  for (const Claim& claim : all.atoms) MergeAtom(logic, claim, &merged);
  if (IsUniqueAndNot(merged)) merged.types &= ~kArrayType;
  if (watched) FindWatchers(logic, &merged);
  if (!all.own.empty())
    merged.at = merged.locals.front()->at;
  else if (!all.atoms.empty())
    merged.at = logic.at(all.atoms.front());
  return merged;
}

}  // namespace maskd
