// How long a run of zeros may be that stands between a number and its neighbour in a set.
//
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_ZEROS_H_
#define MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_ZEROS_H_

#include <cstdint>

#include "grammar_core/ir/number/number_spec.h"

namespace maskd {

// The longest run that an array of distinct items may have to try.
inline constexpr std::int64_t kMostZerosBetween = 64;

// Of whatever part of a number in `spec`, and of zeros that follow it: if a longer run leads to
// values of `spec` at all, then to no more than one, or a shorter one leads to others too. Counts
// what the ends of the intervals ask for; 24 more tell apart as many values as an array can hold.
std::int64_t ZerosBetween(const NumberSpec& spec);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_ZEROS_H_
