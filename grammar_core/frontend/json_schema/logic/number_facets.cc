// Keywords of numbers for one known number, in exact decimals: 1e400 and 0.1 are what they say.
//
// Source  JSON Schema Validation 2020-12, section 6.2.
#include "grammar_core/frontend/json_schema/logic/number_facets.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/number/number_divisors.h"

namespace maskd {
namespace {

using K = Keyword;

// Whether `number` / `step` is an integer; nothing where `step` has too many digits to say.
// Digits are taken one by one modulo the step's, and the zeros of the exponent by repeated
// squaring: 1e1000000 is never written out.
std::optional<bool> IsMultiple(const Decimal& number, const Decimal& step) {
  assert(!step.is_zero());
  std::uint64_t divisor = 0;
  if (step.digits.size() > 18 || !absl::SimpleAtoi(step.digits, &divisor)) return std::nullopt;
  std::int64_t zeros = number.exponent - step.exponent;
  if (number.is_zero()) return true;
  if (zeros < 0) return false;
  absl::uint128 rest = 0;
  for (const char digit : number.digits) rest = (rest * 10 + (digit - '0')) % divisor;
  for (absl::uint128 power = 10 % divisor; zeros > 0; zeros /= 2, power = power * power % divisor)
    if (zeros % 2 == 1) rest = rest * power % divisor;
  return rest == 0;
}

bool HoldsPlainly(const Facet& facet, const JsonValue& at, const Decimal& number) {
  const Decimal bound = facet.at.is_number() ? ReadDecimal(facet.at.text()) : Decimal();
  switch (facet.keyword) {
    case K::kMinimum:
      return number >= bound;
    case K::kExclusiveMinimum:
      return number > bound;
    case K::kMaximum:
      return number <= bound;
    case K::kExclusiveMaximum:
      return number < bound;
    case K::kType:
      return at.text().find_first_of(".eE") == absl::string_view::npos;
    case K::kConst:
    case K::kEnum: {
      const std::vector<Decimal> listed = NumbersIn(facet);
      return std::find(listed.begin(), listed.end(), number) != listed.end();
    }
    default:
      return !facet.negated;
  }
}

}  // namespace

std::vector<Decimal> NumbersIn(const Facet& facet) {
  assert(facet.keyword == K::kConst || facet.keyword == K::kEnum);
  std::vector<Decimal> numbers;
  const auto add = [&](const JsonValue& value) {
    if (value.is_number()) numbers.push_back(ReadDecimal(value.text()));
  };
  if (facet.keyword == K::kConst)
    add(facet.at);
  else
    for (const JsonValue value : facet.at.children()) add(value);
  return numbers;
}

absl::Status RefusedDivisor(const JsonValue& at) {
  return UnsupportedAt(at.Pointer(), at.key(),
                       absl::StrCat(at.text(), " has, with what stands beside it, a modulus over ",
                                    NumberDivisors::kMaxModulus));
}

// Decimals compare by value and exactly: 0.1 is a tenth, and 1e400 is not infinite.
absl::StatusOr<bool> NumberFacetHolds(const Facet& facet, const JsonValue& number) {
  assert(number.is_number());
  const Decimal value = ReadDecimal(number.text());
  if (facet.keyword != K::kMultipleOf) return HoldsPlainly(facet, number, value) != facet.negated;
  const std::optional<bool> multiple = IsMultiple(value, ReadDecimal(facet.at.text()));
  if (!multiple.has_value()) return RefusedDivisor(facet.at);
  return *multiple != facet.negated;
}

}  // namespace maskd
