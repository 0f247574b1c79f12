// JSON within a Lark grammar: %json {schema}, %regex {structure}, %llguidance {options}.
//
// Errors   at the line:column where the JSON begins; what is wrong within it is in the message,
//          with its own place.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_EMBEDDED_JSON_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_EMBEDDED_JSON_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

// Each reads a JSON object that stands behind the cursor, over as many lines as it takes.

// A JSON Schema: the values that satisfy it, as an expression of bytes.
absl::StatusOr<ExprId> ReadEmbeddedSchema(const GrammarOptions& options, SourceReading& reading,
                                          SourceGrammar& grammar);

// {"substring_chunks": [...]}, {"substring_words": "..."} or {"substring_chars": "..."}: the runs
// of the chunks, as an expression of characters.
absl::StatusOr<ExprId> ReadStructuredPattern(SourceReading& reading, SourceGrammar& grammar);

// Options of the grammar, which they change.
absl::Status ReadLarkOptions(SourceReading& reading, SourceGrammar& grammar);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_EMBEDDED_JSON_H_
