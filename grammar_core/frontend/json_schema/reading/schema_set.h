// All schemas of one document that its root can reach, read and with their references resolved.
//
// Errors   those of ReadSchemaView() and SchemaResources; INVALID_ARGUMENT where a schema leads
//          back to itself through $ref, allOf, not and their like alone, without a part of the
//          instance in between.
// Depth    worklists throughout: a chain of 100,000 references needs no stack.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_SCHEMA_SET_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_SCHEMA_SET_H_

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/json_schema/reading/dialect.h"
#include "grammar_core/frontend/json_schema/reading/equal_schemas.h"
#include "grammar_core/frontend/json_schema/reading/schema_resources.h"
#include "grammar_core/frontend/json_schema/reading/schema_view.h"

namespace maskd {

// Constant once loaded; the number of a schema is that of its JSON node.
class SchemaSet {
 public:
  // Reads from the root along references, each schema once.
  static absl::StatusOr<SchemaSet> Load(SchemaResources resources, const Dialect& dialect,
                                        Formats formats, Budget& budget);

  // `id` must be a schema that was reached.
  [[nodiscard]] const SchemaView& view(JsonId id) const { return views_[index_.at(id)]; }
  [[nodiscard]] JsonValue root() const { return resources_.root(); }
  [[nodiscard]] std::size_t size() const { return index_.size(); }
  [[nodiscard]] const SchemaResources& resources() const { return resources_; }
  // Whether some reference depends on the dynamic scope.
  [[nodiscard]] bool is_dynamic() const { return !dynamic_names_.empty(); }

  // The first of the schemas that say what `id` says.
  [[nodiscard]] JsonId FirstOf(JsonId id) const { return equal_.FirstOf(view(id).at.id()); }

  // Appends what the reading of each schema noted.
  void AddNotes(std::vector<Diagnostic>* warnings) const;

  // Whether `contains` counts as evaluating the items that it matches.
  [[nodiscard]] bool contains_evaluates() const { return dialect_.draft >= SchemaDraft::k2020; }

 private:
  SchemaSet(SchemaResources resources, const Dialect& dialect, Formats formats)
      : resources_(std::move(resources)), dialect_(dialect), formats_(formats) {}

  absl::Status LoadOne(const JsonValue& schema, std::vector<JsonValue>* queue);
  // Whether a schema without keywords has the view of another one now.
  bool ShareBareView(const JsonValue& schema);
  absl::Status ResolveRefsOf(SchemaView* view, std::vector<JsonValue>* queue);
  absl::Status QueueDynamicTargets(std::vector<JsonValue>* queue, Budget& budget) const;
  absl::Status CheckCycles(Budget& budget) const;
  // Adds how long it takes to `steps`.
  [[nodiscard]] std::vector<JsonId> SameInstance(JsonId id, std::int64_t* steps) const;
  [[nodiscard]] absl::Status CycleError(const std::vector<JsonId>& cycle) const;

  SchemaResources resources_;
  Dialect dialect_;
  Formats formats_;
  std::deque<SchemaView> views_;
  absl::flat_hash_map<JsonId, std::uint32_t> index_;
  // The views of the schemas that are written `true`, `false` and {}, by what they are.
  absl::flat_hash_map<JsonType, std::uint32_t> bare_views_;
  // Of all views: what no warning has room for is not kept.
  std::size_t notes_ = 0;
  // The names of references that depend on the dynamic scope.
  std::set<std::string> dynamic_names_;
  EqualSchemas equal_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_SCHEMA_SET_H_
