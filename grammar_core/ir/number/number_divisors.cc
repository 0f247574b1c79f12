// The remainder of the digits by the common multiple of all divisors says which shifts by powers of
// ten make a right number. So divisibility is a finite automaton, whose states are the remainders.
//
// Invariant  products go through 128 bits or stay below kMaxCount, so that none wraps round.
// Cost       at most kMaxTries multiples are looked at for one that no excluded divisor goes into.
#include "grammar_core/ir/number/number_divisors.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "absl/numeric/int128.h"
#include "absl/strings/numbers.h"

namespace maskd {
namespace {

// Multiples that are looked at for one that is no multiple of what is excluded.
constexpr std::uint64_t kMaxTries = 1000;

std::uint64_t MultiplyMod(std::uint64_t x, std::uint64_t y, std::uint64_t modulus) {
  assert(modulus > 0);
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 32;
  if (modulus < kHalf) return x * y % modulus;
  return absl::Uint128Low64(absl::uint128(x) * y % modulus);
}

std::uint64_t PowerOfTenMod(std::uint32_t exponent, std::uint64_t modulus) {
  std::uint64_t power = 1 % modulus;
  std::uint64_t square = 10 % modulus;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) power = MultiplyMod(power, square, modulus);
    square = MultiplyMod(square, square, modulus);
  }
  return power;
}

// Counts of units that are worked with at most; what is left in the end must be far less.
constexpr std::uint64_t kMaxCount = 1'000'000'000'000'000'000;

// count * 10^-scale.
struct Step {
  std::uint64_t count;
  std::int64_t scale;
};

std::optional<Step> ReadStep(const Decimal& number) {
  Step step = {0, -number.exponent};
  if (number.digits.size() > 18 || !absl::SimpleAtoi(number.digits, &step.count))
    return std::nullopt;
  return step;
}

// `step` in units of 10^-scale, which are no larger than its own.
std::optional<std::uint64_t> InUnits(Step step, std::int64_t scale) {
  assert(step.scale <= scale);
  for (; step.scale < scale; ++step.scale) {
    if (step.count > kMaxCount / 10) return std::nullopt;
    step.count *= 10;
  }
  return step.count;
}

// The least step that both go into.
std::optional<Step> CommonMultiple(const Step& x, const Step& y) {
  Step common = {0, std::max(x.scale, y.scale)};
  const std::optional<std::uint64_t> a = InUnits(x, common.scale);
  const std::optional<std::uint64_t> b = InUnits(y, common.scale);
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  const std::uint64_t once = *a / std::gcd(*a, *b);
  if (once > kMaxCount / *b) return std::nullopt;
  for (common.count = once * *b; common.count % 10 == 0; common.count /= 10) --common.scale;
  return common;
}

// The least t up to `last` for which `remainder` * 10^t is a multiple of `divisor`, or infinity.
std::int64_t FirstMultiple(std::uint64_t remainder, std::uint64_t divisor, std::uint32_t last) {
  assert(divisor > 0);
  std::uint64_t rest = remainder % divisor;
  for (std::uint32_t t = 0; t <= last; ++t) {
    if (rest == 0) return t;
    rest = MultiplyMod(rest, 10, divisor);
  }
  return kPlusInfinity;
}

// What must be added to n for a multiple of `step`.
std::uint64_t RestToMultiple(std::uint64_t n, std::uint64_t step) {
  return (step - n % step) % step;
}

// What of `divisor` is left for n when n is shifted by t.
std::uint64_t LeftOver(std::uint64_t divisor, std::uint32_t t) {
  for (; t > 0; --t) divisor /= std::gcd(divisor, std::uint64_t{10});
  return divisor;
}

}  // namespace

std::optional<NumberDivisors> NumberDivisors::Create(const NumberSpec& spec) {
  std::optional<Step> required;
  std::vector<Step> excluded;
  for (const Decimal& divisor : spec.multiple_of) {
    const std::optional<Step> step = ReadStep(divisor);
    if (!step.has_value()) return std::nullopt;
    required = required.has_value() ? CommonMultiple(*required, *step) : step;
    if (!required.has_value()) return std::nullopt;
  }
  for (const Decimal& divisor : spec.not_multiple_of) {
    const std::optional<Step> step = ReadStep(divisor);
    if (!step.has_value()) return std::nullopt;
    excluded.push_back(*step);
  }
  NumberDivisors made;
  if (required.has_value()) excluded.push_back(*required);
  const auto finest =
      std::max_element(excluded.begin(), excluded.end(),
                       [](const Step& x, const Step& y) { return x.scale < y.scale; });
  made.scale_ = finest == excluded.end() ? 0 : finest->scale;
  for (const Step& step : excluded) {
    const std::optional<std::uint64_t> units = InUnits(step, made.scale_);
    if (!units.has_value() || *units > kMaxModulus) return std::nullopt;
    const std::uint64_t more = *units / std::gcd(made.modulus_, *units);
    if (made.modulus_ > kMaxModulus / more) return std::nullopt;
    made.modulus_ *= more;
    made.excluded_.push_back(*units);
  }
  for (std::uint64_t power = 1; power < made.modulus_; power *= 10) ++made.digits_;
  while (std::gcd(LeftOver(made.modulus_, made.last_shift_), std::uint64_t{10}) > 1)
    ++made.last_shift_;
  if (required.has_value()) {
    made.required_ = made.excluded_.back();
    made.excluded_.pop_back();
  }
  return made;
}

