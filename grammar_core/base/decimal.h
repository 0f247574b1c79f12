// A number as an exact decimal of any size.
//
// Threads  a plain value.
#ifndef MASKD_GRAMMAR_CORE_BASE_DECIMAL_H_
#define MASKD_GRAMMAR_CORE_BASE_DECIMAL_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maskd {

// (-1 if negative) * digits * 10^exponent. No leading or trailing zeros in `digits`; zero has none,
// exponent 0 and no sign. So equal numbers have equal Decimals. Exponents are clamped to +-10^17.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  bool operator==(const Decimal&) const = default;
  // By value.
  std::strong_ordering operator<=>(const Decimal& other) const;

  // Both look at the normal form alone, so neither depends on how the number was written.
  [[nodiscard]] bool is_integer() const { return exponent >= 0; }
  [[nodiscard]] bool is_zero() const { return digits.empty(); }
  // The p for which the magnitude is 0.DIGITS * 10^p.
  [[nodiscard]] std::int64_t magnitude() const {
    return static_cast<std::int64_t>(digits.size()) + exponent;
  }
};

// `spelling` must be a JSON number.
Decimal ReadDecimal(absl::string_view spelling);

// For people: without an exponent where that is not much longer.
std::string ToString(const Decimal& number);

// The number as a count from 0; 2^32 - 2 for what is larger, nothing for what is no count.
std::optional<std::uint32_t> AsCount(const Decimal& number);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_DECIMAL_H_
