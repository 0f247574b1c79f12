// What an unevaluated keyword sees evaluated where no choice decides it. Then its violation is that
// of one member or item, as that of additionalProperties is, and may be said by itself.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_SURE_EVALUATORS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_SURE_EVALUATORS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"

#include "grammar_core/frontend/json_schema/reading/schema_set.h"

namespace maskd {

// The schemas whose own keywords evaluate members of an object (`type`: kObjectType) or items of an
// array wherever `schema` without its unevaluated keyword holds, itself among them. None where that
// depends on the value: on a branch that may fail, say. `always_holds` says of a schema whether it
// certainly holds for every value; `pay` is told of each schema that is looked at, and ends the
// search, with none, where it says no.
std::optional<std::vector<JsonId>> FindSureEvaluators(
    const SchemaSet& schemas, JsonId schema, TypeSet type,
    absl::FunctionRef<bool(JsonId schema)> always_holds,
    absl::FunctionRef<bool(JsonId schema)> pay);

// The items, from the first, that `evaluators` of `schema` evaluate; none where they evaluate all.
std::optional<std::size_t> EvaluatedItems(const SchemaSet& schemas, JsonId schema,
                                          const std::vector<JsonId>& evaluators);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_SURE_EVALUATORS_H_
