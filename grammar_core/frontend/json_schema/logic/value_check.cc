// A validator for one known value: an enum's, a const's, or the name of a member.
//
// The grammar of listed values needs only those that satisfy the schemas beside them, and that is
// what any validator decides. It works on the same views as the rest and has the same refusals, so
// that a value is never in the grammar by one reading and out by the other.
//
// What is evaluated is a bit for each child (Look::seen), kept only where somebody watches:
// branches are then all tried, since each that holds adds its bits.
//
// Invariant  `seen` has a bit for each child of the value, and belongs to the innermost watcher.
// Cost       value times schemas, as for every validator, taken from the budget; recursion is
//            bounded by source_depth.
// Source     JSON Schema Core 2020-12, sections 7.7 (annotations), 10 and 11; Validation, section
//            6.
#include "grammar_core/frontend/json_schema/logic/value_check.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json/equality.h"
#include "grammar_core/frontend/json_schema/logic/number_facets.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// Lengths are in characters: every byte that does not continue one begins one.
std::size_t CodePointCount(absl::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool InRange(const CountRange& range, std::size_t count) {
  return count >= range.min && (range.max == kUnbounded || count <= range.max);
}

bool HasAll(const JsonValue& object, const JsonValue& names) {
  assert(object.is_object() && names.is_array());
  for (const JsonValue name : names.children())
    if (!object.Find(name.text()).has_value()) return false;
  return true;
}

// Also asked with `dependencies` of older drafts, whose schemas among the lists are no business of
// this keyword (ChoiceHolds() has them).
bool HasDependents(const JsonValue& object, const JsonValue& dependencies) {
  for (const JsonValue entry : dependencies.children()) {
    if (!entry.is_array() || !object.Find(entry.key()).has_value()) continue;
    if (!HasAll(object, entry)) return false;
  }
  return true;
}

void Merge(const std::vector<bool>& more, std::vector<bool>* seen) {
  assert(more.size() == seen->size());
  for (std::size_t i = 0; i < more.size(); ++i)
    if (more[i]) (*seen)[i] = true;
}

// The unevaluated keyword that speaks of values of `type`.
std::optional<JsonValue> UnevaluatedOf(const SchemaView& view, TypeSet type) {
  if (type == kObjectType) return view.unevaluated_properties;
  return type == kArrayType ? view.unevaluated_items : std::nullopt;
}

// Bytes of text that are looked through for one step of ClaimLogic::Take().
constexpr std::size_t kBytesAStep = 32;
// Steps for each node of a value whose key is made.
constexpr std::size_t kStepsANode = 4;

}  // namespace

std::string ValueChecker::KeyOf(const JsonValue& value) {
  std::string key = EqualityKey(value);
  logic_.Take(kStepsANode * (value.subtree_end() - value.id()) + key.size() / kBytesAStep,
              value.id());
  return key;
}

bool ValueChecker::AreUnique(const JsonValue& array) {
  absl::flat_hash_set<std::string> keys;
  for (const JsonValue item : array.children())
    if (!keys.insert(KeyOf(item)).second) return false;
  return true;
}

MemberName ValueChecker::NameOf(absl::string_view text) {
  return {text, [this, text](const JsonValue& pattern) { return Matches(pattern, text); }};
}

