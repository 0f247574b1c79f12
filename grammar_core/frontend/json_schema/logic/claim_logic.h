// What a claim means in terms of others.
//
// Depth    worklists; a schema that leads back to itself without a part of the instance in between
//          is refused by SchemaSet.
// Threads  one thread: numbers of watchers and scopes are given out on the way.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CLAIM_LOGIC_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CLAIM_LOGIC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/json_schema/logic/claim.h"
#include "grammar_core/frontend/json_schema/reading/schema_set.h"

namespace maskd {

// One for each grammar; what it has taken apart it remembers.
class ClaimLogic {
 public:
  // Lists of claims, one list of which is true as a whole.
  using Alternatives = std::vector<std::vector<Claim>>;

  // Claims that are compared, copied or looked at one after another, for one step of Take().
  static constexpr std::size_t kClaimsAStep = 16;
  // Bytes of the place of a rule or an error at most: what lies deeper is placed at what is around
  // it, so that many deep rules do not hold many long pointers.
  static constexpr std::size_t kMaxPlaceBytes = 200;

  // Both must outlive this.
  ClaimLogic(const SchemaSet& schemas, Budget& budget)
      : schemas_(schemas), budget_(budget), watchers_(1), scopes_(1) {}

  // The first error, with its place: a claim has too many alternatives, or the budget is spent.
  // What is said from then on is not all.
  [[nodiscard]] const absl::Status& status() const { return status_; }

  // Takes `steps` of the budget, each of which is a claim that is taken apart, or as long as that;
  // false, for good, once there is an error. Whoever goes through claims in pairs pays here.
  bool Take(std::size_t steps, JsonId at);
  // Takes what it costs to go through `claims` of them.
  bool TakeFor(std::size_t claims, JsonId at) { return Take(1 + claims / kClaimsAStep, at); }
  // Appends what is not among them, and takes what the search costs.
  void AddOnce(const Claim& claim, std::vector<Claim>* claims);

  // The schemas that claims name by their numbers.
  [[nodiscard]] const SchemaSet& schemas() const { return schemas_; }
  [[nodiscard]] const SchemaView& view(const Claim& own) const { return schemas_.view(own.at); }
  [[nodiscard]] JsonValue at(const Claim& claim) const { return schemas_.root().at(claim.at); }

  // All that holds when `claims` do, with `known` to begin with.
  Conjunction Expand(const std::vector<Claim>& claims, Conjunction known = {});

  // What `claim` stands for; nothing for atoms and own assertions, which stand for themselves. It
  // lives as long as this: claims are met in many conjunctions, and taken apart once.
  const std::optional<Alternatives>& AlternativesOf(const Claim& claim);

  // `claim`, of the first of the schemas that say the same.
  [[nodiscard]] Claim First(Claim claim) const {
    if (claim.kind == Claim::Kind::kSchema) claim.at = schemas_.FirstOf(claim.at);
    return claim;
  }

  // That an object has a member of the name at `name`, or has none. Equal for equal names.
  Claim HasMember(const JsonValue& name, bool negated);

  // Whether the values that violate `schema` can be said: not where it, or a schema inside it, has
  // uniqueItems or an unevaluated keyword that depends on more than single members or items.
  bool IsDeniable(JsonId schema);

  // For an unevaluated keyword that a claim says is violated: see FindSureEvaluators().
  [[nodiscard]] const std::vector<JsonId>& EvaluatorsOf(const JsonValue& keyword) const {
    return *evaluators_.at(keyword.id());
  }

  // The dynamic scope, as in Claim, inside `schema`, which is entered from `scope`.
  std::uint16_t ScopeIn(JsonId schema, std::uint16_t scope);
  // The schema that a kDynamic part of `view` leads to in `scope`.
  [[nodiscard]] JsonId DynamicTarget(const SchemaView& view, const SchemaPart& part,
                                     std::uint16_t scope) const;

  // The schemas, as kSchema claims, that see what a claim with these `watchers` evaluates.
  [[nodiscard]] const std::vector<Claim>& WatchersOf(const Claim& claim) const {
    return watchers_[claim.watchers];
  }

 private:
  // Whether `claim` is a choice for certain, so that it need not be looked into yet.
  [[nodiscard]] bool IsOpenChoice(const Claim& claim) const;
  std::optional<Alternatives> FindAlternatives(const Claim& claim);
  // What the schema of `claim`, which holds, consists of.
  std::vector<Claim> PartsOf(const Claim& claim);
  std::optional<Alternatives> SchemaFailures(const Claim& claim);
  void AppendViewFailures(const Claim& claim, std::vector<Claim>* open, Alternatives* out);
  void AppendKeywordFailures(const Claim& keyword, Alternatives* out);
  // Whether the violations of the unevaluated keywords of `view` cannot be said.
  [[nodiscard]] bool HidesUnevaluated(const SchemaView& view);
  [[nodiscard]] bool HidesWhatIsUnevaluated(const JsonValue& keyword, TypeSet type);
  // That the element `at` of the keyword `failing` fails.
  Claim FailingElement(const Claim& failing, const JsonValue& at);
  // Whether `schema` holds wherever `known` does, as far as that is seen at once.
  bool Follows(const Claim& schema, const Conjunction& known);
  Alternatives AnyOf(const Claim& claim);
  Alternatives NotOneOf(const Claim& claim);
  Alternatives If(const Claim& claim) const;
  void Fail(absl::Status error);
  // The schemas in the value of the keyword of `claim`, said of the same value as that.
  static Claim AsSchema(const Claim& claim, JsonId at);
  std::uint16_t FindScopeIn(JsonId schema, std::uint16_t scope);
  [[nodiscard]] std::vector<Claim> Branches(const Claim& claim, bool negated = false) const;
  std::uint16_t Watched(const Claim& own);

  const SchemaSet& schemas_;
  Budget& budget_;
  // Steps that are not a unit yet.
  std::size_t steps_ = 0;
  absl::node_hash_map<Claim, std::optional<Alternatives>> alternatives_;
  // By number; 0 is none.
  std::vector<std::vector<Claim>> watchers_;
  absl::flat_hash_map<Claim, std::uint16_t> watched_;
  // By number; 0 is that outside of the root.
  std::vector<SchemaResources::Scope> scopes_;
  std::map<SchemaResources::Scope, std::uint16_t> scope_ids_;
  // By schema and the scope that it is entered from.
  absl::flat_hash_map<std::pair<JsonId, std::uint16_t>, std::uint16_t> entered_;
  // The node by which a name is known.
  absl::flat_hash_map<absl::string_view, JsonId> names_;
  // By name and schema, the first element of a `properties`.
  absl::flat_hash_map<std::pair<absl::string_view, JsonId>, JsonId> elements_;
  absl::flat_hash_map<JsonId, bool> deniable_;
  // By unevaluated keyword; none where it depends on the value.
  absl::node_hash_map<JsonId, std::optional<std::vector<JsonId>>> evaluators_;
  absl::Status status_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CLAIM_LOGIC_H_
