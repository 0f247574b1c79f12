#include "grammar_core/frontend/json_schema/merged_schema.h"

#include <algorithm>
#include <optional>

namespace maskd {
namespace {

void Narrow(const CountRange& by, CountRange* range) {
  if (by.min > range->min) {
    range->min = by.min;
    range->min_at = by.min_at;
  }
  if (by.max < range->max) {
    range->max = by.max;
    range->max_at = by.max_at;
  }
}

void AddFacet(const Facet& facet, std::vector<Facet>* facets) {
  const auto same = [&](const Facet& known) {
    return known.at.id() == facet.at.id() && known.negated == facet.negated;
  };
  if (std::none_of(facets->begin(), facets->end(), same)) facets->push_back(facet);
}

}  // namespace

std::size_t MergedSchema::prefix_size() const {
  std::size_t size = 0;
  for (const SchemaView* view : locals) size = std::max(size, view->prefix_items.size());
  return size;
}

std::vector<JsonId> MergedSchema::ItemSchemas(std::size_t index) const {
  std::vector<JsonId> schemas;
  for (const SchemaView* view : locals) {
    if (index < view->prefix_items.size()) {
      schemas.push_back(view->prefix_items[index]);
    } else if (view->items.has_value()) {
      schemas.push_back(view->items->id());
    }
  }
  return schemas;
}

std::vector<JsonId> MergedSchema::MemberSchemas(absl::string_view name) const {
  std::vector<JsonId> schemas;
  for (const SchemaView* view : locals) {
    std::optional<JsonValue> schema;
    if (view->properties.has_value()) schema = view->properties->Find(name);
    if (!schema.has_value()) schema = view->additional_properties;
    if (schema.has_value()) schemas.push_back(schema->id());
  }
  return schemas;
}

std::vector<JsonId> MergedSchema::OtherMemberSchemas() const {
  std::vector<JsonId> schemas;
  for (const SchemaView* view : locals) {
    if (view->additional_properties.has_value()) {
      schemas.push_back(view->additional_properties->id());
    }
  }
  return schemas;
}

MergedSchema Merge(const SchemaSet& schemas, const std::vector<JsonId>& locals) {
  MergedSchema merged;
  for (const JsonId id : locals) {
    const SchemaView& view = schemas.view(id);
    merged.locals.push_back(&view);
    merged.types &= view.is_false ? kNoType : view.types;
    Narrow(view.length, &merged.length);
    Narrow(view.item_count, &merged.item_count);
    for (const Facet& facet : view.facets) AddFacet(facet, &merged.facets);
  }
  return merged;
}

}  // namespace maskd