// First the own assertions, each with its bits of evaluated children; then what is left open; last
// the unevaluated keywords, which need all those bits.
absl::StatusOr<bool> ValueChecker::Fits(const JsonValue& value, const Conjunction& all,
                                        const MergedSchema& merged) {
  assert(all.own.size() == merged.locals.size());
  Look look = {value, TypeOf(value), 0, 0, nullptr};
  if ((look.type & all.types) == 0 || all.is_false) return false;
  const bool watched = !merged.watchers.empty();
  std::vector<Seen> seen(watched ? all.own.size() : 0, Seen(value.size()));
  for (std::size_t i = 0; i < all.own.size(); ++i) {
    if (!logic_.TakeFor(watched ? value.size() : 0, all.own[i].at)) return logic_.status();
    look.scope = all.own[i].scope;
    look.seen = watched ? &seen[i] : nullptr;
    const absl::StatusOr<bool> holds = OwnHolds(look, *merged.locals[i]);
    if (!holds.ok() || !*holds) return holds;
  }
  look.seen = nullptr;
  for (const std::vector<Claim>* claims : {&all.atoms, &all.choices}) {
    for (const Claim& claim : *claims) {
      const absl::StatusOr<bool> holds = Holds(look, claim);
      if (!logic_.Take(1, value.id())) return logic_.status();
      if (!holds.ok() || !*holds) return holds;
    }
  }
  for (const MergedSchema::Watcher& watcher : merged.watchers) {
    if (!logic_.Take(watcher.seen.size() * (1 + value.size() / 8), watcher.own.at))
      return logic_.status();
    Seen evaluated(value.size());
    for (const std::size_t by : watcher.seen) {
      const SchemaView& view = *merged.locals[by];
      // One that watches inside of this evaluates all that nothing else does.
      if (&view != watcher.view && UnevaluatedOf(view, look.type).has_value())
        evaluated.assign(value.size(), true);
      else
        Merge(seen[by], &evaluated);
    }
    look.seen = &evaluated;
    look.scope = watcher.own.scope;
    const absl::StatusOr<bool> holds = RestHolds(look, *watcher.view);
    if (!holds.ok() || !*holds) return holds;
  }
  return true;
}

absl::StatusOr<bool> ValueChecker::StringFits(absl::string_view text, const Claim& claim) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(JsonString(text), limits_);
  if (!document.ok()) return document.status();
  return Holds({document->root(), kStringType, 0, claim.scope, nullptr}, claim);
}

// A claim of any kind, by the validator's functions for schemas and keywords.
absl::StatusOr<bool> ValueChecker::Holds(const Look& look, const Claim& claim) {
  Look said = look;
  said.scope = claim.scope;
  const JsonValue at = logic_.at(claim);
  const auto signed_verdict = [&](const absl::StatusOr<bool>& holds) -> absl::StatusOr<bool> {
    if (!holds.ok()) return holds;
    return *holds != claim.negated;
  };
  switch (claim.kind) {
    case Kind::kSchema:
      return signed_verdict(SchemaHolds(said, claim.at));
    case Kind::kOwn:
      return OwnHolds(said, logic_.view(claim));
    case Kind::kTypes:
      return ((look.type & claim.at) != 0) != claim.negated;
    case Kind::kHas:
      return look.type == kObjectType && look.value.Find(NameAt(at)).has_value() != claim.negated;
    case Kind::kValue:
      return (KeyOf(look.value) == KeyOf(at)) != claim.negated;
    case Kind::kElement:
      if (claim.keyword == K::kDependentSchemas) return ChoiceHolds(said, claim.keyword, at);
      return ElementFails(said, claim.keyword, at);
    case Kind::kKeyword:
      break;
  }
  if (!claim.negated) return ChoiceHolds(said, claim.keyword, at);
  if ((look.type & DomainOf(claim.keyword)) == 0) return false;
  const bool lists = claim.keyword == K::kConst || claim.keyword == K::kEnum;
  if (IsFacet(claim.keyword) && !lists) return FacetHolds(said, {claim.keyword, at, true});
  const SchemaView& view = logic_.schemas().view(at.parent()->id());
  // Beside the other ways to violate its schema this is one more.
  if (claim.keyword == K::kUnevaluatedProperties || claim.keyword == K::kUnevaluatedItems)
    return signed_verdict(SchemaHolds(said, view.at.id()));
  const bool branches = claim.keyword == K::kAnyOf || claim.keyword == K::kOneOf ||
                        claim.keyword == K::kIf || claim.keyword == K::kDependentSchemas;
  return signed_verdict(branches ? ChoiceHolds(said, claim.keyword, at)
                                 : KeywordHolds(said, view, claim.keyword, at));
}

