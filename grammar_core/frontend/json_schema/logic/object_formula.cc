// Claims about one object as clauses: a conjunctive normal form over literals that a member
// decides.
//
// An atom is that a member is there (kHas), that a member fails its schema (kElement), or that some
// member violates a keyword such as additionalProperties. ObjectConditions turns the clauses into
// marks that the automaton collects as it reads members, in any order.
//
// A disjunction is multiplied out clause by clause (distributive law), which is why sizes are
// bounded; past a bound there is no formula, and the choice is branched on instead.
//
// Cost    the product of the clauses of the alternatives, at most kMaxClauses; each claim that is
//         looked into and each pair of clauses is taken from the budget.
// Source  JSON Schema Core 2020-12, section 10.3.2; Validation, section 6.5.
#include "grammar_core/frontend/json_schema/logic/object_formula.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

constexpr std::size_t kMaxLiterals = 256;
constexpr int kMaxDepth = 32;

Clauses True() { return {}; }
Clauses False() { return {{}}; }

bool IsAlwaysTrue(const Clause& clause) {
  return std::any_of(clause.begin(), clause.end(), [&](const Claim& literal) {
    return std::find(clause.begin(), clause.end(), literal.Negated()) != clause.end();
  });
}

// Whether the keyword as a whole is true or violated by what members there are.
bool IsLiteral(Keyword keyword) {
  return keyword == K::kAdditionalProperties || keyword == K::kUnevaluatedProperties ||
         keyword == K::kPropertyNames;
}

std::vector<JsonValue> ListOf(const JsonValue& list) {
  std::vector<JsonValue> values;
  for (const JsonValue value : list.children()) values.push_back(value);
  return values;
}

bool SpeaksOfObjects(Keyword keyword) { return (DomainOf(keyword) & kObjectType) != 0; }

}  // namespace

Claim EventOf(const Claim& literal) {
  Claim event = literal;
  event.negated = literal.kind != Kind::kHas;
  event.watchers = 0;
  return event;
}

// x or y.
std::optional<Clauses> ObjectFormula::Either(const Clauses& x, const Clauses& y, JsonId at) {
  if (x.size() * y.size() > kMaxClauses) return std::nullopt;
  Clauses either;
  for (const Clause& from_x : x) {
    for (const Clause& from_y : y) {
      Clause clause = from_x;
      for (const Claim& literal : from_y) logic_.AddOnce(literal, &clause);
      if (clause.size() > kMaxLiterals) return std::nullopt;
      if (!logic_.TakeFor(clause.size() * clause.size(), at)) return std::nullopt;
      if (!IsAlwaysTrue(clause)) either.push_back(std::move(clause));
    }
  }
  return either;
}

// Nothing where the claim is about more than single members, or its formula is too large.
std::optional<Clauses> ObjectFormula::Of(const Claim& claim, int depth) {
  if (depth > kMaxDepth || claim.watchers != 0) return std::nullopt;
  if (!logic_.Take(1, claim.kind == Kind::kTypes ? 0 : claim.at)) return std::nullopt;
  switch (claim.kind) {
    case Kind::kOwn:
      return OfOwn(claim);
    case Kind::kTypes:
      return ((claim.at & kObjectType) != 0) != claim.negated ? True() : False();
    case Kind::kHas:
      return Clauses{{claim}};
    case Kind::kValue:
      if (!claim.negated) return std::nullopt;
      return OfDifferent({logic_.at(claim)}, claim);
    case Kind::kElement:
      if (claim.keyword == K::kPrefixItems) return claim.negated ? False() : True();
      if (claim.keyword != K::kDependentSchemas) return Clauses{{claim}};
      break;
    case Kind::kSchema:
    case Kind::kKeyword:
      break;
  }
  const bool is_one_of = claim.kind == Kind::kKeyword && claim.keyword == K::kOneOf;
  if (is_one_of && !claim.negated) return OfExactlyOne(claim, depth + 1);
  const auto& ways = logic_.AlternativesOf(claim);
  return ways.has_value() ? OfOne(*ways, depth + 1) : OfKeyword(claim);
}

std::optional<Clauses> ObjectFormula::OfAll(const std::vector<Claim>& claims, int depth) {
  Clauses all;
  for (const Claim& claim : claims) {
    std::optional<Clauses> more = Of(claim, depth);
    if (!more.has_value() || all.size() + more->size() > kMaxClauses) return std::nullopt;
    std::move(more->begin(), more->end(), std::back_inserter(all));
  }
  return all;
}

