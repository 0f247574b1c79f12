// Frees conjunctions of choices that need not be made: those that what stands beside them has
// settled, one way or the other.
//
// Exactness  the values stay the same: only what is proved to be dead or implied goes.
// Threads    one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CHOICE_REDUCER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CHOICE_REDUCER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/json_schema/logic/contradiction.h"

namespace maskd {

// What one choice costs is paid by ClaimLogic::Take(), as each alternative is held against the
// rest.
class ChoiceReducer {
 public:
  // All must outlive this.
  ChoiceReducer(ClaimLogic& logic, Contradiction& contradiction, Budget& budget)
      : logic_(logic), contradiction_(contradiction), budget_(budget) {}

  // `all` without choices that one alternative is left of, or that hold anyway.
  Conjunction Reduce(Conjunction all);

  // The alternatives of a choice, each free of claims that follow from the rest of it: branches of
  // a oneOf that exclude one another need not be negated. They live as long as this.
  const ClaimLogic::Alternatives& AlternativesOf(const Claim& choice);

 private:
  // Takes out schemas that must not hold, and cannot by what is no choice.
  void DropImplied(Conjunction* all);
  // Whether choice `index` of `all` could be settled; then it has been.
  bool ReduceOne(std::size_t index, Conjunction* all);
  ClaimLogic::Alternatives FindOneOf(const Claim& choice);
  bool Exclude(const Claim& x, const Claim& y);
  // The equality keys of the values of a schema that is a const or an enum and nothing more.
  const absl::flat_hash_set<std::string>* ListedKeys(const Claim& schema);

  ClaimLogic& logic_;
  Contradiction& contradiction_;
  Budget& budget_;
  absl::node_hash_map<Claim, ClaimLogic::Alternatives> one_of_;
  absl::flat_hash_map<JsonId, std::unique_ptr<absl::flat_hash_set<std::string>>> listed_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_CHOICE_REDUCER_H_
