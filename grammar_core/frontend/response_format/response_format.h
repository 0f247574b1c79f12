// The front end of "response_format": that member of an OpenAI request, as it is.
//
// Shapes   {"type": "text"}: any text. {"type": "json_object"}: any JSON object. {"type":
//          "json_schema", "json_schema": {"name", "description", "strict", "schema"}}: the schema,
//          which holds exactly whatever "strict" says; without one, any JSON value.
//          {"type": "structural_tag", ...}: a structural tag. {"type": "regex", "pattern"}, the
//          pattern also as "regex" or "value". {"type": "grammar", "grammar", "syntax"?}, the text
//          also as "definition", the syntax "gbnf" (where it says none), "ebnf", "lark" or "regex".
// Errors   INVALID_ARGUMENT at the JSON Pointer of what is wrong; those of a schema at its place in
//          the member.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_RESPONSE_FORMAT_RESPONSE_FORMAT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_RESPONSE_FORMAT_RESPONSE_FORMAT_H_

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/read_context.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

absl::StatusOr<ReadResult> ReadResponseFormat(JsonDocument document, const GrammarSource& source,
                                              const ReadContext& context, const Limits& limits,
                                              Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_RESPONSE_FORMAT_RESPONSE_FORMAT_H_