std::optional<Clauses> ObjectFormula::OfOne(const ClaimLogic::Alternatives& ways, int depth) {
  std::optional<Clauses> one = False();
  for (const std::vector<Claim>& way : ways) {
    const std::optional<Clauses> more = OfAll(way, depth);
    if (!more.has_value()) return std::nullopt;
    const JsonId at = way.empty() || way.front().kind == Kind::kTypes ? 0 : way.front().at;
    one = Either(*one, *more, at);
    if (!one.has_value() || one->empty()) return one;
  }
  return one;
}

// One of the branches, and no two.
std::optional<Clauses> ObjectFormula::OfExactlyOne(const Claim& one_of, int depth) {
  assert(one_of.keyword == K::kOneOf && !one_of.negated);
  std::vector<Claim> branches;
  ClaimLogic::Alternatives ways;
  for (const JsonValue branch : logic_.at(one_of).children()) {
    branches.push_back({.scope = one_of.scope, .at = branch.id()});
    ways.push_back({branches.back()});
  }
  if (branches.size() > kMaxClauses) return std::nullopt;
  std::optional<Clauses> all = OfOne(ways, depth);
  for (std::size_t i = 0; i < branches.size(); ++i) {
    for (std::size_t j = i + 1; j < branches.size(); ++j) {
      const auto neither = OfOne({{branches[i].Negated()}, {branches[j].Negated()}}, depth);
      if (!all.has_value() || !neither.has_value()) return std::nullopt;
      all->insert(all->end(), neither->begin(), neither->end());
      if (all->size() > kMaxClauses) return std::nullopt;
    }
  }
  return all;
}

Clauses ObjectFormula::Dependencies(const Claim& own, const JsonValue& keyword) {
  return RuledOut({Kind::kKeyword, true, K::kDependentRequired, 0, own.scope, keyword.id()});
}

// Each way to violate the keyword is ruled out.
Clauses ObjectFormula::RuledOut(const Claim& violated) {
  Clauses all;
  const std::optional<ClaimLogic::Alternatives>& failures = logic_.AlternativesOf(violated);
  assert(violated.negated && failures.has_value());
  for (const std::vector<Claim>& failure : *failures) {
    Clause& clause = all.emplace_back();
    for (const Claim& claim : failure) clause.push_back(claim.Negated());
  }
  return all;
}

// Only the schema's own keywords about objects count; the value is known to be one.
std::optional<Clauses> ObjectFormula::OfOwn(const Claim& own) {
  assert(own.kind == Kind::kOwn && !own.negated);
  const SchemaView& view = logic_.view(own);
  if (view.is_false || (view.types & kObjectType) == 0) return False();
  if (view.unevaluated_properties.has_value()) return std::nullopt;
  Clauses all;
  for (const SchemaView::Assertion& assertion : view.assertions) {
    if (!SpeaksOfObjects(assertion.keyword) || assertion.keyword == K::kType) continue;
    const Claim violated = {Kind::kKeyword,   true, assertion.keyword, 0, own.scope,
                            assertion.at.id()};
    if (logic_.AlternativesOf(violated).has_value())
      for (Clause& clause : RuledOut(violated)) all.push_back(std::move(clause));
    else if (IsLiteral(assertion.keyword))
      all.push_back({violated.Negated()});
    else
      return std::nullopt;
  }
  return all;
}

std::optional<Clauses> ObjectFormula::OfKeyword(const Claim& keyword) {
  if (keyword.kind == Kind::kSchema) return std::nullopt;
  if (!SpeaksOfObjects(keyword.keyword)) return False();
  if (IsLiteral(keyword.keyword)) return Clauses{{keyword}};
  switch (keyword.keyword) {
    case K::kType:
      return (logic_.schemas().view(logic_.at(keyword).parent()->id()).types & kObjectType) != 0
                 ? False()
                 : True();
    case K::kConst:
      return OfDifferent({logic_.at(keyword)}, keyword);
    case K::kEnum:
      return OfDifferent(ListOf(logic_.at(keyword)), keyword);
    default:
      return std::nullopt;
  }
}

// An object differs from another by a member that it lacks, that it has besides, or that differs.
std::optional<Clauses> ObjectFormula::OfDifferent(const std::vector<JsonValue>& values,
                                                  const Claim& by) {
  Clauses all;
  for (const JsonValue& value : values) {
    if (!value.is_object()) continue;
    if (all.size() == kMaxClauses || value.size() > kMaxLiterals / 2) return std::nullopt;
    const Claim differs = {Kind::kKeyword, true, K::kConst, 0, by.scope, value.id()};
    Clause& clause = all.emplace_back(Clause{differs});
    for (const JsonValue member : value.children()) {
      clause.push_back(logic_.HasMember(member, true));
      clause.push_back({Kind::kElement, true, K::kConst, 0, by.scope, member.id()});
    }
  }
  return all;
}

}  // namespace maskd
