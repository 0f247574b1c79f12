#include "grammar_core/base/decimal.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace maskd {
namespace {

constexpr std::int64_t kMaxExponent = 100'000'000'000'000'000;
constexpr std::uint32_t kMaxCount = 0xFFFFFFFE;
// A plain spelling is not made of more digits.
constexpr std::int64_t kMaxPlainDigits = 40;

// The digits after 'e', clamped.
std::int64_t ReadExponent(absl::string_view digits) {
  assert(!digits.empty());
  std::int64_t exponent = 0;
  if (absl::SimpleAtoi(digits, &exponent)) return std::clamp(exponent, -kMaxExponent, kMaxExponent);
  return digits.front() == '-' ? -kMaxExponent : kMaxExponent;
}

// Moves zeros at both ends of the digits into the exponent.
void DropZeros(Decimal* number) {
  std::string& digits = number->digits;
  const std::size_t last = digits.find_last_not_of('0');
  if (last == std::string::npos) {
    *number = Decimal();
    return;
  }
  number->exponent += static_cast<std::int64_t>(digits.size() - last - 1);
  digits.resize(last + 1);
  digits.erase(0, digits.find_first_not_of('0'));
}

// The magnitudes of two numbers that are not zero.
std::strong_ordering CompareMagnitudes(const Decimal& x, const Decimal& y) {
  assert(!x.is_zero() && !y.is_zero());
  const std::strong_ordering order = x.magnitude() <=> y.magnitude();
  if (order != std::strong_ordering::equal) return order;
  return x.digits.compare(y.digits) <=> 0;  // neither ends in a zero
}

}  // namespace

std::strong_ordering Decimal::operator<=>(const Decimal& other) const {
  const auto sign = [](const Decimal& d) { return d.is_zero() ? 0 : d.negative ? -1 : 1; };
  if (sign(*this) != sign(other)) return sign(*this) <=> sign(other);
  if (is_zero()) return std::strong_ordering::equal;
  return negative ? CompareMagnitudes(other, *this) : CompareMagnitudes(*this, other);
}

Decimal ReadDecimal(absl::string_view spelling) {
  assert(!spelling.empty());
  Decimal number;
  number.negative = spelling.front() == '-';
  if (number.negative) spelling.remove_prefix(1);
  const std::size_t e = spelling.find_first_of("eE");
  if (e != absl::string_view::npos) {
    number.exponent = ReadExponent(spelling.substr(e + 1));
    spelling = spelling.substr(0, e);
  }
  const std::size_t point = spelling.find('.');
  number.digits = std::string(spelling.substr(0, point));
  if (point != absl::string_view::npos) {
    const absl::string_view fraction = spelling.substr(point + 1);
    absl::StrAppend(&number.digits, fraction);
    number.exponent -= static_cast<std::int64_t>(fraction.size());
  }
  DropZeros(&number);
  return number;
}

std::string ToString(const Decimal& number) {
  const std::string sign = number.negative ? "-" : "";
  const std::string& digits = number.digits;
  const auto size = static_cast<std::int64_t>(digits.size());
  if (number.is_zero()) return "0";
  if (std::abs(number.exponent) + size > kMaxPlainDigits)
    return absl::StrCat(sign, digits, "e", number.exponent);
  if (number.exponent >= 0) return absl::StrCat(sign, digits, std::string(number.exponent, '0'));
  const std::int64_t point = number.magnitude();
  if (point <= 0) return absl::StrCat(sign, "0.", std::string(-point, '0'), digits);
  return absl::StrCat(sign, digits.substr(0, point), ".", digits.substr(point));
}

std::optional<std::uint32_t> AsCount(const Decimal& number) {
  if (number.negative || !number.is_integer()) return std::nullopt;
  if (number.is_zero()) return 0;
  if (number.magnitude() > 10) return kMaxCount;
  std::uint64_t count = 0;
  if (!absl::SimpleAtoi(ToString(number), &count)) return kMaxCount;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kMaxCount));
}

}  // namespace maskd
