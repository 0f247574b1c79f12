// Claims taken apart by the laws of propositional logic.
// A schema is a formula over the keywords of one value. Expand() keeps a conjunction. A conjunct
// that is itself a conjunction is replaced by its parts (allOf, $ref, a schema's keywords). One
// that is a disjunction stays whole as a choice (anyOf, oneOf, if). Negation is pushed inwards as
// it is met, by De Morgan: not (a and b) is a choice of (not a) and (not b). So the negation normal
// form is made step by step, and the disjunctive normal form, which may be exponential, never is.
//
// Invariant  alternatives are computed once a claim and never change (references to them are handed
//            out).
// Cost       a look-up for each claim met; oneOf under not is quadratic in its branches, anyOf
//            beside an unevaluated keyword exponential, both within the limits below. All that is
//            met or kept is taken from the budget, so a schema is refused before it is a burden.
// Source     JSON Schema Core 2020-12, section 10.2 (in-place applicators).
#include "grammar_core/frontend/json_schema/logic/claim_logic.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/logic/sure_evaluators.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// anyOf branches at most of which every selection may see different properties evaluated.
constexpr std::uint32_t kMaxWatchedBranches = 12;
// Branches of a oneOf that is negated, which looks at them two by two.
constexpr std::size_t kMaxNegatedBranches = 100;

// The node that an error about `claim` is at.
JsonId PlaceOf(const Claim& claim) { return claim.kind == Kind::kTypes ? 0 : claim.at; }

bool IsBareIf(const JsonValue& schema) {
  return !schema.Find("then").has_value() && !schema.Find("else").has_value();
}

// Steps of ClaimLogic::Take() in a unit of work.
constexpr std::size_t kStepsAUnit = 8;
// Steps for each alternative that is kept, which is a matter of memory.
constexpr std::size_t kStepsAWay = 8;

// The claims that one Expand() has met: mostly so few that looking through them is faster.
class SeenClaims {
 public:
  // Whether it is a new one.
  bool Insert(const Claim& claim) {
    if (few_.size() < kFew) {
      if (std::find(few_.begin(), few_.end(), claim) != few_.end()) return false;
      few_.push_back(claim);
      return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(claim).second;
  }

 private:
  static constexpr std::size_t kFew = 16;
  absl::InlinedVector<Claim, kFew> few_;
  absl::flat_hash_set<Claim> many_;  // all of them, once they are many
};

}  // namespace

// Lists stand behind their lengths, so no two conjunctions share a key.
std::string Conjunction::Key() const {
  constexpr std::size_t kClaimBytes = 11;
  constexpr std::size_t kOtherBytes = 16;
  std::string key;
  key.reserve(kOtherBytes + kClaimBytes * (own.size() + atoms.size() + choices.size()));
  key.push_back(static_cast<char>(types));
  key.push_back(is_false ? 1 : 0);
  for (const std::vector<Claim>* claims : {&own, &atoms, &choices}) {
    const auto count = static_cast<std::uint32_t>(claims->size());
    key.append(reinterpret_cast<const char*>(&count), sizeof(count));
    for (const Claim& claim : *claims) {
      key.append({static_cast<char>(claim.kind), static_cast<char>(claim.negated),
                  static_cast<char>(claim.keyword)});
      key.append(reinterpret_cast<const char*>(&claim.watchers), sizeof(claim.watchers));
      key.append(reinterpret_cast<const char*>(&claim.scope), sizeof(claim.scope));
      key.append(reinterpret_cast<const char*>(&claim.at), sizeof(claim.at));
    }
  }
  return key;
}

bool ClaimLogic::Take(std::size_t steps, JsonId at) {
  if (!status_.ok()) return false;
  steps_ += steps;
  if (steps_ < kStepsAUnit) return true;
  const absl::Status spent = budget_.Spend(static_cast<std::int64_t>(steps_ / kStepsAUnit));
  steps_ %= kStepsAUnit;
  if (spent.ok()) return true;
  const std::string place = schemas_.root().at(at).PointerWithin(kMaxPlaceBytes);
  Fail(ErrorAt(spent.code(), place, ErrorReason(spent), spent.message()));
  return false;
}

