// From a source to the IR that an automaton is made of: its front end, then the passes.
//
//   ReadParsed()             the front end of its kind
//   DropEmpty()              intersections without a text
//   DropUnproductive()       what only they were the way to
//   SettleUnfitArrays()      arrays of distinct items that cannot be exact
//   RemoveLeftRecursion()
//
// Errors   those of the front end (front_end.h) and of the passes: INVALID_ARGUMENT where no text
//          satisfies the grammar, UNIMPLEMENTED, RESOURCE_EXHAUSTED.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_PIPELINE_H_
#define MASKD_GRAMMAR_CORE_COMPILE_PIPELINE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/front_end.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// What a source means, reduced: every part has a text, and no rule begins with itself.
struct ReducedGrammar {
  GrammarIr ir;
  std::vector<Diagnostic> warnings;
  // As ReadResult has them.
  std::optional<float> temperature = {};
  std::vector<Diagnostic> bounds = {};
  std::vector<std::int32_t> markers = {};
};

// Reads a parsed source, as ReadParsed() does, and runs the passes over it.
absl::StatusOr<ReducedGrammar> ReduceParsed(ParsedSource& parsed, const Limits& limits,
                                            Budget& budget);

// ParseSource(), then the above.
absl::StatusOr<ReducedGrammar> ReduceGrammar(const GrammarSource& source, const Limits& limits,
                                             Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_PIPELINE_H_
