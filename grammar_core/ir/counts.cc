#include "grammar_core/ir/counts.h"

#include <algorithm>
#include <tuple>

namespace maskd {

std::optional<Counts> AddCounts(Counts x, Counts y) {
  const std::uint64_t min = std::uint64_t{x.min} + y.min;
  const std::uint64_t max = std::uint64_t{x.max} + y.max;
  const bool bounded = x.max != kUnbounded && y.max != kUnbounded;
  if (min > kMaxRepeats || (bounded && max > kMaxRepeats)) return std::nullopt;
  return Counts{static_cast<std::uint32_t>(min),
                bounded ? static_cast<std::uint32_t>(max) : kUnbounded};
}

std::optional<Counts> UniteCounts(Counts x, Counts y) {
  if (y.min < x.min) std::swap(x, y);
  if (x.max != kUnbounded && y.min > std::uint64_t{x.max} + 1) return std::nullopt;
  return Counts{x.min, std::max(x.max, y.max)};
}

// Of k rounds come k * min to k * max. From c rounds on, where c is at least 1, there is no gap
// before the next round's if there is none before those of c + 1: the ranges grow.
std::optional<NestedCounts> NestCounts(Counts inner, Counts outer) {
  const std::uint64_t rounds = std::max<std::uint32_t>(outer.min, 1);
  const bool gap = outer.max > rounds && inner.max != kUnbounded &&
                   (rounds + 1) * inner.min > rounds * inner.max + 1;
  if (gap) return std::nullopt;
  NestedCounts nested = {rounds * inner.min, NestedCounts::kNoBound, false};
  if (inner.max != kUnbounded && outer.max != kUnbounded)
    nested.max = std::uint64_t{inner.max} * outer.max;
  if (outer.min == 0) {
    nested.or_none = nested.min > 1;
    if (!nested.or_none) nested.min = 0;
  }
  return nested;
}

std::vector<Power> UnitePowers(std::vector<Power> powers) {
  std::sort(powers.begin(), powers.end(), [](const Power& x, const Power& y) {
    return std::tie(x.base, x.counts.min) < std::tie(y.base, y.counts.min);
  });
  std::vector<Power> united;
  for (const Power& power : powers) {
    const bool alike = !united.empty() && united.back().base == power.base;
    const std::optional<Counts> both =
        alike ? UniteCounts(united.back().counts, power.counts) : std::nullopt;
    if (both.has_value())
      united.back().counts = *both;
    else
      united.push_back(power);
  }
  return united;
}

}  // namespace maskd
