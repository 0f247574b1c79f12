// What a claim carries with it: who watches, and the dynamic scope.
//
// Two things of a schema are not propositional. Unevaluated keywords see which other schemas hold,
// so a claim carries the schemas that watch it; $dynamicRef looks at the schemas entered, so it
// carries a scope. Both are numbers into tables here, to keep claims small and comparable.
//
// Invariant  a number of watchers or of a scope is always an index of its table.
// Cost       a list of watchers and a scope hold all that those outside of them hold, so what is
//            kept is taken from the budget entry by entry.
// Source     JSON Schema Core 2020-12, sections 11 (unevaluated) and 8.2.3.2 ($dynamicRef).
#include <cassert>
#include <utility>

#include "absl/container/flat_hash_set.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/logic/claim_logic.h"
#include "grammar_core/frontend/json_schema/logic/sure_evaluators.h"

namespace maskd {
namespace {

constexpr std::size_t kMaxWatchers = 10'000;
constexpr std::size_t kMaxScopes = 10'000;
// Steps of ClaimLogic::Take() for each watcher and each anchor that is kept, and for each schema
// that may evaluate something.
constexpr std::size_t kStepsAWatcher = 4;
constexpr std::size_t kStepsAnAnchor = 32;
constexpr std::size_t kStepsALook = 4;

}  // namespace

// Which of its parts hold may decide what it sees evaluated.
bool ClaimLogic::HidesUnevaluated(const SchemaView& view) {
  const auto hides = [&](const std::optional<JsonValue>& keyword, TypeSet type) {
    return keyword.has_value() && !schemas_.view(keyword->id()).is_true() &&
           HidesWhatIsUnevaluated(*keyword, type);
  };
  return hides(view.unevaluated_properties, kObjectType) ||
         hides(view.unevaluated_items, kArrayType);
}

// Found once a keyword; EvaluatorsOf() hands out what was found.
bool ClaimLogic::HidesWhatIsUnevaluated(const JsonValue& keyword, TypeSet type) {
  const auto known = evaluators_.find(keyword.id());
  if (known != evaluators_.end()) return !known->second.has_value();
  const auto always_holds = [&](JsonId schema) {
    const std::optional<Alternatives>& failures = AlternativesOf(SchemaFails(schema));
    return failures.has_value() && failures->empty();
  };
  const auto pay = [&](JsonId schema) { return Take(kStepsALook, schema); };
  auto found = FindSureEvaluators(schemas_, keyword.parent()->id(), type, always_holds, pay);
  return !evaluators_.emplace(keyword.id(), std::move(found)).first->second.has_value();
}

// A walk over the schema and all that it applies, to the same value or to a part of it.
bool ClaimLogic::IsDeniable(JsonId schema) {
  const auto [known, is_new] = deniable_.try_emplace(schema, true);
  if (!is_new) return known->second;
  std::vector<JsonId> open = {schema};
  absl::flat_hash_set<JsonId> seen = {schema};
  bool deniable = true;
  while (deniable && !open.empty()) {
    const SchemaView& view = schemas_.view(open.back());
    open.pop_back();
    if (!Take(1 + view.subschemas.size() + view.parts.size(), schema)) return false;
    deniable = !view.unique_items.has_value() && !HidesUnevaluated(view);
    for (const JsonValue& child : view.subschemas)
      if (seen.insert(child.id()).second) open.push_back(child.id());
    for (const SchemaPart& part : view.parts) {
      const bool schema_itself = part.kind == SchemaPart::Kind::kSchema;
      if (schema_itself && seen.insert(part.id).second) open.push_back(part.id);
      deniable &= part.kind != SchemaPart::Kind::kDynamic;
    }
  }
  deniable_[schema] = deniable;
  return deniable;
}

// Past the limit the compilation fails; till it stops, the scope outside is as good as any.
std::uint16_t ClaimLogic::ScopeIn(JsonId schema, std::uint16_t scope) {
  if (!schemas_.is_dynamic()) return 0;
  const auto [entered, is_new] = entered_.try_emplace({schema, scope}, scope);
  if (is_new) entered->second = FindScopeIn(schema, scope);
  return entered->second;
}

std::uint16_t ClaimLogic::FindScopeIn(JsonId schema, std::uint16_t scope) {
  assert(scope < scopes_.size());
  if (!Take(1 + scopes_[scope].size(), schema)) return scope;
  SchemaResources::Scope inside = scopes_[scope];
  schemas_.resources().Enter(schema, &inside);
  if (inside == scopes_[scope]) return scope;
  if (const auto known = scope_ids_.find(inside); known != scope_ids_.end()) return known->second;
  if (scopes_.size() > kMaxScopes) {
    Fail(LimitExceeded(schemas_.root().at(schema).Pointer(), "dynamic scopes", kMaxScopes,
                       static_cast<std::int64_t>(scopes_.size())));
    return scope;
  }
  if (!Take(kStepsAnAnchor * inside.size(), schema)) return scope;
  const auto id = static_cast<std::uint16_t>(scopes_.size());
  scope_ids_.emplace(inside, id);
  scopes_.push_back(std::move(inside));
  return id;
}

JsonId ClaimLogic::DynamicTarget(const SchemaView& view, const SchemaPart& part,
                                 std::uint16_t scope) const {
  assert(scope < scopes_.size());
  const auto target = scopes_[scope].find(view.dynamic_name);
  return target == scopes_[scope].end() ? part.id : target->second;
}

// The number of the watchers of `own` and `own` itself. Past the limit as in ScopeIn().
std::uint16_t ClaimLogic::Watched(const Claim& own) {
  assert(own.watchers < watchers_.size());
  if (const auto known = watched_.find(own); known != watched_.end()) return known->second;
  if (watchers_.size() > kMaxWatchers) {
    Fail(LimitExceeded(at(own).Pointer(), "schemas with unevaluated keywords", kMaxWatchers,
                       static_cast<std::int64_t>(watchers_.size())));
    return own.watchers;
  }
  if (!Take(kStepsAWatcher * watchers_[own.watchers].size(), own.at)) return own.watchers;
  const auto id = static_cast<std::uint16_t>(watchers_.size());
  watched_.emplace(own, id);
  std::vector<Claim> watchers;
  watchers.reserve(watchers_[own.watchers].size() + 1);
  watchers = watchers_[own.watchers];
  watchers.push_back(own);
  watchers_.push_back(std::move(watchers));
  return id;
}

}  // namespace maskd
