// Whether a known value, of an enum or const, satisfies schemas: decided while compiling, so that a
// dead value never reaches the automaton. A plain validator: it looks at one value, not at all.
//
// Errors   RESOURCE_EXHAUSTED past limits.source_depth levels of values and branches, or where the
//          budget is spent. A pattern that cannot be read is handed to `refuse`, and then counts as
//          satisfied.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_VALUE_CHECK_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_VALUE_CHECK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/json_schema/logic/merged_schema.h"
#include "grammar_core/frontend/json_schema/logic/string_facets.h"

namespace maskd {

// A second way to decide what the rules decide, for one value: tests hold both to the same
// verdicts.
class ValueChecker {
 public:
  // All of them must outlive this.
  ValueChecker(ClaimLogic& logic, const Limits& limits, Budget& budget, StringFacets& strings,
               Refuse refuse)
      : logic_(logic),
        limits_(limits),
        budget_(budget),
        strings_(strings),
        refuse_(std::move(refuse)) {}

  // Whether `value` satisfies all that is claimed; `merged` is made of it. Requires that no choice
  // has watchers.
  absl::StatusOr<bool> Fits(const JsonValue& value, const Conjunction& all,
                            const MergedSchema& merged);
  // The same of the string `text` (UTF-8), as propertyNames asks it.
  absl::StatusOr<bool> StringFits(absl::string_view text, const Claim& claim);

  // A known name, and whether it matches a key of patternProperties.
  [[nodiscard]] MemberName NameOf(absl::string_view text);

 private:
  // For each item or member of a value: whether it has been evaluated.
  using Seen = std::vector<bool>;

  // Schemas that must hold as well, each with the scope that it is entered from.
  using OpenSchemas = std::vector<std::pair<JsonId, std::uint16_t>>;

  // One look at one value.
  struct Look {
    JsonValue value;
    TypeSet type;
    std::int64_t depth;
    std::uint16_t scope;
    // Null where nobody asks.
    Seen* seen;
  };

  absl::StatusOr<bool> Holds(const Look& look, const Claim& claim);
  absl::StatusOr<bool> SchemaHolds(const Look& look, JsonId schema);
  absl::StatusOr<bool> PartHolds(const Look& look, const SchemaView& view, const SchemaPart& part,
                                 OpenSchemas* open);
  absl::StatusOr<bool> ChoiceHolds(const Look& look, Keyword keyword, const JsonValue& at);
  absl::StatusOr<bool> BranchesHold(const Look& look, const JsonValue& list, bool exactly_one);
  absl::StatusOr<bool> IfHolds(const Look& look, const JsonValue& condition);
  absl::StatusOr<bool> OwnHolds(const Look& look, const SchemaView& view);
  absl::StatusOr<bool> KeywordHolds(const Look& look, const SchemaView& view, Keyword keyword,
                                    const JsonValue& at);
  absl::StatusOr<bool> ArrayKeywordHolds(const Look& look, const SchemaView& view, Keyword keyword,
                                         const JsonValue& at);
  absl::StatusOr<bool> ObjectKeywordHolds(const Look& look, const SchemaView& view, Keyword keyword,
                                          const JsonValue& at);
  absl::StatusOr<bool> MembersHold(const Look& look, const SchemaView& view, Keyword keyword);
  absl::StatusOr<bool> ElementFails(const Look& look, Keyword keyword, const JsonValue& at);
  absl::StatusOr<bool> ContainsHolds(const Look& look, const JsonValue& schema,
                                     const CountRange& range);
  absl::StatusOr<bool> RestHolds(const Look& look, const SchemaView& view);
  absl::StatusOr<bool> NamesHold(const Look& look, const JsonValue& schema);
  absl::StatusOr<bool> ChildHolds(const Look& look, std::size_t index, const JsonValue& child,
                                  JsonId schema);
  bool FacetHolds(const Look& look, const Facet& facet);
  // As EqualityKey(), and taken from the budget.
  std::string KeyOf(const JsonValue& value);
  bool AreUnique(const JsonValue& array);
  bool IsListed(const JsonValue& value, const JsonValue& list);
  bool Matches(const JsonValue& pattern, absl::string_view name);

  ClaimLogic& logic_;
  const Limits& limits_;
  Budget& budget_;
  StringFacets& strings_;
  const Refuse refuse_;
  // The equality keys of the values of each enum that was asked for.
  absl::flat_hash_map<JsonId, absl::flat_hash_set<std::string>> enums_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_VALUE_CHECK_H_
