#include "grammar_core/ir/number/number_cuts.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <tuple>

#include "grammar_core/base/sort_unique.h"

namespace maskd {
namespace {

// An end of an interval as seen from the numbers of one sign: its magnitude, if it is one of
// theirs.
const Decimal* Magnitude(const std::optional<Decimal>& end, bool negative) {
  const bool own = end.has_value() && !end->is_zero() && end->negative == negative;
  return own ? &*end : nullptr;
}

// Whether numbers of the sign as near to 0 as you like lie inside.
bool ReachesZero(const NumberInterval& interval, bool negative) {
  const std::optional<Decimal>& near = negative ? interval.max : interval.min;
  const std::optional<Decimal>& far = negative ? interval.min : interval.max;
  return Magnitude(near, negative) == nullptr &&
         (!far.has_value() || Magnitude(far, negative) != nullptr);
}

int DigitAt(const std::string& digits, std::uint32_t depth) {
  return depth < digits.size() ? digits[depth] - '0' : 0;
}

void AppendRange(IntRange range, IntRanges* ranges) {
  if (range.lo > range.hi) return;
  assert(ranges->empty() || ranges->back().hi < range.lo);
  if (!ranges->empty() && ranges->back().hi + 1 == range.lo)
    ranges->back().hi = range.hi;
  else
    ranges->push_back(range);
}

}  // namespace

NumberCuts::NumberCuts(const std::vector<NumberInterval>& intervals, bool negative) {
  for (const NumberInterval& interval : intervals) {
    for (const auto* end : {&interval.min, &interval.max})
      if (const Decimal* value = Magnitude(*end, negative)) strings_.push_back(value->digits);
  }
  SortUnique(&strings_);
  for (const NumberInterval& interval : intervals) {
    inside_at_zero_ |= ReachesZero(interval, negative);
    // The nearer end lets in, the farther out; seen from the negative numbers the ends change
    // places, and so does what lies above them.
    if (const Decimal* min = Magnitude(interval.min, negative))
      AddCut(*min, interval.min_open != negative);
    if (const Decimal* max = Magnitude(interval.max, negative))
      AddCut(*max, interval.max_open == negative);
  }
  std::sort(cuts_.begin(), cuts_.end(), [](const Cut& x, const Cut& y) {
    return std::tie(x.exponent, x.slot) < std::tie(y.exponent, y.slot);
  });
  for (std::uint32_t i = 0; i < cuts_.size(); ++i)
    if (i == 0 || cuts_[i].exponent != cuts_[i - 1].exponent) decades_.push_back(i);
}

void NumberCuts::AddCut(const Decimal& value, bool above) {
  const auto string = std::lower_bound(strings_.begin(), strings_.end(), value.digits);
  assert(string != strings_.end() && *string == value.digits);
  const auto number = static_cast<std::uint32_t>(string - strings_.begin());
  cuts_.push_back({value.magnitude(), 2 * number + (above ? 2 : 1)});
}

NumberCuts::Place NumberCuts::Next(const Place& place, int digit) const {
  if (Decided(place)) return place;
  assert(digit >= 0 && digit <= 9 && place.last <= strings_.size());
  const auto less = [&](const std::string& digits, int d) {
    return DigitAt(digits, place.depth) < d;
  };
  const auto begin = strings_.begin() + place.first;
  const auto end = strings_.begin() + place.last;
  const auto first = std::lower_bound(begin, end, digit, less);
  const auto last = std::lower_bound(first, end, digit + 1, less);
  Place next = {static_cast<std::uint32_t>(first - strings_.begin()),
                static_cast<std::uint32_t>(last - strings_.begin()), 0};
  if (Decided(next)) return next;
  const bool one = next.last == next.first + 1;
  const auto size = static_cast<std::uint32_t>(strings_[next.first].size());
  next.depth = one ? std::min(place.depth + 1, size) : place.depth + 1;
  return next;
}

std::uint32_t NumberCuts::SlotOf(const Place& place) const {
  const bool is_string = !Decided(place) && strings_[place.first].size() <= place.depth;
  return 2 * place.first + (is_string ? 1 : 0);
}

IntRanges NumberCuts::Exponents(const Place& place) const {
  const std::uint32_t slot = SlotOf(place);
  IntRanges ranges;
  bool inside = inside_at_zero_;
  std::int64_t from = kMinusInfinity;
  for (std::size_t i = 0; i < decades_.size(); ++i) {
    const auto begin = cuts_.begin() + decades_[i];
    const auto end = i + 1 < decades_.size() ? cuts_.begin() + decades_[i + 1] : cuts_.end();
    if (inside) AppendRange({from, begin->exponent - 1}, &ranges);
    const auto passed = std::upper_bound(
        begin, end, slot, [](std::uint32_t s, const Cut& cut) { return s < cut.slot; });
    if (inside != ((passed - begin) % 2 == 1))
      AppendRange({begin->exponent, begin->exponent}, &ranges);
    inside ^= (end - begin) % 2 == 1;
    from = begin->exponent + 1;
  }
  if (inside) AppendRange({from, kPlusInfinity}, &ranges);
  return ranges;
}

}  // namespace maskd