// Schemas that must hold as well are taken from a list, not by recursion: a chain of references may
// be long. One that watches sees only what it evaluates itself.
absl::StatusOr<bool> ValueChecker::SchemaHolds(const Look& look, JsonId schema) {
  if (look.depth > limits_.source_depth)
    return LimitExceeded(look.value.Pointer(), "source_depth", limits_.source_depth, look.depth);
  const SchemaView& first = logic_.schemas().view(schema);
  if (!logic_.TakeFor(look.value.size(), schema)) return logic_.status();
  Seen mine(look.value.size());
  Look inside = look;
  ++inside.depth;
  if (look.seen != nullptr || first.watches()) inside.seen = &mine;
  OpenSchemas open = {{schema, look.scope}};
  while (!open.empty()) {
    if (absl::Status status = budget_.Spend(); !status.ok()) return status;
    const auto [next, scope] = open.back();
    open.pop_back();
    inside.scope = logic_.ScopeIn(next, scope);
    const SchemaView& view = logic_.schemas().view(next);
    for (const SchemaPart& part : view.parts) {
      const absl::StatusOr<bool> holds = PartHolds(inside, view, part, &open);
      if (!holds.ok() || !*holds) return holds;
    }
  }
  inside.scope = logic_.ScopeIn(schema, look.scope);
  const absl::StatusOr<bool> rest = RestHolds(inside, first);
  if (!rest.ok() || !*rest || look.seen == nullptr) return rest;
  Merge(mine, look.seen);
  return true;
}

// Schemas that must hold as well are put into `open`; all else is decided here.
absl::StatusOr<bool> ValueChecker::PartHolds(const Look& look, const SchemaView& view,
                                             const SchemaPart& part, OpenSchemas* open) {
  switch (part.kind) {
    case SchemaPart::Kind::kLocal:
      return OwnHolds(look, view);
    case SchemaPart::Kind::kSchema:
    case SchemaPart::Kind::kDynamic: {
      const JsonId schema = part.kind == SchemaPart::Kind::kSchema
                                ? part.id
                                : logic_.DynamicTarget(view, part, look.scope);
      if (logic_.schemas().view(schema).watches()) return SchemaHolds(look, schema);
      open->emplace_back(schema, look.scope);
      return true;
    }
    case SchemaPart::Kind::kNot: {
      Look unseen = look;
      unseen.seen = nullptr;
      const absl::StatusOr<bool> holds = SchemaHolds(unseen, part.id);
      if (!holds.ok()) return holds;
      return !*holds;
    }
    case SchemaPart::Kind::kChoice:
      return ChoiceHolds(look, part.keyword, view.at.at(part.id));
  }
  return true;
}

absl::StatusOr<bool> ValueChecker::ChoiceHolds(const Look& look, Keyword keyword,
                                               const JsonValue& at) {
  if (keyword == K::kIf) return IfHolds(look, at);
  if (keyword == K::kDependentSchemas) {
    const bool applies = look.type == kObjectType && look.value.Find(at.key()).has_value();
    return applies ? SchemaHolds(look, at.id()) : true;
  }
  return BranchesHold(look, at, keyword == K::kOneOf);
}

// A second branch that holds settles oneOf. The first one settles anyOf, except for watchers.
absl::StatusOr<bool> ValueChecker::BranchesHold(const Look& look, const JsonValue& list,
                                                bool exactly_one) {
  assert(list.is_array());
  int count = 0;
  for (const JsonValue branch : list.children()) {
    const absl::StatusOr<bool> holds = SchemaHolds(look, branch.id());
    if (!holds.ok()) return holds;
    count += *holds ? 1 : 0;
    if (count > 1 && exactly_one) return false;
    // Where somebody watches, each branch that holds counts.
    if (count > 0 && !exactly_one && look.seen == nullptr) return true;
  }
  return count > 0;
}

// What a condition that fails has evaluated is not counted: SchemaHolds() merges bits at its end.
absl::StatusOr<bool> ValueChecker::IfHolds(const Look& look, const JsonValue& condition) {
  const absl::StatusOr<bool> holds = SchemaHolds(look, condition.id());
  if (!holds.ok()) return holds;
  const std::optional<JsonValue> follows = condition.parent()->Find(*holds ? "then" : "else");
  return follows.has_value() ? SchemaHolds(look, follows->id()) : true;
}

