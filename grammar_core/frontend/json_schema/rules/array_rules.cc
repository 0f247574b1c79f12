// Arrays as IR. Most are a prefix of items and a repetition: ArrayMaker. What counts or compares
// items needs a rule for each state between two of them: ArrayStates. Items that must differ and
// are listed or strings are members of an unordered object without values: DistinctItems; other
// arrays with uniqueItems are wrapped into a Distinct node, which the engine checks.
//
// Cost    one node for each item with a schema of its own.
// Source  JSON Schema Core 2020-12, section 10.3.1; Validation, section 6.4.
#include <algorithm>
#include <cassert>
#include <optional>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/rules/array_states.h"
#include "grammar_core/frontend/json_schema/rules/distinct_items.h"
#include "grammar_core/frontend/json_schema/rules/rules.h"

namespace maskd {
namespace {

std::uint32_t Minus(std::uint32_t count, std::uint32_t taken) {
  if (count == kUnbounded) return kUnbounded;
  return count > taken ? count - taken : 0;
}

// The uniqueItems that the array must satisfy.
std::optional<JsonValue> FindUniqueItems(const MergedSchema& schema) {
  for (const SchemaView* view : schema.locals)
    if (view->unique_items.has_value()) return view->unique_items;
  return std::nullopt;
}

// One that it must violate.
std::optional<JsonValue> FindRepeatedItems(const MergedSchema& schema) {
  for (const Claim& atom : schema.atoms)
    if (atom.keyword == Keyword::kUniqueItems) return schema.at.at(atom.at);
  return std::nullopt;
}

class ArrayMaker {
 public:
  ArrayMaker(const MergedSchema& schema, RuleContext& context)
      : schema_(schema), context_(context), b_(context.builder) {}

  NodeId Make() {
    const CountRange& count = schema_.item_count;
    if (count.max == 0) return context_.layout.Container('[', {}, true);
    return context_.layout.Container('[', {Items()}, count.min == 0);
  }

 private:
  NodeId Item(std::size_t index) {
    const NodeId value = context_.value(schema_.ItemClaims(index));
    return index == 0 ? context_.layout.First(value) : context_.layout.Next(value);
  }

  // The items from `first` on, all of one schema, but not the first of the array.
  NodeId LaterItems(std::uint32_t first) {
    const CountRange& count = schema_.item_count;
    if (count.max <= first) return b_.Empty();
    const NodeId item = Item(std::max<std::size_t>(first, schema_.prefix_size()));
    return b_.Repeat(item, Minus(count.min, first), Minus(count.max, first));
  }

  // One item or more: from the last with a schema of its own to the first, each may be the end of
  // the array once there are enough. Items that must be there are gathered, to be one sequence.
  NodeId Items() {
    const CountRange& count = schema_.item_count;
    const auto prefix = static_cast<std::uint32_t>(
        std::min<std::size_t>(std::max<std::size_t>(schema_.prefix_size(), 1), count.max));
    NodeId rest = LaterItems(prefix);
    std::vector<NodeId> required;
    for (std::uint32_t i = prefix; i-- > 0;)
      if (i == 0 || i < count.min)
        required.push_back(Item(i));
      else
        rest = b_.Optional(b_.Concat({Item(i), rest}));
    std::reverse(required.begin(), required.end());
    required.push_back(rest);
    return b_.Concat(required);
  }

  const MergedSchema& schema_;
  RuleContext& context_;
  IrBuilder& b_;
};

// The items that must be there behind the first, each kind once.
std::vector<NodeId> ItemsBesideOthers(const MergedSchema& schema, RuleContext& context) {
  std::vector<NodeId> items;
  const std::size_t kinds = std::max<std::size_t>(schema.prefix_size(), 1) + 1;
  for (std::size_t i = 1; i < std::min<std::size_t>(schema.item_count.min, kinds); ++i)
    items.push_back(context.value(schema.ItemClaims(i)));
  return items;
}

}  // namespace

absl::StatusOr<NodeId> ArrayRule(const MergedSchema& schema, RuleContext& context) {
  const CountRange& count = schema.item_count;
  if (count.empty()) {
    assert(count.max_at.has_value());
    return InvalidAt(count.max_at->Pointer(),
                     absl::StrCat(count.max, " is less than minItems ", count.min));
  }
  if (const auto repeated = FindRepeatedItems(schema); repeated.has_value() && count.max > 1) {
    context.refuse(*repeated,
                   UnsupportedAt(repeated->Pointer(), repeated->key(), "under a \"not\""));
  }
  ArrayStates states(schema, context);
  const std::optional<JsonValue> unique = count.max > 1 ? FindUniqueItems(schema) : std::nullopt;
  if (unique.has_value() && !states.are_needed()) {
    const absl::StatusOr<NodeId> listed = DistinctItems(schema, *unique, context).Make();
    if (!absl::IsUnimplemented(listed.status())) return listed;
  }
  const absl::StatusOr<NodeId> arrays =
      states.are_needed() ? states.Make() : ArrayMaker(schema, context).Make();
  if (!unique.has_value() || !arrays.ok()) return arrays;
  if (states.are_needed() && !states.needs_one_at_most()) {
    context.refuse(*unique, UnsupportedAt(unique->Pointer(), unique->key(),
                                          "beside keywords that ask for several items"));
    return arrays;
  }
  return context.builder.Distinct(*arrays, ItemsBesideOthers(schema, context),
                                  {unique->Pointer(), std::string(unique->key()), count.min});
}

}  // namespace maskd