void ClaimLogic::Fail(absl::Status error) {
  if (status_.ok()) status_ = std::move(error);
}

void ClaimLogic::AddOnce(const Claim& claim, std::vector<Claim>* claims) {
  if (!TakeFor(claims->size(), PlaceOf(claim))) return;
  if (std::find(claims->begin(), claims->end(), claim) == claims->end()) claims->push_back(claim);
}

// A stack of claims that are true. Each is replaced by its parts, joins a list, or has no
// alternative: then all is false. A claim joins once: what is met here is in `seen`, what was
// known before is at the beginning of its list. Last, a schema that must fail is looked for among
// those that hold: a cheap way to see the most common contradiction.
Conjunction ClaimLogic::Expand(const std::vector<Claim>& claims, Conjunction known) {
  constexpr std::size_t kUsual = 16;
  SeenClaims seen;
  absl::InlinedVector<Claim, kUsual> stack(claims.rbegin(), claims.rend());
  const std::size_t own = known.own.size();
  const std::size_t atoms = known.atoms.size();
  const std::size_t choices = known.choices.size();
  const auto join = [&](const Claim& claim, std::size_t old, std::vector<Claim>* list) {
    const auto end = list->begin() + static_cast<std::ptrdiff_t>(old);
    if (TakeFor(old, claim.at) && std::find(list->begin(), end, claim) == end)
      list->push_back(claim);
  };
  TakeFor(own + atoms + choices, claims.empty() ? 0 : PlaceOf(claims.front()));
  while (!stack.empty() && status_.ok()) {
    const Claim claim = First(stack.back());
    stack.pop_back();
    if (claim.kind == Kind::kTypes) {
      const auto types = static_cast<TypeSet>(claim.at);
      known.types &= claim.negated ? kEveryType & ~types : types;
      continue;
    }
    if (!seen.Insert(claim)) continue;
    if (claim.kind == Kind::kOwn) {
      join(claim, own, &known.own);
      continue;
    }
    if (IsOpenChoice(claim)) {
      join(claim, choices, &known.choices);
      continue;
    }
    const std::optional<Alternatives>& ways = AlternativesOf(claim);
    if (!ways.has_value()) {
      join(claim, atoms, &known.atoms);
    } else if (ways->size() == 1) {
      Take(1 + ways->front().size(), claim.at);
      stack.insert(stack.end(), ways->front().rbegin(), ways->front().rend());
    } else if (!ways->empty()) {
      join(claim, choices, &known.choices);
    } else if (!known.is_false) {
      known.is_false = true;
      known.false_at = claim.at;
    }
  }
  for (const Claim& choice : known.choices) {
    const bool fails = choice.kind == Kind::kSchema && choice.negated && !known.is_false;
    if (!fails || !Follows(choice.Negated(), known)) continue;
    known.is_false = true;
    known.false_at = choice.at;
  }
  return known;
}

// Each part of `schema` is literally among what is known. Who watches makes no difference to that.
// Once there is an error the answer is no.
bool ClaimLogic::Follows(const Claim& schema, const Conjunction& known) {
  assert(schema.kind == Kind::kSchema && !schema.negated);
  const auto is_in = [](const std::vector<Claim>& claims, const Claim& claim) {
    return std::any_of(claims.begin(), claims.end(), [&](Claim other) {
      other.watchers = claim.watchers;
      return other == claim;
    });
  };
  absl::flat_hash_set<Claim> seen;
  std::vector<Claim> open = {schema};
  while (!open.empty()) {
    const Claim claim = open.back();
    open.pop_back();
    if (claim.kind == Kind::kSchema && !claim.negated) {
      if (!seen.insert(claim).second) continue;
      const std::vector<Claim>& parts = AlternativesOf(claim)->front();
      if (!Take(1 + parts.size(), claim.at)) return false;
      open.insert(open.end(), parts.begin(), parts.end());
      continue;
    }
    const std::vector<Claim>& among = claim.kind == Kind::kOwn ? known.own : known.choices;
    if (!TakeFor(among.size(), schema.at) || !is_in(among, claim)) return false;
  }
  return true;
}

