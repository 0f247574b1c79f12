// References, resolved without a fetch.
//
// The common schema has references of the form "#/..." and no $id, anchor or $dynamicRef inside: it
// stays kPlain, and a reference is a walk along its pointer. The first other reference, or a
// resource inside with a $schema, has the whole document indexed: a worklist over the subschemas
// notes each resource (base URI, root) and its anchors. A document that a URI names is added and
// indexed when it is first asked for.
//
// Invariant  once indexed, ResourceOf() ends: each schema has an ancestor that is a resource's
//            root.
// Cost       linear in the document, once; then a hash look-up and a pointer for each reference.
// Source     JSON Schema Core 2020-12, sections 8.2 ($id, $anchor, $dynamicAnchor) and 9 (loading);
//            RFC 6901 (JSON Pointer); RFC 3986 (URI), see uri.h.
#include "grammar_core/frontend/json_schema/reading/schema_resources.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/reading/keywords.h"
#include "grammar_core/frontend/json_schema/reading/standard_schemas.h"
#include "grammar_core/frontend/json_schema/reading/uri.h"

namespace maskd {
namespace {

// Nothing where a '~' is not followed by 0 or 1.
std::optional<std::string> TokenDecoded(absl::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out.push_back(token[i]);
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    out.push_back(token[i] == '0' ? '~' : '/');
  }
  return out;
}

// Items that are passed on the way to another for a unit of work.
constexpr std::int64_t kItemsAUnit = 128;

// One step of a JSON Pointer, and how many items it passed. An index has no leading zeros (RFC
// 6901, section 4).
std::optional<JsonValue> StepInto(const JsonValue& value, const std::string& token,
                                  std::int64_t* passed) {
  if (!value.is_array()) return value.Find(token);
  std::uint32_t index = 0;
  const bool canonical = absl::SimpleAtoi(token, &index) && absl::StrCat(index) == token;
  if (!canonical || index >= value.size()) return std::nullopt;
  *passed += index;
  return value.Nth(index);
}

// `pointer` begins with '/'.
std::optional<JsonValue> At(JsonValue value, absl::string_view pointer, std::int64_t* passed) {
  assert(!pointer.empty() && pointer.front() == '/');
  for (const absl::string_view token : absl::StrSplit(pointer.substr(1), '/')) {
    const std::optional<std::string> key = TokenDecoded(token);
    if (!key.has_value()) return std::nullopt;
    const std::optional<JsonValue> next = StepInto(value, *key, passed);
    if (!next.has_value()) return std::nullopt;
    value = *next;
  }
  return value;
}

// The $id, unless it stands beside a $ref that stands alone.
std::string IdOf(const JsonValue& schema, const Dialect& dialect) {
  if (dialect.ref_stands_alone() && schema.Find("$ref").has_value()) return "";
  return std::string(schema.FindText(dialect.draft == SchemaDraft::k4 ? "id" : "$id"));
}

// Whether the member may make a resource or an anchor.
bool Names(absl::string_view key, const JsonValue& value) {
  if (key == "$recursiveAnchor") return true;
  if (!value.is_string()) return false;
  return key == "$id" || key == "id" || key == "$anchor" || key == "$dynamicAnchor";
}

// Whether a resource inside may name a draft of its own.
bool HasInnerDialect(const JsonValue& root) {
  for (JsonId id = 1; id < root.subtree_end(); ++id) {
    const JsonValue value = root.at(id);
    if (value.key() != "$schema" || !value.is_string()) continue;
    const JsonValue around = *value.parent();
    if (around.id() != 0 && (around.Find("$id").has_value() || around.Find("id").has_value()))
      return true;
  }
  return false;
}

}  // namespace

// A budget that ends in here tells it again when it is next asked.
SchemaResources::SchemaResources(JsonDocument document,
                                 const std::vector<GrammarSource::Document>& given,
                                 const Dialect& dialect, const Limits& limits, Budget& budget)
    : document_(std::move(document)),
      given_(given),
      dialect_(dialect),
      limits_(limits),
      budget_(budget) {
  if (!HasInnerDialect(root())) return;
  state_ = State::kIndexed;
  Index(root(), "", dialect_).IgnoreError();
}

// Only the root's own $id, if any, and references within the document: nothing to look through.
bool SchemaResources::IsPlain(const JsonValue& ref) {
  if (state_ == State::kUnknown) {
    state_ = State::kPlain;
    const JsonValue top = root();
    for (JsonId id = 1; id < top.subtree_end(); ++id) {
      const JsonValue value = top.at(id);
      if (!Names(value.key(), value) ||
          (value.parent()->id() == 0 && value.key() != "$dynamicAnchor" &&
           value.key() != "$recursiveAnchor")) {
        continue;
      }
      state_ = State::kUnknown;
      break;
    }
  }
  return state_ == State::kPlain && absl::StartsWith(ref.text(), "#") &&
         (ref.text().size() == 1 || ref.text()[1] == '/');
}

