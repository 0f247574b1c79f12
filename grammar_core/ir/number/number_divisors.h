// Which numbers are multiples of what they must be, and of nothing that they must not be, decided
// from the remainder of their digits while the exponent is still to come.
//
// Digits are read as one integer n, without point and exponent. Every divisor is an integer count
// of units of 10^-scale; the remainder of n by their common multiple, the modulus, says all there
// is to know of n. The number is n * 10^t units, and t, the shift, is what point and exponent make
// it. A number with t < 0, n not ending in 0, is no integer count of units, so a multiple of none.
//
// Threads  immutable once made.
#ifndef MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_DIVISORS_H_
#define MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_DIVISORS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "grammar_core/ir/number/int_ranges.h"
#include "grammar_core/ir/number/number_spec.h"

namespace maskd {

// 10^exponent, of at most 18.
inline std::int64_t PowerOfTen(std::uint32_t exponent) {
  std::int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

// What a mantissa needs to know of `multiple_of` and `not_multiple_of`.
class NumberDivisors {
 public:
  // The largest modulus: sums and tenfolds of remainders fit 64 bits.
  static constexpr std::uint64_t kMaxModulus = 1'000'000'000'000'000;

  // Digits that fit 64 bits whatever they are.
  static constexpr std::uint32_t kMostDigits = 18;

  // Nothing where the modulus would be larger than that.
  static std::optional<NumberDivisors> Create(const NumberSpec& spec);

  // Every number is right.
  [[nodiscard]] bool none() const { return !required_.has_value() && excluded_.empty(); }
  [[nodiscard]] std::int64_t scale() const { return scale_; }
  [[nodiscard]] std::uint64_t modulus() const { return modulus_; }
  // So many digits can be any remainder.
  [[nodiscard]] std::uint32_t digits() const { return digits_; }
  // Neither a fraction nor an exponent makes a multiple of an integer that is none.
  [[nodiscard]] bool wants_digits_alone() const { return scale_ == 0 && last_shift_ == 0; }
  // Numbers that are no integer count of units are right.
  [[nodiscard]] bool allows_finer() const { return !required_.has_value(); }

  // The remainder of n * 10^zeros.
  [[nodiscard]] std::uint64_t Shift(std::uint64_t remainder, std::uint32_t zeros) const;

  // The t, negative ones apart, for which n * 10^t units are right. May be empty: lo > hi.
  [[nodiscard]] IntRange Shifts(std::uint64_t remainder) const;

  // Whether `count` more digits behind n, not all 0 if `nonzero` says so, can make an integer m for
  // which m * 10^t units are right for some t of `shifts`, which has none below 0.
  [[nodiscard]] bool CanFollow(std::uint64_t remainder, std::uint32_t count, IntRange shifts,
                               bool nonzero) const;

  // Some digits, and what may be added to them: 0 where nothing is.
  struct Digits {
    std::uint64_t least;
    std::uint64_t step;
  };
  // The least `count` digits, at most kMostDigits, that behind n make a multiple of what is
  // required; nothing where no such digits do. With them `fraction` digits stand behind the point.
  // n ends in `zeros` zeros, and `remainder` is that of its digits before them.
  [[nodiscard]] std::optional<Digits> DigitsBehind(std::uint64_t remainder, std::uint32_t zeros,
                                                   std::uint32_t count,
                                                   std::uint32_t fraction) const;

 private:
  NumberDivisors() = default;

  // Whether one of from, from + step, ... below `end` is right when shifted by `t`.
  [[nodiscard]] bool HoldsRightOne(std::uint64_t from, std::uint64_t end, std::uint64_t step,
                                   std::uint32_t t) const;

  std::int64_t scale_ = 0;
  std::uint64_t modulus_ = 1;
  std::uint32_t digits_ = 0;
  // From this shift on, powers of ten hold every power of 2 and 5 that the modulus has.
  std::uint32_t last_shift_ = 0;
  // The least common multiple of all that the numbers must be multiples of.
  std::optional<std::uint64_t> required_;
  std::vector<std::uint64_t> excluded_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_DIVISORS_H_
