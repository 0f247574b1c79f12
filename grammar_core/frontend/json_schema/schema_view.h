// One schema object with its keywords checked and sorted out, before anything is made of it.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_VIEW_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/dialect.h"
#include "grammar_core/frontend/json_schema/keywords.h"
#include "grammar_core/frontend/json_schema/types.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// A bound from below and above on a count, and the keywords that set it.
struct CountRange {
  std::uint32_t min = 0;
  std::uint32_t max = kUnbounded;
  std::optional<JsonValue> min_at;
  std::optional<JsonValue> max_at;

  [[nodiscard]] bool empty() const { return min > max; }
};

// What a schema consists of, in the order of its keywords: its own assertions (once), schemas that
// must hold as well (allOf, $ref), lists of which one must (anyOf).
struct SchemaPart {
  enum class Kind : std::uint8_t { kLocal, kSchema, kAnyOf };
  Kind kind;
  // The schema itself, the other schema, or the list.
  JsonId id;
};

// A keyword that says which strings or numbers satisfy it, or, `negated`, which do not.
struct Facet {
  Keyword keyword;
  JsonValue at;
  bool negated = false;
};

struct SchemaView {
  explicit SchemaView(const JsonValue& schema) : at(schema) {}

  // A keyword that we do not support and that asks for something.
  struct Unsupported {
    JsonValue at;
    TypeSet domain;
  };

  // What the grammar does not hold its texts to.
  struct Note {
    JsonValue at;
    std::string message;
  };

  JsonValue at;
  // The schema `false`.
  bool is_false = false;
  TypeSet types = kEveryType;
  std::optional<JsonValue> type;
  std::optional<JsonValue> const_value;
  std::optional<JsonValue> enum_values;
  std::optional<JsonValue> properties;
  std::optional<JsonValue> required;
  std::optional<JsonValue> additional_properties;
  // The schemas of the first items, and that of the items after them.
  std::vector<JsonId> prefix_items;
  std::optional<JsonValue> items;
  CountRange length;
  CountRange item_count;
  std::vector<Facet> facets;
  std::optional<JsonValue> ref;

  std::vector<SchemaPart> parts;
  // Schemas that stand in this one's keywords, its $defs apart.
  std::vector<JsonValue> subschemas;
  std::vector<Unsupported> unsupported;
  std::vector<Note> notes;

  [[nodiscard]] bool closes_by_default() const {
    return !additional_properties.has_value() && (properties.has_value() || required.has_value() ||
                                                  (type.has_value() && (types & kObjectType) != 0));
  }
};

// Reads one schema, not those inside it. A $ref is not resolved: it is in `ref` and in no part.
// Errors: INVALID_ARGUMENT at the keyword whose value has the wrong shape.
absl::StatusOr<SchemaView> ReadSchemaView(const JsonValue& schema, const Dialect& dialect);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_SCHEMA_VIEW_H_