bool ClaimLogic::IsOpenChoice(const Claim& claim) const {
  return claim.kind == Kind::kKeyword && !claim.negated &&
         (claim.keyword == K::kAnyOf || claim.keyword == K::kOneOf || claim.keyword == K::kIf);
}

const std::optional<ClaimLogic::Alternatives>& ClaimLogic::AlternativesOf(const Claim& said) {
  const Claim claim = First(said);
  if (const auto known = alternatives_.find(claim); known != alternatives_.end())
    return known->second;
  return alternatives_.emplace(claim, FindAlternatives(claim)).first->second;
}

// Nothing for an atom, which stands for itself.
std::optional<ClaimLogic::Alternatives> ClaimLogic::FindAlternatives(const Claim& claim) {
  if (claim.kind == Kind::kSchema) {
    if (claim.negated) return SchemaFailures(claim);
    return Alternatives{PartsOf(claim)};
  }
  if (claim.kind == Kind::kElement && claim.keyword == K::kDependentSchemas) {
    const Claim object = {.kind = Kind::kTypes, .at = kObjectType};
    const Claim has = HasMember(at(claim), false);
    const Claim dependent = AsSchema(claim, claim.at);
    if (claim.negated) return Alternatives{{has, dependent}};
    return Alternatives{{object.Negated()}, {has.Negated()}, {has, dependent}};
  }
  if (claim.kind != Kind::kKeyword) return std::nullopt;
  if (!claim.negated) {
    if (claim.keyword == K::kAnyOf) return AnyOf(claim);
    if (claim.keyword == K::kIf) return If(claim);
    Alternatives ways;
    const std::vector<Claim> holds = Branches(claim);
    for (std::size_t i = 0; i < holds.size(); ++i) {
      ways.push_back(Branches(claim, true));
      ways.back()[i] = holds[i];
    }
    return ways;
  }
  Alternatives failures;
  AppendKeywordFailures(claim, &failures);
  const bool is_atom = failures.size() == 1 && failures.front() == std::vector<Claim>{claim};
  return is_atom ? std::nullopt : std::make_optional(std::move(failures));
}

// A conjunction: the parts of a schema, each with the scope and the watchers of this place.
std::vector<Claim> ClaimLogic::PartsOf(const Claim& claim) {
  assert(claim.kind == Kind::kSchema && !claim.negated);
  const SchemaView& schema = schemas_.view(claim.at);
  Claim said = claim;
  said.scope = ScopeIn(claim.at, claim.scope);
  if (schema.watches()) said.watchers = Watched(said);
  std::vector<Claim> parts;
  Take(schema.parts.size(), claim.at);
  for (const SchemaPart& part : schema.parts) {
    // What a bare `if` evaluates matters to those who watch.
    if (part.keyword == K::kIf && said.watchers == 0 && IsBareIf(at(claim))) continue;
    Claim& added = parts.emplace_back(said);
    added.at = part.id;
    switch (part.kind) {
      case SchemaPart::Kind::kLocal:
        added.kind = Kind::kOwn;
        break;
      case SchemaPart::Kind::kSchema:
        break;
      case SchemaPart::Kind::kDynamic:
        added.at = DynamicTarget(schema, part, said.scope);
        break;
      case SchemaPart::Kind::kNot:
        added = said.Negated();
        added.at = part.id;
        break;
      case SchemaPart::Kind::kChoice:
        added.kind = part.keyword == K::kDependentSchemas ? Kind::kElement : Kind::kKeyword;
        added.keyword = part.keyword;
        break;
    }
  }
  return parts;
}

// Schemas that must hold as well fail in the same breath: no list of lists grows here. One that is
// reached in two ways fails once.
std::optional<ClaimLogic::Alternatives> ClaimLogic::SchemaFailures(const Claim& claim) {
  assert(claim.kind == Kind::kSchema && claim.negated);
  Alternatives failures;
  std::vector<Claim> open = {claim};
  absl::flat_hash_set<Claim> seen;
  while (!open.empty()) {
    Claim schema = open.back();
    open.pop_back();
    if (!seen.insert(schema).second) continue;
    const std::size_t before = failures.size();
    if (HidesUnevaluated(schemas_.view(schema.at))) return std::nullopt;
    schema.scope = ScopeIn(schema.at, schema.scope);
    AppendViewFailures(schema, &open, &failures);
    const std::size_t parts = schemas_.view(schema.at).parts.size();
    if (!Take(1 + parts + kStepsAWay * (failures.size() - before), schema.at)) break;
  }
  return failures;
}

