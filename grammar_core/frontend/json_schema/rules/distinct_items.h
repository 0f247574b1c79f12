// Arrays whose items must be distinct (uniqueItems), where the items are listed values, null, true,
// false and strings: as an array of IR that keeps what was written.
//
// Errors   UNIMPLEMENTED where the items may be others, or are too few strings: see Distinct nodes.
//          INVALID_ARGUMENT where there are fewer values than minItems.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_DISTINCT_ITEMS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_DISTINCT_ITEMS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"

#include "grammar_core/frontend/json_schema/rules/rules.h"

namespace maskd {

// For one array: Make() once.
class DistinctItems {
 public:
  // `at` is the uniqueItems that holds. All must outlive this.
  DistinctItems(const MergedSchema& schema, const JsonValue& at, RuleContext& context)
      : schema_(schema), at_(at), context_(context) {
    context.layout.Apply(&items_);
    items_.any_order = true;
    items_.is_array = true;
  }

  // The array, laid out, as an object of IR whose members are the items; see ObjectSpec.
  absl::StatusOr<NodeId> Make();

 private:
  // Adds the items of which all of `all` is true; what is a choice is put into `open`.
  absl::Status Add(const Conjunction& all, std::vector<Conjunction>* open);
  absl::Status AddListed(const Conjunction& all, const MergedSchema& item);
  absl::Status AddTypes(const MergedSchema& item);
  void AddWord(const MergedSchema& item, JsonType word, absl::string_view text);
  void AddMember(ObjectSpec::Member member, const std::string& key);
  [[nodiscard]] absl::Status Unsupported(absl::string_view why) const;

  const MergedSchema& schema_;
  const JsonValue at_;
  RuleContext& context_;
  ObjectSpec items_;
  // The equality keys of the values among them.
  absl::flat_hash_set<std::string> keys_;
  std::vector<NodeId> strings_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_DISTINCT_ITEMS_H_
