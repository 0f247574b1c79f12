// Equal schemas, found by a hash from the leaves up.
//
// A schema stands before those inside it in the document, so in descending order of ids each schema
// finds the hashes of its subschemas ready. Then schemas that only name another (a $ref alone, an
// allOf of one) are followed to the one they name; no chain of names is a circle, as SchemaSet has
// refused those.
//
// Invariant  FirstOf() is idempotent: the schema that stands for others stands for itself.
// Cost       linear in the text, 128-bit hashes. Equal hashes are taken for equal schemas.
#include "grammar_core/frontend/json_schema/reading/equal_schemas.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <vector>

namespace maskd {
namespace {

// The schema that `view` is another name of, or nothing.
std::optional<JsonId> TargetOf(const SchemaView& view) {
  const bool only = view.parts.size() == 1 && view.parts.front().kind == SchemaPart::Kind::kSchema;
  return only ? std::make_optional(view.parts.front().id) : std::nullopt;
}

// Whether `part` is one of a list of schemas in a keyword of `view`, and not what it refers to.
bool IsWithin(const SchemaView& view, const SchemaPart& part) {
  const std::optional<JsonValue> list = view.at.at(part.id).parent();
  const std::optional<JsonValue> around = list.has_value() ? list->parent() : std::nullopt;
  return around.has_value() && around->id() == view.at.id() && list->is_array();
}

Hash128 HashOfDialect(const Dialect& dialect) {
  Hash128 hash = Mix({}, static_cast<std::uint64_t>(dialect.draft));
  hash = Mix(hash, dialect.left_out);
  return Mix(hash, (dialect.named ? 1 : 0) + (dialect.format_assertion ? 2 : 0));
}

// The view that all schemas without keywords have in common.
Hash128 HashOfBare(const JsonValue& schema, const Dialect& dialect) {
  return Mix(HashOfDialect(dialect), static_cast<std::uint64_t>(schema.type()));
}

}  // namespace

EqualSchemas::EqualSchemas(const std::deque<SchemaView>& views, const SchemaResources& resources) {
  std::vector<const SchemaView*> order;
  order.reserve(views.size());
  hashes_.reserve(views.size());
  for (const SchemaView& view : views) order.push_back(&view);
  // A schema stands before those inside it.
  std::sort(order.begin(), order.end(),
            [](const auto* x, const auto* y) { return x->at.id() > y->at.id(); });
  for (const SchemaView* view : order)
    hashes_.emplace(view->at.id(), HashOf(*view, resources.DialectOf(view->at)));
  assert(hashes_.size() == views.size());
  absl::flat_hash_map<Hash128, JsonId> firsts;
  firsts.reserve(views.size());
  for (const SchemaView* view : order) firsts[hashes_.at(view->at.id())] = view->at.id();
  absl::flat_hash_map<JsonType, JsonId> bare;
  for (const SchemaView* view : order)
    if (IsBareSchema(view->at)) bare.emplace(view->at.type(), view->at.id());
  absl::flat_hash_map<JsonId, JsonId> targets;
  for (const SchemaView* view : order) {
    const auto target = TargetOf(*view);
    if (!target.has_value()) continue;
    const JsonValue named = view->at.at(*target);
    targets.emplace(view->at.id(), IsBareSchema(named) ? bare.at(named.type()) : named.id());
  }
  std::vector<JsonId> names;
  for (const SchemaView* view : order) {
    names.assign(1, view->at.id());
    while (targets.contains(names.back()) && !first_.contains(names.back()))
      names.push_back(targets.at(names.back()));
    const JsonId end = FirstOf(names.back());
    const JsonId first = first_.contains(names.back()) ? end : firsts.at(hashes_.at(end));
    for (const JsonId name : names)
      if (name != first) first_.insert_or_assign(name, first);
  }
  hashes_.clear();
}

// A reference is the place that it leads to: what stands there may not have been hashed yet.
Hash128 EqualSchemas::HashOf(const SchemaView& view, const Dialect& dialect) const {
  if (IsBareSchema(view.at)) return HashOfBare(view.at, dialect);
  Hash128 hash = HashOfDialect(dialect);
  if (const auto target = TargetOf(view); target.has_value()) return Mix(Mix(hash, 1), *target);
  hash = Mix(hash, static_cast<std::uint64_t>(view.at.type()));
  for (const JsonValue member : view.at.children()) {
    const KeywordRow* row = FindKeyword(member.key(), dialect);
    if (row != nullptr && row->keyword != Keyword::kAnnotation)
      hash = HashOfKeyword(*row, dialect, member, MixBytes(hash, member.key()));
    else if (member.key() == "nullable" || member.key() == "additionalItems")
      hash = MixBytes(MixBytes(hash, member.key()), member.Compact());
  }
  for (const SchemaPart& part : view.parts)
    if (part.kind == SchemaPart::Kind::kSchema && !IsWithin(view, part)) hash = Mix(hash, part.id);
  return hash;
}

// Subschemas count by their hashes, all else by its text. The keys of a map of schemas count too.
Hash128 EqualSchemas::HashOfKeyword(const KeywordRow& row, const Dialect& dialect,
                                    const JsonValue& member, Hash128 hash) const {
  if (row.keyword == Keyword::kRef) return hash;
  const std::vector<JsonValue> schemas = SubschemasOf(row.shape, member);
  if (schemas.empty()) return MixBytes(hash, member.Compact());
  const auto mixed = [&](const JsonValue& schema) {
    if (IsBareSchema(schema)) return Mix(hash, HashOfBare(schema, dialect));
    const auto known = hashes_.find(schema.id());
    return known == hashes_.end() ? MixBytes(hash, schema.Compact()) : Mix(hash, known->second);
  };
  if (schemas.front().id() == member.id()) return mixed(member);
  for (const JsonValue child : member.children()) {
    hash = MixBytes(hash, child.key());
    hash = mixed(child);
  }
  return Mix(hash, member.size());
}

}  // namespace maskd
