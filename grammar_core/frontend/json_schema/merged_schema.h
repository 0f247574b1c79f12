// The assertions of several schemas that must all hold, merged keyword by keyword.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_MERGED_SCHEMA_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_MERGED_SCHEMA_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json_schema/schema_set.h"

namespace maskd {

struct MergedSchema {
  std::vector<const SchemaView*> locals;
  TypeSet types = kEveryType;
  CountRange length;
  CountRange item_count;
  // Each once.
  std::vector<Facet> facets;

  // The schemas that the item at `index` must satisfy.
  [[nodiscard]] std::vector<JsonId> ItemSchemas(std::size_t index) const;
  // Those of every item from prefix_size() on.
  [[nodiscard]] std::vector<JsonId> LaterItemSchemas() const { return ItemSchemas(prefix_size()); }
  // Items, from the first, that have schemas of their own.
  [[nodiscard]] std::size_t prefix_size() const;

  // The schemas that the member named `name` must satisfy.
  [[nodiscard]] std::vector<JsonId> MemberSchemas(absl::string_view name) const;
  // Those of every member that no `properties` names.
  [[nodiscard]] std::vector<JsonId> OtherMemberSchemas() const;
};

MergedSchema Merge(const SchemaSet& schemas, const std::vector<JsonId>& locals);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_MERGED_SCHEMA_H_
