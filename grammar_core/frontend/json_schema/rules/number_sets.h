// The numbers that a schema allows: what minimum, maximum, multipleOf and their like, and numbers
// that are ruled out, leave of all.
//
// Errors   INVALID_ARGUMENT: nothing is left, at a keyword that is in the way, naming the others.
//          UNIMPLEMENTED: a divisor whose modulus is over NumberDivisors::kMaxModulus.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_NUMBER_SETS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_NUMBER_SETS_H_

#include "absl/status/statusor.h"

#include "grammar_core/frontend/json_schema/rules/rules.h"
#include "grammar_core/ir/number/number_spec.h"

namespace maskd {

// Every number, in any spelling, of as many digits as `options` have it.
NumberSpec AllNumbers(const GrammarOptions& options);

// The numbers of `schema`, whose types must allow some.
absl::StatusOr<NumberSpec> NumbersOf(const MergedSchema& schema, RuleContext& context);

// Whether the types of `schema` allow no number but integers.
bool IsInteger(const MergedSchema& schema);

// What writes the numbers of `spec`, in any spelling, as the options spell them.
NodeId WrittenNumbers(NumberSpec spec, RuleContext& context);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_NUMBER_SETS_H_
