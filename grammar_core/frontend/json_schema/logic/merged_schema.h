// The assertions of several schemas that must all hold, merged keyword by keyword.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_MERGED_SCHEMA_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_MERGED_SCHEMA_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json_schema/logic/claim_logic.h"

namespace maskd {

// What rules of one type (numbers, strings, arrays, objects) read; made by Merge() for one
// conjunction.
struct MergedSchema {
  // The conjunction's own assertions, and their schemas in the same order.
  std::vector<Claim> own;
  std::vector<const SchemaView*> locals;
  // All claims of the conjunction; those on numbers, strings and counts are also merged below.
  std::vector<Claim> atoms;
  TypeSet types = kEveryType;
  CountRange length;
  CountRange item_count;
  CountRange member_count;
  // Each once.
  std::vector<Facet> facets;
  // A place for errors that no keyword has caused.
  JsonValue at;

  // Whose budget the claims of items and members are taken from: each is a look at all of `own`.
  ClaimLogic* logic;

  // Of nothing: every value. Merge() fills it in.
  explicit MergedSchema(ClaimLogic& payer) : at(payer.schemas().root()), logic(&payer) {}

  // What is claimed of the item at `index`, whatever else the array holds. An unevaluatedItems that
  // a contains may lift is left out: see LiftedBy().
  [[nodiscard]] std::vector<Claim> ItemClaims(std::size_t index) const;
  // Items, from the first, that have claims of their own.
  [[nodiscard]] std::size_t prefix_size() const;
  // What is claimed of a member, unless the claim depends on what else the object holds.
  [[nodiscard]] std::vector<Claim> MemberClaims(const MemberName& name) const;

  // Whether a const or an enum lists the values, and those that one of them lists.
  [[nodiscard]] bool has_listed_values() const;
  [[nodiscard]] std::vector<JsonValue> ListedValues() const;
  // Whether a const or enum that must not hold lists null, true or false.
  [[nodiscard]] bool Excludes(JsonType word) const;
  // The names of members that must be there, each once, as nodes; see NameAt().
  [[nodiscard]] std::vector<JsonValue> RequiredNames() const;

  // A schema with an unevaluated keyword, and the own assertions that it sees evaluate.
  struct Watcher {
    Claim own;
    const SchemaView* view;
    // Indices into `own`.
    std::vector<std::size_t> seen;
  };
  std::vector<Watcher> watchers;

  // Whether the item at `index` has been evaluated for `watcher` wherever it stands.
  [[nodiscard]] bool IsEvaluated(const Watcher& watcher, std::size_t index) const;
  // The contains schemas a match of which evaluates an item for `watcher`.
  [[nodiscard]] std::vector<Claim> LiftedBy(const Watcher& watcher) const;
};

// The choices of `all` are left to the caller.
MergedSchema Merge(ClaimLogic& logic, const Conjunction& all);

// Whether the keywords of `by` evaluate a member for the unevaluatedProperties of `watcher`.
bool EvaluatesMember(const SchemaView& by, const SchemaView& watcher, const MemberName& name);

// The schema `at`, said of a part of the value that `by` speaks of.
inline Claim PartHolds(const Claim& by, JsonId at) { return {.scope = by.scope, .at = at}; }

// No value.
inline Claim NoValue() { return {.kind = Claim::Kind::kTypes, .at = kNoType}; }

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_MERGED_SCHEMA_H_
