#include "grammar_core/automaton/row_bounds.h"

#include <algorithm>

#include "grammar_core/ir/number/number_zeros.h"

namespace maskd {
namespace {

// Zeros beyond what the grammar's values ask for: more than an array could be long.
constexpr std::int64_t kMoreZeros = 24;

std::size_t MostZeros(const GrammarIr& ir) {
  std::int64_t zeros = 0;
  for (const NumberSpec& spec : ir.numbers) zeros = std::max(zeros, ZerosBetween(spec));
  return static_cast<std::size_t>(std::min(zeros, kMostZerosBetween) + kMoreZeros);
}

}  // namespace

// A search for items that differ has no limit of its own: it has that of the emptiness checks.
RowBounds::RowBounds(const GrammarIr& ir, const Limits& limits)
    : bytes(limits.row_bytes),
      search_states(limits.emptiness_states),
      most_zeros(MostZeros(ir)),
      breaks_lines(BreaksLines(ir)) {}

}  // namespace maskd
