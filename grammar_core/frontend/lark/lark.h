// The front end of "lark": the grammars of Lark, with the extensions of llguidance.
//
// Language  docs/lark.md. There is no lexer: where a terminal ends is open, and all ways are
//           followed, as Lark's Earley parser with lexer="dynamic_complete" does.
// Errors    INVALID_ARGUMENT, UNIMPLEMENTED and RESOURCE_EXHAUSTED (source_depth: brackets in
//           brackets; repeat_count; rule_instances; ir_nodes) with line:column of the source, in
//           bytes from 1.
// Threads   no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_H_

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

// source.options are those of the JSON Schemas within.
absl::StatusOr<ReadResult> ReadLark(const GrammarSource& source, const Limits& limits,
                                    Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_H_
