// Whether a known value, of an enum or const, satisfies schemas: decided while compiling, so that a
// dead value never reaches the automaton.
//
// Errors   UNIMPLEMENTED where a keyword that we do not support would decide (unless such keywords
//          are dropped); RESOURCE_EXHAUSTED past limits.source_depth levels of values and anyOfs.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_VALUE_CHECK_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_VALUE_CHECK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json_schema/merged_schema.h"
#include "grammar_core/frontend/json_schema/rules.h"
#include "grammar_core/frontend/json_schema/string_facets.h"

namespace maskd {

class ValueChecker {
 public:
  // All of them must outlive this; `refuse` takes what cannot be decided about a facet, which then
  // holds.
  ValueChecker(const SchemaSet& schemas, Strictness strictness, const Limits& limits,
               Budget& budget, StringFacets& strings, Refuse refuse)
      : schemas_(schemas),
        strictness_(strictness),
        max_depth_(limits.source_depth),
        budget_(budget),
        strings_(strings),
        refuse_(std::move(refuse)) {}

  // Whether `value` satisfies `schema`, whose locals are all there is to it.
  absl::StatusOr<bool> Fits(const JsonValue& value, const MergedSchema& schema) {
    return FitsMerged(value, schema, 0);
  }

 private:
  absl::StatusOr<bool> FitsAll(const JsonValue& value, const Conjunction& all, std::int64_t depth);
  absl::StatusOr<bool> FitsSome(const JsonValue& value, JsonId any_of, std::int64_t depth);
  absl::StatusOr<bool> FitsMerged(const JsonValue& value, const MergedSchema& schema,
                                  std::int64_t depth);
  absl::StatusOr<bool> ChildrenFit(const JsonValue& value, const MergedSchema& schema,
                                   std::int64_t depth);
  absl::Status CheckSupported(const SchemaView& view, TypeSet type) const;
  bool FitsLocal(const JsonValue& value, TypeSet type, const SchemaView& view);
  bool FacetsHold(const JsonValue& value, const MergedSchema& schema);
  bool IsListed(const JsonValue& value, const SchemaView& view);

  const SchemaSet& schemas_;
  const Strictness strictness_;
  const std::int64_t max_depth_;
  Budget& budget_;
  StringFacets& strings_;
  const Refuse refuse_;
  // The equality keys of the values of each enum that was asked for.
  absl::flat_hash_map<JsonId, absl::flat_hash_set<std::string>> enums_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_VALUE_CHECK_H_
