// Sets of integers as ascending ranges that do not touch; the ends of the type stand for infinity.
#ifndef MASKD_GRAMMAR_CORE_IR_NUMBER_INT_RANGES_H_
#define MASKD_GRAMMAR_CORE_IR_NUMBER_INT_RANGES_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace maskd {

// Both ends included.
struct IntRange {
  std::int64_t lo;
  std::int64_t hi;

  bool operator==(const IntRange&) const = default;
  // For tables that number sets of exponents.
  template <typename H>
  friend H AbslHashValue(H state, const IntRange& range) {
    return H::combine(std::move(state), range.lo, range.hi);
  }
};

inline constexpr std::int64_t kMinusInfinity = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kPlusInfinity = std::numeric_limits<std::int64_t>::max();

// x + y, where an infinite x stays so and a finite one is far from the ends of the type.
constexpr std::int64_t Shifted(std::int64_t x, std::int64_t y) {
  return x == kMinusInfinity || x == kPlusInfinity ? x : x + y;
}

// Both ends by the same amount.
constexpr IntRange Shifted(IntRange range, std::int64_t by) {
  return {Shifted(range.lo, by), Shifted(range.hi, by)};
}

// Empty where lo > hi.
constexpr IntRange Common(IntRange x, IntRange y) {
  return {std::max(x.lo, y.lo), std::min(x.hi, y.hi)};
}

// Whether they have an integer in common.
constexpr bool Overlap(IntRange x, IntRange y) {
  return std::max(x.lo, y.lo) <= std::min(x.hi, y.hi);
}

using IntRanges = std::vector<IntRange>;

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_NUMBER_INT_RANGES_H_
