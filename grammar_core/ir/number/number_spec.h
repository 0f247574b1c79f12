// A set of numbers, and how they may be spelled in JSON.
//
// Threads  a plain value.
#ifndef MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_SPEC_H_
#define MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grammar_core/base/decimal.h"

namespace maskd {

// Numbers from `min` to `max`; an end that is absent is infinite, an open one is not included.
struct NumberInterval {
  std::optional<Decimal> min = {};
  std::optional<Decimal> max = {};
  bool min_open = false;
  bool max_open = false;

  bool operator==(const NumberInterval&) const = default;
};

// How numbers are written.
enum class NumberNotation : std::uint8_t {
  kAny,  // every spelling that JSON has
  // Digits without an exponent, and no needless zero at the end: "10", "0.5", and of a fraction
  // that is nothing ".0". No "-0" and no "-0.0".
  kPlain,
  // As serializers write what is very large or small: one digit and perhaps a fraction, without a
  // needless zero, "e", and an exponent from 16 on or up to -5. That one may have one zero before a
  // single digit, as Python writes it: "1e-07".
  kScientific,
};

// The default is any number, in any spelling that readers take.
struct NumberSpec {
  // Digits at most in an integer part and in a fraction that are not bounded otherwise.
  static constexpr std::uint32_t kDefaultDigits = 1024;
  // Digits at most in an exponent: no double needs more than three.
  static constexpr std::uint32_t kDefaultExponentDigits = 4;
  // For a number that is constrained, as an integer is: readers that hold it in a double still know
  // then that the constraint is met.
  static constexpr std::uint32_t kConstrainedExponentDigits = 2;

  // The values: in one of the intervals, which ascend and do not overlap ...
  std::vector<NumberInterval> intervals = {NumberInterval()};
  // ... a multiple of each of these and of none of those, which are all greater than 0.
  std::vector<Decimal> multiple_of = {};
  std::vector<Decimal> not_multiple_of = {};

  // The spellings: digits at most in the integer part (at least 1), in the fraction and in the
  // exponent. 0: the part is left out. With an exponent there must be a fraction.
  std::uint32_t integer_digits = kDefaultDigits;
  std::uint32_t fraction_digits = kDefaultDigits;
  std::uint32_t exponent_digits = kConstrainedExponentDigits;
  // kPlain: no digits of an exponent. kScientific: some, and one digit in the integer part.
  NumberNotation notation = NumberNotation::kAny;

  bool operator==(const NumberSpec&) const = default;
};

// Raises the bounds on digits so far that `value` can be spelled, unless its exponent would have to
// have more than 9 digits.
void MakeRoomFor(const Decimal& value, NumberSpec* spec);

// The same text for the same spec, for people and as a key: "number<0 <= x < 5, multiple of 0.1>".
std::string ToString(const NumberSpec& spec);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_SPEC_H_
