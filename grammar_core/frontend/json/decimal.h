// A JSON number as an exact decimal of any size, and the equality of JSON values that rests on it.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_DECIMAL_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_DECIMAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

// (-1 if negative) * digits * 10^exponent. No leading or trailing zeros in `digits`; zero has none,
// exponent 0 and no sign. So equal numbers have equal Decimals. Exponents are clamped to +-10^17.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  bool operator==(const Decimal&) const = default;
  [[nodiscard]] bool is_integer() const { return exponent >= 0; }
  [[nodiscard]] bool is_zero() const { return digits.empty(); }
};

// `spelling` must be a JSON number.
Decimal ReadDecimal(absl::string_view spelling);

// The number as a count from 0; 2^32 - 2 for what is larger, nothing for what is no count.
std::optional<std::uint32_t> AsCount(const Decimal& number);

// Spellings of a number: the given one, and the plain one (no exponent, no zeros to drop) where
// that is not longer than some 20 digits.
std::vector<std::string> Spellings(absl::string_view spelling);

// A text that two JSON values share exactly when they are equal: numbers by value, objects without
// regard to the order of their keys.
std::string EqualityKey(const JsonValue& value);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_DECIMAL_H_
