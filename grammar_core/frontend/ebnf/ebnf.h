// The front ends of "gbnf" (llama.cpp's GBNF) and "ebnf" (xgrammar's EBNF): rules of characters.
//
// Dialects  docs/ebnf.md. One reader: EBNF has what GBNF has, without tokens in angle brackets and
//           the dot, with more escapes, macros (Regex, Token, TagDispatch, ...) and rule options.
// Errors    INVALID_ARGUMENT, UNIMPLEMENTED and RESOURCE_EXHAUSTED (source_depth: groups in groups;
//           repeat_count; rule_instances; ir_nodes) with line:column of the source, in bytes from
//           1.
// Threads   no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_EBNF_EBNF_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_EBNF_EBNF_H_

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

// The same reader, in either dialect. The text begins with the rule named root.
absl::StatusOr<ReadResult> ReadGbnf(const GrammarSource& source, const Limits& limits,
                                    Budget& budget);
absl::StatusOr<ReadResult> ReadEbnf(const GrammarSource& source, const Limits& limits,
                                    Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_EBNF_EBNF_H_
