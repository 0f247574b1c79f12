#include "grammar_core/frontend/json_schema/rules/object_conditions.h"

#include <algorithm>
#include <utility>

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// Whether one member alone, or each of them, says if the literal is true. That some member, which
// may be any of several, violates something is left to a condition.
bool IsFact(const Claim& literal) {
  if (literal.kind == Kind::kHas || !literal.negated) return true;
  return literal.kind == Kind::kElement && literal.keyword != K::kPatternProperties;
}

}  // namespace

ObjectConditions::ObjectConditions(Clauses clauses) : clauses_(std::move(clauses)) {
  while (Settle()) {
  }
  FindEvents();
}

// Unit propagation: a clause of one literal is a fact, which strikes its negation from the others.
bool ObjectConditions::Settle() {
  bool changed = false;
  Clauses open;
  for (Clause& clause : clauses_) {
    if (std::any_of(clause.begin(), clause.end(),
                    [&](const Claim& literal) { return known_.contains(literal); })) {
      continue;
    }
    std::erase_if(clause, [&](const Claim& literal) { return known_.contains(literal.Negated()); });
    is_false_ |= clause.empty();
    if (clause.size() == 1 && IsFact(clause.front())) {
      facts_.push_back(clause.front());
      known_.insert(clause.front());
      changed = true;
    } else {
      open.push_back(std::move(clause));
    }
  }
  clauses_ = std::move(open);
  return changed && !is_false_;
}

// A literal of the event's own sign helps its clause; one of the other sign can only harm it.
void ObjectConditions::FindEvents() {
  for (const Clause& clause : clauses_) {
    for (const Claim& literal : clause) {
      const Claim event = EventOf(literal);
      const auto mark = static_cast<ObjectSpec::Mark>(events_.size());
      const auto [known, is_new] = marks_.try_emplace(event, mark);
      if (is_new) events_.push_back(event);
      if (literal.negated == event.negated) helps_.insert(known->second);
    }
  }
}

// Undeclared members matter to a condition only where one of them could make it true.
bool ObjectConditions::NeedsSomeOther() const {
  return std::any_of(helps_.begin(), helps_.end(), [&](ObjectSpec::Mark mark) {
    const K keyword = events_[mark].keyword;
    return keyword == K::kPatternProperties || keyword == K::kAdditionalProperties ||
           keyword == K::kUnevaluatedProperties;
  });
}

// The clause "a or not b" holds at the closing brace if the mark of a was left, or that of b was
// not. Members leave marks as they are written, so the engine looks at marks and knows no logic.
std::vector<ObjectSpec::Condition> ObjectConditions::Conditions() const {
  std::vector<ObjectSpec::Condition> conditions;
  for (const Clause& clause : clauses_) {
    ObjectSpec::Condition& condition = conditions.emplace_back();
    for (const Claim& literal : clause) {
      const Claim event = EventOf(literal);
      auto& marks = literal.negated == event.negated ? condition.some : condition.unless_all;
      marks.push_back(marks_.at(event));
    }
  }
  return conditions;
}

}  // namespace maskd