// Not (a and b): each part fails by itself. Parts that are schemas go to `open`.
void ClaimLogic::AppendViewFailures(const Claim& claim, std::vector<Claim>* open,
                                    Alternatives* out) {
  const SchemaView& schema = schemas_.view(claim.at);
  if (schema.is_false) out->emplace_back();
  Claim keyword = claim;
  keyword.kind = Kind::kKeyword;
  const auto fails = [&](Keyword which, JsonId at) {
    keyword.keyword = which;
    keyword.at = at;
    AppendKeywordFailures(keyword, out);
  };
  for (const SchemaPart& part : schema.parts) {
    switch (part.kind) {
      case SchemaPart::Kind::kLocal:
        for (const SchemaView::Assertion& own : schema.assertions) fails(own.keyword, own.at.id());
        for (const Facet& facet : schema.facets) {
          // That of draft 4, which asks for plain digits: of its spellings nothing is negated.
          if (facet.keyword != K::kType) fails(facet.keyword, facet.at.id());
        }
        break;
      case SchemaPart::Kind::kSchema:
        open->push_back(AsSchema(claim, part.id));
        break;
      case SchemaPart::Kind::kDynamic:
        open->push_back(AsSchema(claim, DynamicTarget(schema, part, claim.scope)));
        break;
      case SchemaPart::Kind::kNot: {
        Claim holds = claim.Negated();
        holds.at = part.id;
        out->push_back({holds});
        break;
      }
      case SchemaPart::Kind::kChoice:
        fails(part.keyword, part.id);
        break;
    }
  }
}

// The ways to violate one keyword. A new keyword that is violated as a whole needs no case here: by
// default the violated keyword is an atom.
void ClaimLogic::AppendKeywordFailures(const Claim& keyword, Alternatives* out) {
  const JsonValue value = at(keyword);
  const auto append = [&](Alternatives ways) {
    std::move(ways.begin(), ways.end(), std::back_inserter(*out));
  };
  switch (keyword.keyword) {
    case K::kAnyOf:
      return out->push_back(Branches(keyword, true));
    case K::kOneOf:
      return append(NotOneOf(keyword));
    case K::kIf:
      return append(If(keyword));
    case K::kRequired:
      for (const JsonValue name : value.children()) out->push_back({HasMember(name, true)});
      return;
    case K::kProperties:
    case K::kPatternProperties:
    case K::kPrefixItems:
      for (const JsonValue part : value.children())
        if (!schemas_.view(part.id()).is_true()) out->push_back({FailingElement(keyword, part)});
      return;
    case K::kDependentSchemas:
      return out->push_back({HasMember(value, false), AsSchema(keyword, value.id())});
    case K::kDependentRequired:
      for (const JsonValue entry : value.children()) {
        if (!entry.is_array()) continue;  // of `dependencies`
        for (const JsonValue name : entry.children())
          out->push_back({HasMember(entry, false), HasMember(name, true)});
      }
      return;
    case K::kItems:
    case K::kAdditionalProperties:
    case K::kPropertyNames:
    case K::kUnevaluatedProperties:
      if (!schemas_.view(value.id()).is_true()) out->push_back({keyword});
      return;
    case K::kUnevaluatedItems: {
      const JsonId schema = value.parent()->id();
      if (schemas_.view(value.id()).is_true()) return;
      if (!EvaluatedItems(schemas_, schema, EvaluatorsOf(value)).has_value()) return;
      return out->push_back({keyword});
    }
    default:
      return out->push_back({keyword});
  }
}

Claim ClaimLogic::AsSchema(const Claim& claim, JsonId at) {
  Claim schema = claim;
  schema.kind = Kind::kSchema;
  schema.keyword = K::kAnnotation;
  schema.at = at;
  return schema;
}

