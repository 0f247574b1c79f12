// Which schemas certainly evaluate members or items for an unevaluated keyword.
//
// A walk over the in-place applicators. As soon as one that may evaluate something hangs on the
// value (a branch of anyOf, an if), there is no answer, and the keyword cannot be negated by
// itself.
//
// Cost    MayEvaluate() walks below each part: quadratic in the schemas of one instance at worst,
//         so each is paid for.
// Source  JSON Schema Core 2020-12, section 11 (annotations of successful subschemas only).
#include "grammar_core/frontend/json_schema/logic/sure_evaluators.h"

#include <algorithm>
#include <cassert>

#include "absl/container/flat_hash_set.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = SchemaPart::Kind;

class Search {
 public:
  Search(const SchemaSet& schemas, TypeSet type, absl::FunctionRef<bool(JsonId schema)> pay)
      : schemas_(schemas), type_(type), pay_(pay) {}

  std::optional<std::vector<JsonId>> From(JsonId schema,
                                          absl::FunctionRef<bool(JsonId schema)> always_holds) {
    assert(type_ == kArrayType || type_ == kObjectType);
    std::vector<JsonId> evaluators;
    std::vector<JsonId> open = {schema};
    absl::flat_hash_set<JsonId> seen = {schema};
    while (!open.empty()) {
      const JsonId at = open.back();
      open.pop_back();
      evaluators.push_back(at);
      const SchemaView& view = schemas_.view(at);
      // Which items a contains matches depends on them.
      if (type_ == kArrayType && MatchesItems(view)) return std::nullopt;
      for (const SchemaPart& part : view.parts) {
        if (part.kind == Kind::kLocal || part.kind == Kind::kNot) continue;
        for (const JsonId inside : SchemasOf(view, part)) {
          if (!pay_(at)) return std::nullopt;
          if (part.kind != Kind::kDynamic && !MayEvaluate(inside)) continue;
          const bool sure =
              part.kind == Kind::kSchema ||
              (part.keyword == K::kAnyOf && part.kind == Kind::kChoice && always_holds(inside));
          if (!sure) return std::nullopt;
          if (seen.insert(inside).second) open.push_back(inside);
        }
      }
    }
    return evaluators;
  }

 private:
  // The schemas of a part; those of an `if` are its then and else as well.
  std::vector<JsonId> SchemasOf(const SchemaView& view, const SchemaPart& part) const {
    if (part.kind != Kind::kChoice || part.keyword == K::kDependentSchemas) return {part.id};
    std::vector<JsonId> inside;
    const JsonValue at = view.at.at(part.id);
    if (part.keyword == K::kIf) {
      inside.push_back(part.id);
      for (const char* branch : {"then", "else"}) {
        const std::optional<JsonValue> follows = at.parent()->Find(branch);
        if (follows.has_value()) inside.push_back(follows->id());
      }
    } else {
      for (const JsonValue branch : at.children()) inside.push_back(branch.id());
    }
    return inside;
  }

  [[nodiscard]] bool MatchesItems(const SchemaView& view) const {
    return view.contains.has_value() && schemas_.contains_evaluates();
  }

  [[nodiscard]] bool EvaluatesItself(const SchemaView& view) const {
    if (type_ == kArrayType) {
      return !view.prefix_items.empty() || view.items.has_value() ||
             view.unevaluated_items.has_value() || MatchesItems(view);
    }
    return view.properties.has_value() || view.pattern_properties.has_value() ||
           view.additional_properties.has_value() || view.unevaluated_properties.has_value();
  }

  // Whether `schema`, or one that it applies to the same value, evaluates anything.
  [[nodiscard]] bool MayEvaluate(JsonId schema) const {
    std::vector<JsonId> open = {schema};
    absl::flat_hash_set<JsonId> seen = {schema};
    while (!open.empty()) {
      const SchemaView& view = schemas_.view(open.back());
      if (!pay_(open.back())) return true;
      open.pop_back();
      if (EvaluatesItself(view)) return true;
      for (const SchemaPart& part : view.parts) {
        if (part.kind == Kind::kDynamic) return true;
        if (part.kind == Kind::kLocal || part.kind == Kind::kNot) continue;
        for (const JsonId inside : SchemasOf(view, part))
          if (seen.insert(inside).second) open.push_back(inside);
      }
    }
    return false;
  }

  const SchemaSet& schemas_;
  const TypeSet type_;
  const absl::FunctionRef<bool(JsonId schema)> pay_;
};

}  // namespace

std::optional<std::vector<JsonId>> FindSureEvaluators(
    const SchemaSet& schemas, JsonId schema, TypeSet type,
    absl::FunctionRef<bool(JsonId schema)> always_holds,
    absl::FunctionRef<bool(JsonId schema)> pay) {
  return Search(schemas, type, pay).From(schema, always_holds);
}

std::optional<std::size_t> EvaluatedItems(const SchemaSet& schemas, JsonId schema,
                                          const std::vector<JsonId>& evaluators) {
  std::size_t first = 0;
  for (const JsonId by : evaluators) {
    const SchemaView& view = schemas.view(by);
    if (view.items.has_value() || (by != schema && view.unevaluated_items.has_value()))
      return std::nullopt;
    first = std::max(first, view.prefix_items.size());
  }
  return first;
}

}  // namespace maskd
