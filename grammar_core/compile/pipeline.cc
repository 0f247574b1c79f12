// The order matters. What is empty is found first, as later passes would keep what only leads
// there. Then come arrays whose items cannot be told apart, while their places in the source are
// known. Left recursion goes last: removing it makes rules without a place in the source.
#include "grammar_core/compile/pipeline.h"

#include <cassert>
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/derivatives/emptiness.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/passes/left_recursion.h"
#include "grammar_core/ir/passes/productive.h"
#include "grammar_core/ir/passes/unfit_arrays.h"

namespace maskd {
namespace {

// Refuses arrays of distinct items that cannot be exact, or forgets that they differ.
absl::Status SettleUnfitArrays(Strictness strictness, Budget& budget, GrammarIr* ir,
                               std::vector<Diagnostic>* warnings) {
  const absl::StatusOr<std::vector<UnfitArray>> unfit = FindUnfitArrays(*ir, budget);
  if (!unfit.ok()) return unfit.status();
  for (const auto& [node, why] : *unfit) {
    assert(ir->nodes[node].kind == IrKind::kDistinct && "only distinct arrays can be unfit");
    const auto& [place, keyword, min_items] = DistinctOf(*ir, ir->nodes[node]);
    if (strictness == Strictness::kRefuse) return UnsupportedAt(place, keyword, why);
    AddWarning({place, "not supported, dropped"}, warnings);
    ForgetDistinct(node, ir);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReducedGrammar> ReduceParsed(ParsedSource& parsed, const Limits& limits,
                                            Budget& budget) {
  const Strictness strictness = parsed.source.options.strictness;
  absl::StatusOr<ReadResult> read = ReadParsed(parsed, limits, budget);
  if (!read.ok()) return read.status();
  const absl::StatusOr<IrForm> form = DropEmpty(limits, budget, &read->ir);
  if (!form.ok()) return form.status();
  absl::StatusOr<GrammarIr> ir =
      DropUnproductive(std::move(read->ir), *form, limits, budget, read->faults);
  if (!ir.ok()) return ir.status();
  if (absl::Status s = SettleUnfitArrays(strictness, budget, &*ir, &read->warnings); !s.ok())
    return s;
  ir = RemoveLeftRecursion(*std::move(ir), limits, budget);
  if (!ir.ok()) return ir.status();
  return ReducedGrammar{.ir = *std::move(ir),
                        .warnings = std::move(read->warnings),
                        .temperature = read->temperature,
                        .bounds = std::move(read->bounds),
                        .markers = std::move(read->markers)};
}

absl::StatusOr<ReducedGrammar> ReduceGrammar(const GrammarSource& source, const Limits& limits,
                                             Budget& budget) {
  absl::StatusOr<ParsedSource> parsed = ParseSource(source, limits);
  if (!parsed.ok()) return parsed.status();
  return ReduceParsed(*parsed, limits, budget);
}

}  // namespace maskd