// By the first node with this name, so that claims about equal names are equal.
Claim ClaimLogic::HasMember(const JsonValue& name, bool negated) {
  const JsonId known = names_.try_emplace(NameAt(name), name.id()).first->second;
  return {.kind = Kind::kHas, .negated = negated, .keyword = K::kRequired, .at = known};
}

// The first place of a member that stands with the same name and schema elsewhere, too.
Claim ClaimLogic::FailingElement(const Claim& failing, const JsonValue& at) {
  JsonId element = at.id();
  if (failing.keyword == K::kProperties) {
    const auto key = std::make_pair(at.key(), schemas_.FirstOf(element));
    element = elements_.try_emplace(key, element).first->second;
  }
  return {Kind::kElement, true, failing.keyword, 0, failing.scope, element};
}

std::vector<Claim> ClaimLogic::Branches(const Claim& claim, bool negated) const {
  assert(at(claim).is_array());
  std::vector<Claim> branches;
  branches.reserve(at(claim).size());
  for (const JsonValue branch : at(claim).children()) {
    Claim& schema = branches.emplace_back(AsSchema(claim, branch.id()));
    schema.negated = negated;
    if (negated) schema.watchers = 0;
  }
  return branches;
}

// Where it matters which branches have been seen to hold, every selection of them is a way.
ClaimLogic::Alternatives ClaimLogic::AnyOf(const Claim& claim) {
  assert(claim.keyword == K::kAnyOf && !claim.negated);
  const std::vector<Claim> branches = Branches(claim);
  Alternatives ways;
  if (claim.watchers == 0) {
    for (const Claim& branch : branches) ways.push_back({branch});
    return ways;
  }
  if (branches.size() > kMaxWatchedBranches) {
    Fail(LimitExceeded(at(claim).Pointer(), "branches beside unevaluated keywords",
                       kMaxWatchedBranches, static_cast<std::int64_t>(branches.size())));
    return ways;
  }
  if (!Take(kStepsAWay << branches.size(), claim.at)) return ways;
  for (std::uint32_t selection = 1; selection < 1U << branches.size(); ++selection) {
    std::vector<Claim>& way = ways.emplace_back();
    for (std::size_t i = 0; i < branches.size(); ++i)
      if ((selection >> i & 1U) != 0) way.push_back(branches[i]);
  }
  return ways;
}

// None of them, or two at once.
ClaimLogic::Alternatives ClaimLogic::NotOneOf(const Claim& claim) {
  assert(claim.keyword == K::kOneOf && claim.negated);
  if (at(claim).size() > kMaxNegatedBranches) {
    Fail(LimitExceeded(at(claim).Pointer(), "branches of a oneOf under not", kMaxNegatedBranches,
                       at(claim).size()));
    return {};
  }
  const std::vector<Claim> holds = Branches(claim);
  const std::size_t pairs = holds.size() * holds.size() / 2;
  if (!Take(2 * kStepsAWay * pairs, claim.at)) return {};
  Alternatives ways = {Branches(claim, true)};
  ways.reserve(1 + pairs);
  for (std::size_t i = 0; i < holds.size(); ++i)
    for (std::size_t j = i + 1; j < holds.size(); ++j) ways.push_back({holds[i], holds[j]});
  return ways;
}

// The claim is the keyword `if`; `then` and `else` stand beside it.
ClaimLogic::Alternatives ClaimLogic::If(const Claim& claim) const {
  assert(claim.keyword == K::kIf);
  Claim condition = AsSchema(claim, claim.at);
  condition.negated = false;
  const JsonValue schema = *at(claim).parent();
  if (!claim.negated && IsBareIf(schema)) return {{condition}, {}};
  Alternatives ways;
  const auto add = [&](const Claim& when, const char* branch) {
    const std::optional<JsonValue> then = schema.Find(branch);
    if (!then.has_value() && claim.negated) return;
    ways.push_back({when});
    if (!then.has_value()) return;
    ways.back().push_back(AsSchema(claim, then->id()));
  };
  add(condition, "then");
  add(condition.Negated(), "else");
  return ways;
}

}  // namespace maskd
