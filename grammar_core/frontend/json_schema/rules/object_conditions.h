// The clauses of one object, taken apart: what is true for sure, and conditions that remain.
//
// Threads  constant once made.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_OBJECT_CONDITIONS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_OBJECT_CONDITIONS_H_

#include <cassert>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "grammar_core/frontend/json_schema/logic/object_formula.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Of one object, after ObjectFormula has said its choices in clauses.
class ObjectConditions {
 public:
  // Settles what facts settle, by unit propagation, until nothing changes.
  explicit ObjectConditions(Clauses clauses);

  // The clauses exclude one another.
  [[nodiscard]] bool is_false() const { return is_false_; }
  // Literals that are true of each single member, or of its being there.
  [[nodiscard]] const std::vector<Claim>& facts() const { return facts_; }
  // Clauses that the facts do not settle.
  [[nodiscard]] const Clauses& clauses() const { return clauses_; }
  // What the clauses depend on; an event's mark is its index.
  [[nodiscard]] const std::vector<Claim>& events() const { return events_; }

  // Whether leaving `mark` never makes a condition hold.
  [[nodiscard]] bool OnlyHarms(ObjectSpec::Mark mark) const {
    assert(mark < events_.size());
    return !helps_.contains(mark);
  }

  // Whether a condition may hold by what some member is, whichever it be of many.
  [[nodiscard]] bool NeedsSomeOther() const;

  // The clauses in terms of marks.
  [[nodiscard]] std::vector<ObjectSpec::Condition> Conditions() const;

 private:
  // Whether the facts found last changed any clause.
  bool Settle();
  void FindEvents();

  Clauses clauses_;
  std::vector<Claim> facts_;
  absl::flat_hash_set<Claim> known_;
  std::vector<Claim> events_;
  absl::flat_hash_map<Claim, ObjectSpec::Mark> marks_;
  // The marks in `some` of a condition.
  absl::flat_hash_set<ObjectSpec::Mark> helps_;
  bool is_false_ = false;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_OBJECT_CONDITIONS_H_
