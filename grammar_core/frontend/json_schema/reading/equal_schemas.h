// Schemas of one document that say the same, in the same order and words, annotations apart: one of
// them stands for all, so that sets of claims about them are the same sets. A schema that is
// nothing but a reference, or an allOf of one, is the schema it leads to.
//
// Place    the first one stands for the others: errors name its place.
// Threads  constant once made.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_EQUAL_SCHEMAS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_EQUAL_SCHEMAS_H_

#include <deque>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/hash128.h"
#include "grammar_core/frontend/json_schema/reading/schema_resources.h"
#include "grammar_core/frontend/json_schema/reading/schema_view.h"

namespace maskd {

// Found once for all, bottom up: equal schemas are those whose parts are equal.
class EqualSchemas {
 public:
  // Each schema stands for itself.
  EqualSchemas() = default;
  // `views` are all schemas, those without a keyword once for each way to write them; their
  // references are resolved and none of them leads back to itself.
  // None of the references may depend on the dynamic scope.
  EqualSchemas(const std::deque<SchemaView>& views, const SchemaResources& resources);

  // The schema that stands for `schema`.
  [[nodiscard]] JsonId FirstOf(JsonId schema) const {
    const auto known = first_.find(schema);
    return known == first_.end() ? schema : known->second;
  }

 private:
  [[nodiscard]] Hash128 HashOf(const SchemaView& view, const Dialect& dialect) const;
  [[nodiscard]] Hash128 HashOfKeyword(const KeywordRow& row, const Dialect& dialect,
                                      const JsonValue& member, Hash128 hash) const;

  // For each schema that another stands for, that other.
  absl::flat_hash_map<JsonId, JsonId> first_;
  absl::flat_hash_map<JsonId, Hash128> hashes_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_EQUAL_SCHEMAS_H_
