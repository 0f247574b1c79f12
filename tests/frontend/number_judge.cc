#include "tests/frontend/number_judge.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "re2/re2.h"

namespace maskd {
namespace {

// (-1 if negative) * digits * 10^exponent.
struct Number {
  bool negative = false;
  std::string digits;
  long long exponent = 0;
};

std::string TakeDigits(absl::string_view* text) {
  std::size_t size = 0;
  while (size < text->size() && (*text)[size] >= '0' && (*text)[size] <= '9') ++size;
  std::string digits(text->substr(0, size));
  text->remove_prefix(size);
  return digits;
}

// Whether `text` is written as its notation has it.
bool IsWritten(NumberNotation notation, absl::string_view text) {
  static const auto* const plain = new RE2(R"(-?(0|[1-9][0-9]*)(\.(0|[0-9]*[1-9]))?)");
  static const auto* const scientific = new RE2(
      R"(-?[1-9](\.[0-9]*[1-9])?e(-(0?[5-9]|[1-9][0-9]+)|\+?(1[6-9]|[2-9][0-9]|[1-9][0-9]{2,})))");
  switch (notation) {
    case NumberNotation::kAny:
      return true;
    case NumberNotation::kPlain:
      return RE2::FullMatch({text.data(), text.size()}, *plain) && text != "-0" && text != "-0.0";
    case NumberNotation::kScientific:
      return RE2::FullMatch({text.data(), text.size()}, *scientific);
  }
  return false;
}

// A JSON number whose parts have at most so many digits as `spec` says.
std::optional<Number> Parse(const NumberSpec& spec, absl::string_view text) {
  Number number;
  number.negative = absl::ConsumePrefix(&text, "-");
  const std::string integer = TakeDigits(&text);
  if (integer.empty() || (integer.size() > 1 && integer[0] == '0')) return std::nullopt;
  if (integer.size() > spec.integer_digits) return std::nullopt;
  number.digits = integer;
  if (absl::ConsumePrefix(&text, ".")) {
    const std::string fraction = TakeDigits(&text);
    if (fraction.empty() || fraction.size() > spec.fraction_digits) return std::nullopt;
    number.digits += fraction;
    number.exponent = -static_cast<long long>(fraction.size());
  }
  if (absl::ConsumePrefix(&text, "e") || absl::ConsumePrefix(&text, "E")) {
    const bool minus = absl::ConsumePrefix(&text, "-");
    if (!minus) absl::ConsumePrefix(&text, "+");
    const std::string digits = TakeDigits(&text);
    long long exponent = 0;
    if (digits.size() > spec.exponent_digits || !absl::SimpleAtoi(digits, &exponent))
      return std::nullopt;
    number.exponent += minus ? -exponent : exponent;
  }
  return text.empty() ? std::optional(number) : std::nullopt;
}

Number FromDecimal(const Decimal& decimal) {
  return {decimal.negative, decimal.is_zero() ? "0" : decimal.digits, decimal.exponent};
}

bool IsZero(const Number& number) {
  return number.digits.find_first_not_of('0') == std::string::npos;
}

// Brings both to one exponent and one length, so that digits compare as strings.
void Align(Number* x, Number* y) {
  for (Number* n : {x, y}) {
    Number* other = n == x ? y : x;
    if (n->exponent > other->exponent) {
      n->digits.append(static_cast<std::size_t>(n->exponent - other->exponent), '0');
      n->exponent = other->exponent;
    }
  }
  const std::size_t size = std::max(x->digits.size(), y->digits.size());
  for (Number* n : {x, y}) n->digits.insert(0, size - n->digits.size(), '0');
}

// Less than 0, 0 or more, as x is less than y, equal or greater.
int Compare(Number x, Number y) {
  if (IsZero(x)) x = {};
  if (IsZero(y)) y = {};
  const auto sign = [](const Number& n) { return IsZero(n) ? 0 : n.negative ? -1 : 1; };
  if (sign(x) != sign(y)) return sign(x) - sign(y);
  if (sign(x) == 0) return 0;
  // Far apart: no need to write the zeros out.
  const auto magnitude = [](const Number& n) {
    const std::size_t first = n.digits.find_first_not_of('0');
    return n.exponent + static_cast<long long>(n.digits.size() - first);
  };
  int order = magnitude(x) < magnitude(y) ? -1 : 1;
  if (magnitude(x) == magnitude(y)) {
    Align(&x, &y);
    order = x.digits.compare(y.digits);
  }
  return x.negative ? -order : order;
}

bool IsMultiple(Number number, const Decimal& step) {
  if (IsZero(number)) return true;
  if (number.exponent > step.exponent) {
    number.digits.append(static_cast<std::size_t>(number.exponent - step.exponent), '0');
    number.exponent = step.exponent;
  }
  for (; number.exponent < step.exponent; ++number.exponent) {
    if (number.digits.empty() || number.digits.back() != '0') return number.digits.empty();
    number.digits.pop_back();
  }
  unsigned long long divisor = 0;
  if (!absl::SimpleAtoi(step.digits, &divisor)) return false;
  unsigned long long rest = 0;
  for (const char digit : number.digits)
    rest = (rest * 10 + static_cast<unsigned long long>(digit - '0')) % divisor;
  return rest == 0;
}

bool IsIn(const Number& number, const NumberInterval& interval) {
  if (interval.min.has_value()) {
    const int order = Compare(number, FromDecimal(*interval.min));
    if (order < 0 || (order == 0 && interval.min_open)) return false;
  }
  if (interval.max.has_value()) {
    const int order = Compare(number, FromDecimal(*interval.max));
    if (order > 0 || (order == 0 && interval.max_open)) return false;
  }
  return true;
}

// Exponents that may bring a mantissa of this text near a bound.
std::set<long long> Exponents(const NumberSpec& spec, absl::string_view text) {
  std::set<long long> exponents = {0};
  absl::ConsumePrefix(&text, "-");
  const long long own = static_cast<long long>(TakeDigits(&text).size());
  const auto add = [&](long long around) {
    for (long long e = around - 6; e <= around + 6; ++e) exponents.insert(e);
  };
  add(0);
  if (spec.notation == NumberNotation::kScientific) {
    add(-11);
    add(22);
  }
  for (const NumberInterval& interval : spec.intervals) {
    if (interval.min.has_value()) add(interval.min->magnitude() - own);
    if (interval.max.has_value()) add(interval.max->magnitude() - own);
  }
  for (const Decimal& step : spec.multiple_of) add(step.magnitude() - own);
  const long long fraction = static_cast<long long>(text.size());
  for (const long long e : std::vector<long long>(exponents.begin(), exponents.end()))
    exponents.insert(e + fraction);
  return exponents;
}

// What is left of the digits of the spec's bounds behind those of `text`, and one more.
std::vector<std::string> RestsOfBounds(const NumberSpec& spec, absl::string_view text) {
  std::string written;
  for (const char c : text)
    if (c >= '0' && c <= '9' && !(c == '0' && written.empty())) written.push_back(c);
  std::vector<std::string> rests;
  for (const NumberInterval& interval : spec.intervals) {
    for (const auto* end : {&interval.min, &interval.max}) {
      if (!end->has_value() || (*end)->digits.substr(0, written.size()) != written) continue;
      rests.push_back((*end)->digits.substr(written.size()));
      rests.push_back(rests.back() + "1");
    }
  }
  return rests;
}

// What makes the digits of `text` a multiple of all steps at once, whatever the point: the fewest
// further digits of each count, and those of the multiple behind.
std::vector<std::string> RestsOfSteps(const NumberSpec& spec, absl::string_view text) {
  constexpr unsigned long long kMost = 1'000'000'000'000;
  unsigned long long unit = 1;
  for (const Decimal& step : spec.multiple_of) {
    unsigned long long digits = 0;
    if (!absl::SimpleAtoi(step.digits, &digits) || digits > kMost / unit) return {};
    unit = std::lcm(unit, digits);
  }
  if (unit == 1) return {};
  unsigned long long rest = 0;
  for (const char c : text)
    if (c >= '0' && c <= '9') rest = (rest * 10 + static_cast<unsigned long long>(c - '0')) % unit;
  std::vector<std::string> rests;
  unsigned long long count = 1;
  for (std::size_t size = 1; count <= unit; ++size) {
    count *= 10;
    rest = rest * 10 % unit;
    for (unsigned long long more = (unit - rest) % unit; more < count && rests.size() < 2 * size;
         more += unit) {
      const std::string spelled = absl::StrCat(more);
      rests.push_back(std::string(size - spelled.size(), '0') + spelled);
    }
  }
  return rests;
}

// What may stand behind `text` before an exponent.
std::vector<std::string> Digits(const NumberSpec& spec, absl::string_view text) {
  std::vector<std::string> digits = RestsOfBounds(spec, text);
  for (std::string& rest : RestsOfSteps(spec, text)) digits.push_back(std::move(rest));
  digits.emplace_back();
  for (int i = 0; i < 10; ++i) digits.push_back(absl::StrCat(i));
  for (int i = 0; i < 100; ++i) digits.push_back(absl::StrCat(i / 10, i % 10));
  if (spec.notation == NumberNotation::kPlain) {
    // Without an exponent it takes digits to come near a bound.
    for (std::size_t count = 3; count < 30; ++count)
      for (const char digit : {'0', '1', '9'}) digits.emplace_back(count, digit);
  }
  std::vector<std::string> more;
  if (text.find('.') != absl::string_view::npos) return digits;
  for (const std::string& d : digits) {
    if (!d.empty()) more.push_back("." + d);
    if (!d.empty() && (text.empty() || text == "-")) more.push_back("0." + d);
  }
  digits.insert(digits.end(), more.begin(), more.end());
  return digits;
}

bool CanEndExponent(const NumberSpec& spec, absl::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  const absl::string_view mantissa = text.substr(0, e);
  const absl::string_view written = text.substr(e + 1);
  for (const long long exponent : Exponents(spec, mantissa)) {
    const std::string size = absl::StrCat(exponent < 0 ? -exponent : exponent);
    for (const char* sign :
         exponent < 0 ? std::vector<const char*>{"-"} : std::vector<const char*>{"", "+", "-"}) {
      for (std::size_t zeros = 0; zeros <= written.size(); ++zeros) {
        const std::string spelled = absl::StrCat(sign, std::string(zeros, '0'), size);
        if (spelled.substr(0, written.size()) != written) continue;
        if (IsNumberOf(spec, absl::StrCat(mantissa, "e", spelled))) return true;
      }
    }
  }
  for (const std::string& digits : Digits(spec, "."))
    if (IsNumberOf(spec, absl::StrCat(text, digits))) return true;
  return false;
}

}  // namespace

bool IsNumberOf(const NumberSpec& spec, absl::string_view text) {
  const std::optional<Number> number = Parse(spec, text);
  if (!number.has_value() || !IsWritten(spec.notation, text)) return false;
  const auto divides = [&](const Decimal& step) { return IsMultiple(*number, step); };
  return std::any_of(spec.intervals.begin(), spec.intervals.end(),
                     [&](const NumberInterval& interval) { return IsIn(*number, interval); }) &&
         std::all_of(spec.multiple_of.begin(), spec.multiple_of.end(), divides) &&
         std::none_of(spec.not_multiple_of.begin(), spec.not_multiple_of.end(), divides);
}

bool CanBecomeNumberOf(const NumberSpec& spec, absl::string_view text) {
  if (text.find_first_not_of("+-.0123456789Ee") != absl::string_view::npos) return false;
  if (text.find_first_of("eE") != absl::string_view::npos) return CanEndExponent(spec, text);
  for (const std::string& digits : Digits(spec, text)) {
    const std::string mantissa = absl::StrCat(text, digits);
    if (IsNumberOf(spec, mantissa)) return true;
    if (mantissa.empty() || mantissa.back() < '0' || mantissa.back() > '9') continue;
    for (const long long exponent : Exponents(spec, mantissa))
      if (IsNumberOf(spec, absl::StrCat(mantissa, "e", exponent))) return true;
  }
  return false;
}

}  // namespace maskd
