// The front end of "structural_tag": free text with parts that follow grammars, as a JSON object.
//
// Shapes   {"type": "structural_tag", "format": FORMAT}, and the older {"structures": [{"begin",
//          "schema", "end"}], "triggers": [...], "at_least_one"?}. docs/structural-tags.md lists
//          the formats.
// Source   the forms of xgrammar 0.2.8, which engines pass through.
// Errors   INVALID_ARGUMENT at the JSON Pointer of what is wrong; those of the grammars within at
//          their place in the text. RESOURCE_EXHAUSTED: source_depth, ir_nodes.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_STRUCTURAL_TAG_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_STRUCTURAL_TAG_H_

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/read_context.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

// `document` is the text of `source`.
absl::StatusOr<ReadResult> ReadStructuralTag(JsonDocument document, const GrammarSource& source,
                                             const ReadContext& context, const Limits& limits,
                                             Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_STRUCTURAL_TAG_H_
