// Whether one number satisfies one keyword: minimum, multipleOf and their like.
//
// Errors   UNIMPLEMENTED: a divisor of too many digits.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_NUMBER_FACETS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_NUMBER_FACETS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/decimal.h"
#include "grammar_core/frontend/json_schema/logic/merged_schema.h"

namespace maskd {

// Whether a known number satisfies `facet`; facets that do not speak of numbers hold.
absl::StatusOr<bool> NumberFacetHolds(const Facet& facet, const JsonValue& number);

// The numbers among the values of `facet`, a const or an enum.
std::vector<Decimal> NumbersIn(const Facet& facet);

// The error of the divisor `at`: it, with what stands beside it, has too large a modulus.
absl::Status RefusedDivisor(const JsonValue& at);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_NUMBER_FACETS_H_
