// Rules about a schema's own shape: what has no bound, what cannot be.
#ifndef MASKD_TOOLS_CLI_LINT_SHAPE_RULES_H_
#define MASKD_TOOLS_CLI_LINT_SHAPE_RULES_H_

#include <vector>

#include "tools/cli/lint/finding.h"
#include "tools/cli/lint/subschemas.h"

namespace maskd::cli {

// Notes about strings, arrays and objects without a bound: a model may write into them until its
// tokens are spent.
void FindOpenPlaces(const Subschemas& schemas, std::vector<Finding>* findings);

// Warnings about values of enum and const that "type" beside them excludes, names in "required"
// that "additionalProperties": false excludes, and members whose schema is false.
void FindDeadValues(const Subschemas& schemas, std::vector<Finding>* findings);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_LINT_SHAPE_RULES_H_