// Finds the resource by the URI without fragment, then an anchor or a pointer inside it.
absl::StatusOr<JsonValue> SchemaResources::Resolve(const JsonValue& ref) {
  UriReference to = SplitFragment(ref.text());
  JsonValue target = root();
  if (!IsPlain(ref)) {
    if (state_ != State::kIndexed) {
      state_ = State::kIndexed;
      if (absl::Status status = Index(root(), "", dialect_); !status.ok()) return status;
    }
    const std::string& base = resources_[ResourceOf(*ref.parent())].uri;
    const absl::StatusOr<ResourceId> found = FindResource(ResolveUri(base, to.document), ref);
    if (!found.ok()) return found.status();
    const Resource& resource = resources_[*found];
    target = root().at(resource.root);
    const auto anchor = resource.anchors.find(to.fragment);
    if (anchor != resource.anchors.end()) return root().at(anchor->second);
  }
  const std::optional<std::string> pointer = PercentDecoded(to.fragment);
  if (!pointer.has_value()) {
    return InvalidAt(ref.Pointer(),
                     absl::StrCat("\"", ref.text(), "\" is not well percent-encoded"));
  }
  return Follow(target, *pointer, ref);
}

absl::StatusOr<JsonValue> SchemaResources::Follow(const JsonValue& root, absl::string_view pointer,
                                                  const JsonValue& ref) const {
  if (pointer.empty()) return root;
  std::int64_t passed = 0;
  const std::optional<JsonValue> target =
      pointer.front() == '/' ? At(root, pointer, &passed) : std::nullopt;
  if (absl::Status status = budget_.Spend(passed / kItemsAUnit); !status.ok()) return status;
  if (!target.has_value()) {
    return InvalidAt(
        ref.Pointer(),
        absl::StrCat("\"", ref.text(), "\" names nothing in this ",
                     pointer.front() == '/' ? "schema" : "schema: there is no such anchor"));
  }
  if (!target->is_object() && !target->is_bool())
    return InvalidAt(ref.Pointer(), absl::StrCat("\"", ref.text(), "\" names no schema"));
  return *target;
}

absl::StatusOr<SchemaResources::ResourceId> SchemaResources::FindResource(const std::string& uri,
                                                                          const JsonValue& ref) {
  const auto known = by_uri_.find(uri);
  if (known != by_uri_.end()) return known->second;
  const std::optional<absl::string_view> text = TextOfDocument(uri);
  if (text.has_value()) return AddDocument(*text, uri, ref);
  return UnsupportedAt(
      ref.Pointer(), ref.key(),
      absl::StrCat("\"", ref.text(), "\" is neither in this schema nor in a document given with it",
                   uri.empty() || uri == SplitFragment(ref.text()).document
                       ? ""
                       : absl::StrCat("; its document is \"", uri, "\"")));
}

// Given documents come before the drafts' own.
std::optional<absl::string_view> SchemaResources::TextOfDocument(const std::string& uri) const {
  for (const GrammarSource::Document& document : given_)
    if (SplitFragment(document.uri).document == uri) return document.text;
  return FindStandardSchema(uri);
}

absl::StatusOr<SchemaResources::ResourceId> SchemaResources::AddDocument(absl::string_view text,
                                                                         const std::string& uri,
                                                                         const JsonValue& ref) {
  const absl::StatusOr<JsonValue> added = document_.Add(text, uri, limits_);
  if (!added.ok()) return added.status();
  if (!added->is_object() && !added->is_bool())
    return InvalidAt(added->Pointer(), "a schema must be an object or a boolean");
  std::vector<Diagnostic> unheard;
  absl::StatusOr<Dialect> dialect = ReadDialect(*added, given_, limits_, &unheard);
  if (!dialect.ok()) return dialect.status();
  if (!dialect->named) dialect = DialectOf(*ref.parent());
  const auto resource = static_cast<ResourceId>(resources_.size());
  if (absl::Status status = Index(*added, uri, *dialect); !status.ok()) return status;
  return resource;
}

// Notes all resources and anchors in one document, from its root down.
absl::Status SchemaResources::Index(const JsonValue& root, const std::string& uri,
                                    const Dialect& dialect) {
  assert(root.is_object() || root.is_bool());
  const auto first = static_cast<ResourceId>(resources_.size());
  resources_.push_back({uri, root.id(), dialect, {}, {}});
  resource_of_[root.id()] = first;
  by_uri_.try_emplace(uri, first);
  const std::string id = SplitFragment(IdOf(root, dialect)).document;
  if (!id.empty()) {
    resources_[first].uri = ResolveUri(uri, id);
    by_uri_.try_emplace(resources_[first].uri, first);
  }
  std::vector<std::pair<JsonValue, ResourceId>> open = {{root, first}};
  while (!open.empty()) {
    const auto [schema, around] = open.back();
    open.pop_back();
    if (absl::Status status = budget_.Spend(); !status.ok()) return status;
    if (schema.is_object()) IndexSchema(schema, Open(schema, around), &open);
  }
  return absl::OkStatus();
}

