#include "grammar_core/ir/number/number_zeros.h"

#include <algorithm>
#include <cstdlib>

namespace maskd {
namespace {

// Zeros behind the point before the first other digit.
std::int64_t LeadingZeros(const Decimal& end) {
  return end.is_zero() ? 0 : std::max<std::int64_t>(-end.magnitude(), 0);
}

// Where the ends are of like size, their digits: the second value may differ in the last. And as
// many as lead there from a number that begins alike: from 1 to 1000.
std::int64_t DigitsOf(const NumberInterval& interval) {
  if (!interval.min.has_value() || !interval.max.has_value()) return 0;
  const Decimal& min = *interval.min;
  const Decimal& max = *interval.max;
  const bool wide = min.is_zero() || max.is_zero() || min.negative != max.negative ||
                    std::abs(min.magnitude() - max.magnitude()) > 1;
  if (wide) return 0;
  const auto digits = static_cast<std::int64_t>(std::max(min.digits.size(), max.digits.size()));
  return std::max({digits, std::abs(min.magnitude()), std::abs(max.magnitude())});
}

}  // namespace

std::int64_t ZerosBetween(const NumberSpec& spec) {
  std::int64_t zeros = 0;
  for (const NumberInterval& interval : spec.intervals) {
    zeros = std::max(zeros, DigitsOf(interval));
    // Behind a sign and zeros, only what lies between 0 and the end is left.
    if (interval.max.has_value() && !interval.max->negative)
      zeros = std::max(zeros, LeadingZeros(*interval.max));
    if (interval.min.has_value() && interval.min->negative)
      zeros = std::max(zeros, LeadingZeros(*interval.min));
  }
  for (const Decimal& divisor : spec.multiple_of) {
    zeros =
        std::max(zeros, std::max<std::int64_t>(std::abs(divisor.exponent), divisor.magnitude()));
  }
  return zeros;
}

}  // namespace maskd