std::uint64_t NumberDivisors::Shift(std::uint64_t remainder, std::uint32_t zeros) const {
  return MultiplyMod(remainder, PowerOfTenMod(zeros, modulus_), modulus_);
}

IntRange NumberDivisors::Shifts(std::uint64_t remainder) const {
  IntRange shifts = {required_.has_value() ? FirstMultiple(remainder, *required_, last_shift_) : 0,
                     kPlusInfinity};
  for (const std::uint64_t divisor : excluded_) {
    const std::int64_t first = FirstMultiple(remainder, divisor, last_shift_);
    if (first != kPlusInfinity) shifts.hi = std::min(shifts.hi, first - 1);
  }
  return shifts.lo == kPlusInfinity ? IntRange{1, 0} : shifts;
}

bool NumberDivisors::CanFollow(std::uint64_t remainder, std::uint32_t count, IntRange shifts,
                               bool nonzero) const {
  if (shifts.lo > shifts.hi) return false;
  const auto capped = [&](std::int64_t t) {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(t, last_shift_));
  };
  const std::uint64_t start = Shift(remainder, count);
  // One past the largest number that the digits can be.
  const auto end = static_cast<std::uint64_t>(PowerOfTen(count));
  // The more is shifted, the less is required; what is excluded wants the opposite.
  const std::uint32_t last = capped(shifts.hi);
  for (std::uint32_t t = excluded_.empty() ? last : capped(shifts.lo); t <= last; ++t) {
    const std::uint64_t step = LeftOver(required_.value_or(1), t);
    std::uint64_t digits = RestToMultiple(start, step);
    if (nonzero && digits == 0) digits = step;
    if (HoldsRightOne(start + digits, start + end, step, t)) return true;
  }
  return false;
}

std::optional<NumberDivisors::Digits> NumberDivisors::DigitsBehind(std::uint64_t remainder,
                                                                   std::uint32_t zeros,
                                                                   std::uint32_t count,
                                                                   std::uint32_t fraction) const {
  assert(count <= kMostDigits && "their powers of ten fit 64 bits");
  const auto power = [](std::uint64_t exponent) {
    return static_cast<std::uint64_t>(PowerOfTen(static_cast<std::uint32_t>(exponent)));
  };
  const std::uint64_t required = required_.value_or(1);
  const std::int64_t shift = scale_ - std::int64_t{fraction};
  if (shift >= 0) {
    const std::uint64_t step = LeftOver(required, static_cast<std::uint32_t>(shift));
    const std::uint64_t least = RestToMultiple(Shift(remainder, zeros + count), step);
    return least < power(count) ? std::optional(Digits{least, step}) : std::nullopt;
  }
  // A unit is a power of ten: so many zeros end the number.
  const auto last = static_cast<std::uint64_t>(-shift);
  if (zeros + count < last) return std::nullopt;
  const std::uint64_t shifted = Shift(remainder, static_cast<std::uint32_t>(zeros + count - last));
  const std::uint64_t least = RestToMultiple(shifted, required);
  if (least == 0) return Digits{0, 0};
  if (count <= last || least >= power(count - last)) return std::nullopt;
  return Digits{least * power(last), 0};
}

// What excludes a number excludes it again after some steps, so there is no need to look farther.
bool NumberDivisors::HoldsRightOne(std::uint64_t from, std::uint64_t end, std::uint64_t step,
                                   std::uint32_t t) const {
  std::vector<std::uint64_t> divisors;
  std::uint64_t period = 1;
  for (const std::uint64_t divisor : excluded_) {
    divisors.push_back(LeftOver(divisor, t));
    period = std::lcm(period, divisors.back() / std::gcd(step, divisors.back()));
  }
  period = std::min(period, kMaxTries);
  for (std::uint64_t n = from; n < end && period > 0; n += step, --period) {
    if (std::none_of(divisors.begin(), divisors.end(),
                     [&](std::uint64_t divisor) { return n % divisor == 0; })) {
      return true;
    }
  }
  return false;
}

}  // namespace maskd
