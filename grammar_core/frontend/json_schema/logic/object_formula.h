// Choices between claims about an object's members, as conditions that hold together: a
// conjunction of clauses. `required` in anyOf, dependencies, if/then/else and most of what `not`
// says become conditions of one object; branching would multiply objects.
//
// Literal  a claim about a member or about which names there are: kHas, an element of properties or
//          patternProperties, additionalProperties, propertyNames; of a value of const or enum, a
//          member, and (the keyword) that there is no other member.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_OBJECT_FORMULA_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_OBJECT_FORMULA_H_

#include <optional>
#include <vector>

#include "grammar_core/frontend/json_schema/logic/claim_logic.h"

namespace maskd {

// Literals one of which is true.
using Clause = std::vector<Claim>;
// Clauses all of which are true.
using Clauses = std::vector<Clause>;
// A choice of more than these is better branched.
inline constexpr std::size_t kMaxClauses = 64;
// Clauses of two literals and more in one object: each may take a pass over all of them to settle.
inline constexpr std::size_t kMaxConditions = 256;

// From claims to clauses: conjunctive normal form, given up past kMaxClauses.
class ObjectFormula {
 public:
  // `logic` must outlive this.
  explicit ObjectFormula(ClaimLogic& logic) : logic_(logic) {}

  // What `claim` says of an object, or nothing where clauses cannot say it or too many would have
  // to.
  std::optional<Clauses> Of(const Claim& claim) { return Of(claim, 0); }

  // What dependentRequired, the keyword of `own`'s schema that stands at `keyword`, says.
  Clauses Dependencies(const Claim& own, const JsonValue& keyword);

 private:
  std::optional<Clauses> Of(const Claim& claim, int depth);
  std::optional<Clauses> OfAll(const std::vector<Claim>& claims, int depth);
  std::optional<Clauses> OfOne(const ClaimLogic::Alternatives& ways, int depth);
  std::optional<Clauses> OfExactlyOne(const Claim& one_of, int depth);
  Clauses RuledOut(const Claim& violated);
  std::optional<Clauses> OfOwn(const Claim& own);
  std::optional<Clauses> OfKeyword(const Claim& keyword);
  std::optional<Clauses> OfDifferent(const std::vector<JsonValue>& values, const Claim& by);
  std::optional<Clauses> Either(const Clauses& x, const Clauses& y, JsonId at);

  ClaimLogic& logic_;
};

// The claim that a literal's truth depends on, its sign apart: that a member is there, or that some
// member violates it.
Claim EventOf(const Claim& literal);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_OBJECT_FORMULA_H_
