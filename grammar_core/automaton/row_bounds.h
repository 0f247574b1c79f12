// What one row of a grammar may do for arrays whose items must differ.
//
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_ROW_BOUNDS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_ROW_BOUNDS_H_

#include <cstddef>
#include <cstdint>

#include "grammar_core/base/limits.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Bounds that each row of a grammar has for itself.
struct RowBounds {
  // Made from the grammar's numbers and layout, and from `limits`. Neither is kept.
  RowBounds(const GrammarIr& ir, const Limits& limits);

  std::int64_t bytes;          // that it may hold
  std::int64_t search_states;  // that one search may visit
  // Zeros in a row, in a number that a search tries.
  std::size_t most_zeros;
  // Whether some white space is a line's, which must stand where it does.
  bool breaks_lines;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_ROW_BOUNDS_H_
