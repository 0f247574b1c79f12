// One schema object with its keywords checked and sorted out, before anything is made of it.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_SCHEMA_VIEW_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_SCHEMA_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/reading/dialect.h"
#include "grammar_core/frontend/json_schema/reading/keywords.h"
#include "grammar_core/frontend/json_schema/reading/types.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// A bound from below and above on a count, and the keywords that set it.
struct CountRange {
  std::uint32_t min = 0;
  std::uint32_t max = kUnbounded;
  std::optional<JsonValue> min_at;
  std::optional<JsonValue> max_at;

  // No count is within the bounds: the keywords contradict one another.
  [[nodiscard]] bool empty() const { return min > max; }
};

// The value of a keyword that sets a bound.
std::uint32_t CountOf(const JsonValue& keyword);

// What a schema consists of, in the order of its keywords.
struct SchemaPart {
  // How the part bears on the value.
  enum class Kind : std::uint8_t {
    kLocal,    // its own assertions (once)
    kSchema,   // a schema that must hold as well: allOf, $ref
    kDynamic,  // the schema that `dynamic_name` leads to, or by default `id`: $dynamicRef
    kNot,      // one that must not
    kChoice,   // anyOf, oneOf, if with what stands beside it, an entry of dependentSchemas
  };
  Kind kind;
  // The schema itself, the other schema, or the keyword or entry.
  JsonId id;
  Keyword keyword = Keyword::kAnnotation;  // kChoice
};

// A member's name as far as schemas depend on it.
struct MemberName {
  // Nothing: any name that no schema here declares.
  std::optional<absl::string_view> text = std::nullopt;
  // Whether it matches a key of patternProperties, given by its node.
  std::function<bool(const JsonValue& pattern)> matches = nullptr;
};

// A keyword that says which strings or numbers satisfy it, or, `negated`, which do not.
struct Facet {
  Keyword keyword;
  JsonValue at;
  bool negated = false;
};

// Made by ReadSchemaView(); later rooms read this and never the JSON of keywords they know.
struct SchemaView {
  // The schema `true`: nothing is asserted.
  explicit SchemaView(const JsonValue& schema) : at(schema) {}

  // A keyword of which the schema's own assertions consist; facets are apart. `dependencies` is
  // here as dependentRequired, lists in `items` as prefixItems with additionalItems as items.
  struct Assertion {
    Keyword keyword;
    JsonValue at;
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
  std::optional<JsonValue> pattern_properties;
  std::optional<JsonValue> additional_properties;
  std::optional<JsonValue> property_names;
  // Values of dependentRequired or dependencies.
  std::vector<JsonValue> dependent_required;
  std::optional<JsonValue> unevaluated_properties;
  // The schemas of the first items, and that of the items after them.
  std::vector<JsonId> prefix_items;
  std::optional<JsonValue> items;
  std::optional<JsonValue> contains;
  CountRange contains_count;
  std::optional<JsonValue> unique_items;
  std::optional<JsonValue> unevaluated_items;
  CountRange length;
  CountRange item_count;
  CountRange member_count;
  std::vector<Facet> facets;
  std::optional<JsonValue> ref;
  // $dynamicRef or $recursiveRef; and its name, where it depends on the dynamic scope.
  std::optional<JsonValue> dynamic_ref;
  std::string dynamic_name;

  std::vector<SchemaPart> parts;
  std::vector<Assertion> assertions;
  // Schemas that stand in this one's keywords, its $defs apart.
  std::vector<JsonValue> subschemas;
  std::vector<Note> notes;

  // Whether it speaks of members and says nothing of others, so that options may close it.
  [[nodiscard]] bool closes_by_default() const {
    return !additional_properties.has_value() && (properties.has_value() || required.has_value() ||
                                                  (type.has_value() && (types & kObjectType) != 0));
  }
  // Whether what other schemas evaluate matters to this one.
  [[nodiscard]] bool watches() const {
    return unevaluated_properties.has_value() || unevaluated_items.has_value();
  }
  // Whether it holds for every value.
  [[nodiscard]] bool is_true() const { return parts.empty(); }

  // The schemas that `properties`, `patternProperties` or `additionalProperties`, whichever
  // `keyword` is, has for a member.
  [[nodiscard]] std::vector<JsonId> MemberSchemas(Keyword keyword, const MemberName& name) const;
};

// Whether it is a boolean or has no members.
bool IsBareSchema(const JsonValue& schema);

// Reads one schema, not those inside it. References are not resolved: their parts have the id of
// the reference itself.
// Errors: INVALID_ARGUMENT at the keyword whose value has the wrong shape.
absl::StatusOr<SchemaView> ReadSchemaView(const JsonValue& schema, const Dialect& dialect,
                                          Formats formats);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_SCHEMA_VIEW_H_
