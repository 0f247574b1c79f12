// Whether claims contradict one another: a proof where it says so, no proof of the contrary where
// it does not. Keeps dead branches, and branches of oneOf that exclude one another anyway, from
// being multiplied out.
//
// Looks at  types, listed values, counts, what patterns begin and end with, required members and
//           items, and choices all of whose alternatives contradict what is beside them; kDepth
//           levels deep.
// Threads   one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CONTRADICTION_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CONTRADICTION_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/json_schema/logic/claim_logic.h"
#include "grammar_core/frontend/json_schema/logic/merged_schema.h"
#include "grammar_core/frontend/json_schema/logic/value_check.h"

namespace maskd {

// Asked before branches are multiplied out; each proof is bounded by depth and budget.
class Contradiction {
 public:
  // All must outlive this.
  Contradiction(ClaimLogic& logic, ValueChecker& checker, Budget& budget)
      : logic_(logic), checker_(checker), budget_(budget) {}

  // Whether nothing satisfies `all`. False, too, once the budget is spent.
  bool In(const Conjunction& all) { return In(all, kDepth); }
  bool In(const std::vector<Claim>& claims) { return In(logic_.Expand(claims)); }
  // Whether nothing satisfies both; remembered for pairs of schemas.
  bool Between(const Claim& x, const Claim& y);

 private:
  static constexpr int kDepth = 3;

  bool In(const Conjunction& all, int depth);
  [[nodiscard]] TypeSet TypesLeft(const Conjunction& all) const;
  bool Find(const Conjunction& all, int depth);
  bool InListedValues(const Conjunction& all, const MergedSchema& merged);
  bool InPatterns(const MergedSchema& merged);
  bool InMembers(const MergedSchema& merged, int depth);
  bool InItems(const MergedSchema& merged, int depth);
  bool InChoice(const Conjunction& all, std::size_t choice, int depth);

  ClaimLogic& logic_;
  ValueChecker& checker_;
  Budget& budget_;
  // By the conjunction, and the depth of the search.
  absl::flat_hash_map<std::string, bool> known_;
  absl::flat_hash_map<std::pair<Claim, Claim>, bool> pairs_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CONTRADICTION_H_