// A keyword says nothing of types outside of its domain: minLength holds for every number.
absl::StatusOr<bool> ValueChecker::OwnHolds(const Look& look, const SchemaView& view) {
  if (view.is_false) return false;
  for (const SchemaView::Assertion& own : view.assertions) {
    if ((DomainOf(own.keyword) & look.type) == 0) continue;
    const absl::StatusOr<bool> holds = KeywordHolds(look, view, own.keyword, own.at);
    if (!holds.ok() || !*holds) return holds;
  }
  return std::all_of(view.facets.begin(), view.facets.end(),
                     [&](const Facet& facet) { return FacetHolds(look, facet); });
}

// The value is of a type that the keyword speaks of.
absl::StatusOr<bool> ValueChecker::KeywordHolds(const Look& look, const SchemaView& view,
                                                Keyword keyword, const JsonValue& at) {
  const std::size_t bytes = look.value.is_string() ? look.value.text().size() : 0;
  if (!logic_.Take(1 + look.value.size() + bytes / kBytesAStep, at.id())) return logic_.status();
  switch (keyword) {
    case K::kType:
      return (view.types & look.type) != 0;
    case K::kConst:
      return KeyOf(look.value) == KeyOf(at);
    case K::kEnum:
      return IsListed(look.value, at);
    case K::kMinLength:
      return CodePointCount(look.value.text()) >= CountOf(at);
    case K::kMaxLength:
      return CodePointCount(look.value.text()) <= CountOf(at);
    default:
      return look.type == kArrayType ? ArrayKeywordHolds(look, view, keyword, at)
                                     : ObjectKeywordHolds(look, view, keyword, at);
  }
}

absl::StatusOr<bool> ValueChecker::ArrayKeywordHolds(const Look& look, const SchemaView& view,
                                                     Keyword keyword, const JsonValue& at) {
  switch (keyword) {
    case K::kMinItems:
      return look.value.size() >= CountOf(at);
    case K::kMaxItems:
      return look.value.size() <= CountOf(at);
    case K::kUniqueItems:
      return AreUnique(look.value);
    case K::kContains:
      return ContainsHolds(look, at, view.contains_count);
    default:
      break;
  }
  if (keyword != K::kItems && keyword != K::kPrefixItems) return true;
  std::size_t index = 0;
  for (const JsonValue item : look.value.children()) {
    const bool first = index < view.prefix_items.size();
    if (first == (keyword == K::kPrefixItems)) {
      const JsonId schema = first ? view.prefix_items[index] : view.items->id();
      const absl::StatusOr<bool> holds = ChildHolds(look, index, item, schema);
      if (!holds.ok() || !*holds) return holds;
    }
    ++index;
  }
  return true;
}

// From 2020-12 on a match of `contains` evaluates the item.
absl::StatusOr<bool> ValueChecker::ContainsHolds(const Look& look, const JsonValue& schema,
                                                 const CountRange& range) {
  std::size_t count = 0;
  std::size_t index = 0;
  Look inside = look;
  if (!logic_.schemas().contains_evaluates()) inside.seen = nullptr;
  for (const JsonValue item : look.value.children()) {
    const absl::StatusOr<bool> holds = ChildHolds(inside, index++, item, schema.id());
    if (!holds.ok()) return holds;
    count += *holds ? 1 : 0;
  }
  return InRange(range, count);
}

absl::StatusOr<bool> ValueChecker::ObjectKeywordHolds(const Look& look, const SchemaView& view,
                                                      Keyword keyword, const JsonValue& at) {
  switch (keyword) {
    case K::kMinProperties:
      return look.value.size() >= CountOf(at);
    case K::kMaxProperties:
      return look.value.size() <= CountOf(at);
    case K::kRequired:
      return HasAll(look.value, at);
    case K::kDependentRequired:
      return HasDependents(look.value, at);
    case K::kPropertyNames:
      return NamesHold(look, at);
    case K::kProperties:
    case K::kPatternProperties:
    case K::kAdditionalProperties:
      return MembersHold(look, view, keyword);
    default:
      return true;
  }
}

// The members that `keyword` of `view` speaks of, each by its schema there.
absl::StatusOr<bool> ValueChecker::MembersHold(const Look& look, const SchemaView& view,
                                               Keyword keyword) {
  std::size_t index = 0;
  for (const JsonValue member : look.value.children()) {
    for (const JsonId schema : view.MemberSchemas(keyword, NameOf(member.key()))) {
      const absl::StatusOr<bool> holds = ChildHolds(look, index, member, schema);
      if (!holds.ok() || !*holds) return holds;
    }
    ++index;
  }
  return true;
}

