// Whether a known string of characters matches a character node: for strings that a source names
// and that must satisfy its patterns before anything is built of them.
//
// Cost     nodes times length; an And or Not costs its share once for each place where it may
// begin. No node is made.
// Threads  reads the IR only, which may still be in the making.
#ifndef MASKD_GRAMMAR_CORE_IR_TEXT_MATCH_H_
#define MASKD_GRAMMAR_CORE_IR_TEXT_MATCH_H_

#include <string>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// `characters` must be a node of characters of `ir`, no deeper than a source text may nest.
// Errors: those of `budget`.
absl::StatusOr<bool> MatchesText(const GrammarIr& ir, NodeId characters, const std::u32string& text,
                                 Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_TEXT_MATCH_H_