// The resource that `schema` belongs to: one of its own where it has an $id.
SchemaResources::ResourceId SchemaResources::Open(const JsonValue& schema, ResourceId around) {
  const Dialect outer = resources_[around].dialect;
  const std::string id = SplitFragment(IdOf(schema, outer)).document;
  if (id.empty() || schema.id() == resources_[around].root) return around;
  std::vector<Diagnostic> unheard;
  const absl::StatusOr<Dialect> own = ReadDialect(schema, given_, limits_, &unheard);
  const Dialect dialect = own.ok() && own->named ? *own : outer;
  const auto resource = static_cast<ResourceId>(resources_.size());
  resources_.push_back({ResolveUri(resources_[around].uri, id), schema.id(), dialect, {}, {}});
  by_uri_.try_emplace(resources_.back().uri, resource);
  return resource;
}

// Notes the anchors of one schema. The first of two equal anchors counts.
void SchemaResources::IndexSchema(const JsonValue& schema, ResourceId id,
                                  std::vector<std::pair<JsonValue, ResourceId>>* open) {
  resource_of_[schema.id()] = id;
  Resource& resource = resources_[id];
  if (const auto anchor = std::string(schema.FindText("$anchor")); !anchor.empty())
    resource.anchors.try_emplace(anchor, schema.id());
  if (const auto anchor = std::string(schema.FindText("$dynamicAnchor")); !anchor.empty()) {
    resource.anchors.try_emplace(anchor, schema.id());
    resource.dynamic_anchors.try_emplace(anchor, schema.id());
  }
  const std::optional<JsonValue> recursive = schema.Find("$recursiveAnchor");
  if (recursive.has_value() && recursive->type() == JsonType::kTrue && schema.id() == resource.root)
    resource.dynamic_anchors.try_emplace("", schema.id());
  if (resource.dialect.draft <= SchemaDraft::k7) {
    const std::string anchor = SplitFragment(IdOf(schema, resource.dialect)).fragment;
    if (!anchor.empty()) resource.anchors.try_emplace(anchor, schema.id());
  }
  for (const JsonValue member : schema.children()) {
    const KeywordRow* row = FindKeyword(member.key(), resource.dialect);
    if (row == nullptr) continue;
    const bool defines = member.key() == "$defs" || member.key() == "definitions";
    for (const JsonValue& child : SubschemasOf(defines ? Shape::kSchemaMap : row->shape, member))
      open->emplace_back(child, id);
  }
}

// The resource of the nearest schema around `schema` that was indexed.
SchemaResources::ResourceId SchemaResources::ResourceOf(JsonValue schema) const {
  for (;;) {
    const auto known = resource_of_.find(schema.id());
    if (known != resource_of_.end()) return known->second;
    schema = *schema.parent();
  }
}

Dialect SchemaResources::DialectOf(const JsonValue& schema) const {
  return state_ == State::kIndexed ? resources_[ResourceOf(schema)].dialect : dialect_;
}

// A reference is dynamic only where its target is itself a dynamic anchor of that name (Core,
// section 8.2.3.2). $recursiveRef is the same with an empty name.
std::optional<std::string> SchemaResources::DynamicName(const JsonValue& ref,
                                                        const JsonValue& target) const {
  if (state_ != State::kIndexed) return std::nullopt;
  const Resource& resource = resources_[ResourceOf(target)];
  const std::string name = ref.key() == "$recursiveRef" ? "" : SplitFragment(ref.text()).fragment;
  const auto anchor = resource.dynamic_anchors.find(name);
  const bool dynamic = anchor != resource.dynamic_anchors.end() && anchor->second == target.id();
  return dynamic ? std::make_optional(name) : std::nullopt;
}

std::vector<JsonValue> SchemaResources::DynamicTargets(const std::string& name) const {
  std::vector<JsonValue> targets;
  for (const Resource& resource : resources_) {
    const auto anchor = resource.dynamic_anchors.find(name);
    if (anchor != resource.dynamic_anchors.end()) targets.push_back(root().at(anchor->second));
  }
  return targets;
}

// The outermost resource with an anchor wins, so what is in `scope` already stays.
void SchemaResources::Enter(JsonId schema, Scope* scope) const {
  if (state_ != State::kIndexed) return;
  for (const auto& [name, at] : resources_[ResourceOf(root().at(schema))].dynamic_anchors)
    scope->try_emplace(name, at);
}

}  // namespace maskd