absl::StatusOr<bool> ValueChecker::ChildHolds(const Look& look, std::size_t index,
                                              const JsonValue& child, JsonId schema) {
  assert(look.seen == nullptr || index < look.seen->size());
  const absl::StatusOr<bool> holds =
      SchemaHolds({child, TypeOf(child), look.depth + 1, look.scope, nullptr}, schema);
  if (holds.ok() && *holds && look.seen != nullptr) (*look.seen)[index] = true;
  return holds;
}

absl::StatusOr<bool> ValueChecker::NamesHold(const Look& look, const JsonValue& schema) {
  Claim claim = {.scope = look.scope, .at = schema.id()};
  for (const JsonValue member : look.value.children()) {
    const absl::StatusOr<bool> holds = StringFits(member.key(), claim);
    if (!holds.ok() || !*holds) return holds;
  }
  return true;
}

// Whether some part of the value violates the element `at` of a keyword.
absl::StatusOr<bool> ValueChecker::ElementFails(const Look& look, Keyword keyword,
                                                const JsonValue& at) {
  const TypeSet type = keyword == K::kPrefixItems ? kArrayType : kObjectType;
  if (look.type != type) return false;
  if (!logic_.Take(1 + look.value.size(), at.id())) return logic_.status();
  std::size_t index = 0;
  for (const JsonValue child : look.value.children()) {
    const bool meant = keyword == K::kPrefixItems  ? index == at.index()
                       : keyword == K::kProperties ? child.key() == at.key()
                                                   : Matches(at, child.key());
    if (meant) {
      const absl::StatusOr<bool> holds = ChildHolds(look, index, child, at.id());
      if (!holds.ok()) return holds;
      if (!*holds) return true;
    }
    ++index;
  }
  return false;
}

// The unevaluated keywords of `view`, by what `look` has seen.
absl::StatusOr<bool> ValueChecker::RestHolds(const Look& look, const SchemaView& view) {
  const std::optional<JsonValue> schema = UnevaluatedOf(view, look.type);
  if (!schema.has_value()) return true;
  std::size_t index = 0;
  for (const JsonValue child : look.value.children()) {
    assert(look.seen != nullptr && index < look.seen->size());
    if (!(*look.seen)[index]) {
      const absl::StatusOr<bool> holds = ChildHolds(look, index, child, schema->id());
      if (!holds.ok() || !*holds) return holds;
    }
    ++index;
  }
  return true;
}

// A facet that cannot be decided is refused, and then counts as satisfied.
bool ValueChecker::FacetHolds(const Look& look, const Facet& facet) {
  if (!look.value.is_string() && !look.value.is_number()) return true;
  if (!logic_.Take(1 + look.value.text().size() / kBytesAStep, facet.at.id())) return true;
  const absl::StatusOr<bool> holds = look.value.is_string()
                                         ? strings_.Holds(facet, look.value.text())
                                         : NumberFacetHolds(facet, look.value);
  if (holds.ok()) return *holds;
  refuse_(facet.at, holds.status());
  return true;
}

// An enum may have thousands of values and be asked of as many: its keys are made once.
bool ValueChecker::IsListed(const JsonValue& value, const JsonValue& list) {
  if (value.parent().has_value() && value.parent()->id() == list.id()) return true;
  auto [it, added] = enums_.try_emplace(list.id());
  if (added)
    for (const JsonValue listed : list.children()) it->second.insert(KeyOf(listed));
  return it->second.contains(KeyOf(value));
}

bool ValueChecker::Matches(const JsonValue& pattern, absl::string_view name) {
  if (!logic_.Take(1 + name.size() / kBytesAStep, pattern.id())) return false;
  const absl::StatusOr<bool> matches = strings_.Holds({K::kPatternProperties, pattern}, name);
  if (matches.ok()) return *matches;
  refuse_(pattern, matches.status());
  return false;
}

}  // namespace maskd
