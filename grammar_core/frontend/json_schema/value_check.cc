#include "grammar_core/frontend/json_schema/value_check.h"

#include <algorithm>

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json/equality.h"
#include "grammar_core/frontend/json_schema/number_facets.h"

namespace maskd {
namespace {

std::size_t CodePointCount(absl::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool Holds(const CountRange& range, std::size_t count) {
  return count >= range.min && (range.max == kUnbounded || count <= range.max);
}

bool HasRequired(const JsonValue& value, const SchemaView& view) {
  if (!view.required.has_value()) return true;
  for (const JsonValue name : view.required->children()) {
    if (!value.Find(name.text()).has_value()) return false;
  }
  return true;
}

}  // namespace

bool ValueChecker::IsListed(const JsonValue& value, const SchemaView& view) {
  if (view.const_value.has_value() && value.id() != view.const_value->id() &&
      EqualityKey(value) != EqualityKey(*view.const_value)) {
    return false;
  }
  const std::optional<JsonValue>& list = view.enum_values;
  if (!list.has_value() || (value.parent().has_value() && value.parent()->id() == list->id())) {
    return true;
  }
  auto [it, added] = enums_.try_emplace(list->id());
  if (added) {
    for (const JsonValue listed : list->children()) it->second.insert(EqualityKey(listed));
  }
  return it->second.contains(EqualityKey(value));
}

bool ValueChecker::FitsLocal(const JsonValue& value, TypeSet type, const SchemaView& view) {
  if (view.is_false || (view.types & type) == 0 || !IsListed(value, view)) return false;
  if (type == kStringType) return Holds(view.length, CodePointCount(value.text()));
  if (type == kArrayType) return Holds(view.item_count, value.size());
  return type != kObjectType || HasRequired(value, view);
}

bool ValueChecker::FacetsHold(const JsonValue& value, const MergedSchema& schema) {
  if (!value.is_string() && !value.is_number()) return true;
  for (const Facet& facet : schema.facets) {
    const absl::StatusOr<bool> holds =
        value.is_string() ? strings_.Holds(facet, value.text()) : NumberFacetHolds(facet, value);
    if (!holds.ok()) {
      refuse_(facet.at, holds.status());
    } else if (!*holds) {
      return false;
    }
  }
  return true;
}

absl::Status ValueChecker::CheckSupported(const SchemaView& view, TypeSet type) const {
  if (strictness_ == Strictness::kRelax) return absl::OkStatus();
  for (const SchemaView::Unsupported& keyword : view.unsupported) {
    if ((keyword.domain & type) != 0) {
      return UnsupportedAt(keyword.at.Pointer(), keyword.at.key());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ValueChecker::FitsMerged(const JsonValue& value, const MergedSchema& schema,
                                              std::int64_t depth) {
  if (absl::Status status = budget_.Spend(); !status.ok()) return status;
  const TypeSet type = TypeOf(value);
  for (const SchemaView* view : schema.locals) {
    if (!FitsLocal(value, type, *view)) return false;
  }
  if (!FacetsHold(value, schema)) return false;
  for (const SchemaView* view : schema.locals) {
    if (absl::Status status = CheckSupported(*view, type); !status.ok()) return status;
  }
  return ChildrenFit(value, schema, depth);
}

absl::StatusOr<bool> ValueChecker::ChildrenFit(const JsonValue& value, const MergedSchema& schema,
                                               std::int64_t depth) {
  if (schema.locals.empty()) return true;
  std::size_t index = 0;
  for (const JsonValue child : value.children()) {
    const std::vector<JsonId> schemas =
        value.is_object() ? schema.MemberSchemas(child.key()) : schema.ItemSchemas(index++);
    if (schemas.empty()) continue;
    const absl::StatusOr<bool> fits = FitsAll(child, schemas_.Expand(schemas), depth + 1);
    if (!fits.ok() || !*fits) return fits;
  }
  return true;
}

absl::StatusOr<bool> ValueChecker::FitsAll(const JsonValue& value, const Conjunction& all,
                                           std::int64_t depth) {
  if (depth > max_depth_) return LimitExceeded(value.Pointer(), "source_depth", max_depth_, depth);
  const absl::StatusOr<bool> fits = FitsMerged(value, Merge(schemas_, all.locals), depth);
  if (!fits.ok() || !*fits) return fits;
  for (const JsonId any_of : all.any_of) {
    const absl::StatusOr<bool> some = FitsSome(value, any_of, depth);
    if (!some.ok() || !*some) return some;
  }
  return true;
}

absl::StatusOr<bool> ValueChecker::FitsSome(const JsonValue& value, JsonId any_of,
                                            std::int64_t depth) {
  for (const JsonValue branch : schemas_.root().at(any_of).children()) {
    const absl::StatusOr<bool> fits = FitsAll(value, schemas_.Expand({branch.id()}), depth + 1);
    if (!fits.ok() || *fits) return fits;
  }
  return false;
}

}  // namespace maskd
