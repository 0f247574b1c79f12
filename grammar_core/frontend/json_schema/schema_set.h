// All schemas of one document that its root can reach, read and with their references resolved.
//
// Errors   those of ReadSchemaView() and ResolveRef(); INVALID_ARGUMENT where a schema leads back
//          to itself through $ref, allOf or anyOf alone, without a part of the instance in between.
// Depth    worklists throughout: a chain of 100,000 references needs no stack.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_SET_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_SET_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/json_schema/dialect.h"
#include "grammar_core/frontend/json_schema/schema_view.h"

namespace maskd {

// Schemas that must all hold, expanded: the assertions of `locals`, and for each of `any_of`, a
// list of schemas, one of them. Ids are JsonIds. The order is that of the keywords in the source.
struct Conjunction {
  std::vector<JsonId> locals;
  std::vector<JsonId> any_of;

  [[nodiscard]] bool empty() const { return locals.empty() && any_of.empty(); }
};

class SchemaSet {
 public:
  static absl::StatusOr<SchemaSet> Load(const JsonValue& root, const Dialect& dialect,
                                        Budget& budget);

  // `id` must be a schema that was reached.
  [[nodiscard]] const SchemaView& view(JsonId id) const { return views_[index_.at(id)]; }
  [[nodiscard]] JsonValue root() const { return root_; }
  [[nodiscard]] std::size_t size() const { return views_.size(); }

  // Appends what the reading of each schema noted.
  void AddNotes(std::vector<Diagnostic>* warnings) const;

  // Everything that holds when all of `schemas` do, with `known` to begin with.
  [[nodiscard]] Conjunction Expand(const std::vector<JsonId>& schemas,
                                   Conjunction known = {}) const;

 private:
  SchemaSet(const JsonValue& root, const Dialect& dialect) : root_(root), dialect_(dialect) {}

  absl::Status LoadOne(const JsonValue& schema, std::vector<JsonValue>* queue);
  absl::Status ResolveRefOf(SchemaView* view, std::vector<JsonValue>* queue) const;
  absl::Status CheckCycles() const;
  [[nodiscard]] std::vector<JsonId> SameInstance(JsonId id) const;
  [[nodiscard]] absl::Status CycleError(const std::vector<JsonId>& cycle) const;

  JsonValue root_;
  Dialect dialect_;
  std::vector<SchemaView> views_;
  absl::flat_hash_map<JsonId, std::size_t> index_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_SET_H_
