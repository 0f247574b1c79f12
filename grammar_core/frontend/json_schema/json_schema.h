// The front ends of "json_schema", "json_object" (any JSON object) and "json" (any JSON value).
//
// Drafts   4, 6, 7, 2019-09 and 2020-12, told by $schema; 2020-12 where there is none.
// Errors   INVALID_ARGUMENT at the JSON Pointer of what is wrong, UNIMPLEMENTED at that of a
//          keyword that is not supported. docs/grammars.md has the table of keywords.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_JSON_SCHEMA_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_JSON_SCHEMA_H_

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/rules/schema_steps.h"
#include "grammar_core/frontend/json_schema/rules/schema_values.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

// `values`: kRules makes each inner value a rule, for those who read the IR.
absl::StatusOr<ReadResult> ReadJsonSchema(const GrammarSource& source, const Limits& limits,
                                          Budget& budget, SchemaValues values);
// Parses source.text first.
absl::StatusOr<ReadResult> ReadJsonSchema(const GrammarSource& source, const Limits& limits,
                                          Budget& budget);
// The same of a text that was parsed already: `document`.
absl::StatusOr<ReadResult> ReadJsonSchema(JsonDocument document, const GrammarSource& source,
                                          const Limits& limits, Budget& budget);
absl::StatusOr<ReadResult> ReadJsonSchema(JsonDocument document, const GrammarSource& source,
                                          const Limits& limits, Budget& budget, SchemaValues values,
                                          const SchemaReading& reading);

// These two take no text: INVALID_ARGUMENT where there is one.
absl::StatusOr<ReadResult> ReadAnyJsonObject(const GrammarSource& source, const Limits& limits,
                                             Budget& budget);
absl::StatusOr<ReadResult> ReadAnyJson(const GrammarSource& source, const Limits& limits,
                                       Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_JSON_SCHEMA_H_
