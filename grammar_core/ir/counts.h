// How often something may be repeated, and what becomes of that when repetitions stand side by
// side, in a choice or in each other. Exact: where the result is no range of counts, there is none.
//
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_IR_COUNTS_H_
#define MASKD_GRAMMAR_CORE_IR_COUNTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// From min to max times, both included; max may be kUnbounded.
struct Counts {
  std::uint32_t min;
  std::uint32_t max;
  bool operator==(const Counts&) const = default;
};

// The largest count that is a number.
inline constexpr std::uint32_t kMaxRepeats = kUnbounded - 1;

// x{a,b} x{c,d} is x{a+c,b+d}. Nothing where a bound is over kMaxRepeats.
std::optional<Counts> AddCounts(Counts x, Counts y);

// x{a,b} | x{c,d} is one range where there is no gap between them.
std::optional<Counts> UniteCounts(Counts x, Counts y);

// A node or term, and how often it is repeated.
struct Power {
  std::uint32_t base;
  Counts counts;
};
// A choice of powers, ascending by base: those of one base are one where UniteCounts() says so.
std::vector<Power> UnitePowers(std::vector<Power> powers);

// x{a,b}{c,d}, with room for what is over kMaxRepeats.
struct NestedCounts {
  static constexpr std::uint64_t kNoBound = UINT64_MAX;
  std::uint64_t min;
  std::uint64_t max;
  bool or_none;  // or not at all, where min is over 1
};
// Nothing where there are gaps between the products, as in x{5}{1,3}.
std::optional<NestedCounts> NestCounts(Counts inner, Counts outer);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_COUNTS_H_
