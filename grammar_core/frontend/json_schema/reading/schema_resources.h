// Which schema a reference names: by $id, anchors and JSON Pointers, in the schema's own text, in
// the documents that were given with it and in the drafts' meta-schemas. Nothing is ever fetched.
//
// Resource  a document's root, or a schema inside it with its own $id: what a URI without
//           fragment names, what pointers and anchors are relative to.
// Errors    INVALID_ARGUMENT where the place does not exist or is no schema, or where a document
//           that was given is no JSON; UNIMPLEMENTED for documents that were not given.
// Cost      a document is looked through for its resources when the first reference needs that, or
//           at once where a resource inside has a $schema.
// Threads   one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_SCHEMA_RESOURCES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_SCHEMA_RESOURCES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/reading/dialect.h"

namespace maskd {

// Owns the documents. Values that it gives are views of them.
class SchemaResources {
 public:
  using ResourceId = std::uint32_t;

  // Takes the schema's document, to which given ones are added. All others must outlive this.
  SchemaResources(JsonDocument document, const std::vector<GrammarSource::Document>& given,
                  const Dialect& dialect, const Limits& limits, Budget& budget);

  // The root of the schema's own text.
  [[nodiscard]] JsonValue root() const { return document_.root(); }
  // The dialect that a schema is written in.
  [[nodiscard]] Dialect DialectOf(const JsonValue& schema) const;

  // The schema that `ref`, the string value of a reference, names.
  absl::StatusOr<JsonValue> Resolve(const JsonValue& ref);

  // The name by which `ref`, which resolves to `target`, may lead elsewhere in another dynamic
  // scope: that of its dynamic anchor, or "" for $recursiveRef; nothing where it may not.
  [[nodiscard]] std::optional<std::string> DynamicName(const JsonValue& ref,
                                                       const JsonValue& target) const;
  // Schemas that are a document or have a URI of their own: DynamicTargets() looks at each.
  [[nodiscard]] std::size_t size() const { return resources_.size(); }
  // Every schema that a reference of that name may lead to.
  [[nodiscard]] std::vector<JsonValue> DynamicTargets(const std::string& name) const;

  // The dynamic scope: each name with the schema that it leads to, which the outermost of the
  // resources entered has decided.
  using Scope = std::map<std::string, JsonId>;
  // `scope` on entering `schema`.
  void Enter(JsonId schema, Scope* scope) const;

 private:
  struct Resource {
    std::string uri;
    JsonId root;
    Dialect dialect;
    absl::flat_hash_map<std::string, JsonId> anchors;
    // $recursiveAnchor is the name "".
    absl::flat_hash_map<std::string, JsonId> dynamic_anchors;
  };

  // Whether the document of `ref` is one resource without anchors.
  bool IsPlain(const JsonValue& ref);
  absl::Status Index(const JsonValue& root, const std::string& uri, const Dialect& dialect);
  void IndexSchema(const JsonValue& schema, ResourceId resource,
                   std::vector<std::pair<JsonValue, ResourceId>>* open);
  ResourceId Open(const JsonValue& schema, ResourceId around);
  [[nodiscard]] ResourceId ResourceOf(JsonValue schema) const;
  absl::StatusOr<ResourceId> FindResource(const std::string& uri, const JsonValue& ref);
  // The text of the document that `uri` names and `ref` leads to first.
  [[nodiscard]] std::optional<absl::string_view> TextOfDocument(const std::string& uri) const;
  absl::StatusOr<ResourceId> AddDocument(absl::string_view text, const std::string& uri,
                                         const JsonValue& ref);
  absl::StatusOr<JsonValue> Follow(const JsonValue& root, absl::string_view pointer,
                                   const JsonValue& ref) const;

  JsonDocument document_;
  const std::vector<GrammarSource::Document>& given_;
  const Dialect dialect_;
  const Limits& limits_;
  Budget& budget_;
  // Whether the schema's own document has been looked through; before, only whether it must be.
  enum class State : std::uint8_t { kUnknown, kPlain, kIndexed };
  State state_ = State::kUnknown;
  std::vector<Resource> resources_;
  absl::flat_hash_map<std::string, ResourceId> by_uri_;
  // By schema; for others that of the schema around them.
  absl::flat_hash_map<JsonId, ResourceId> resource_of_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_SCHEMA_RESOURCES_H_
