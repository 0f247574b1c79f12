#include "grammar_core/ir/number/number_spec.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace maskd {
namespace {

std::string ToString(const NumberInterval& interval) {
  if (interval.min.has_value() && interval.min == interval.max)
    return absl::StrCat("x = ", ToString(*interval.min));
  std::string text = "x";
  if (interval.min.has_value())
    text = absl::StrCat(ToString(*interval.min), interval.min_open ? " < " : " <= ", text);
  if (interval.max.has_value())
    absl::StrAppend(&text, interval.max_open ? " < " : " <= ", ToString(*interval.max));
  return text;
}

void AppendDigits(std::uint32_t digits, std::uint32_t usual, const char* part, std::string* text) {
  if (digits != usual) absl::StrAppend(text, ", ", digits, " digits of ", part);
}

}  // namespace

void MakeRoomFor(const Decimal& value, NumberSpec* spec) {
  constexpr std::uint32_t kMostExponentDigits = 9;
  const auto digits = static_cast<std::uint32_t>(value.digits.size());
  spec->integer_digits = std::max(spec->integer_digits, digits);
  spec->fraction_digits = std::max(spec->fraction_digits, digits);
  std::int64_t reach = 1;
  std::uint32_t exponent_digits = 0;
  for (; reach <= std::abs(value.magnitude()) + 1; reach *= 10) ++exponent_digits;
  spec->exponent_digits =
      std::max(spec->exponent_digits, std::min(exponent_digits, kMostExponentDigits));
}

std::string ToString(const NumberSpec& spec) {
  std::string text = absl::StrCat(
      "number<", absl::StrJoin(spec.intervals, " or ", [](std::string* out, const auto& interval) {
        absl::StrAppend(out, ToString(interval));
      }));
  for (const Decimal& step : spec.multiple_of)
    absl::StrAppend(&text, ", multiple of ", ToString(step));
  for (const Decimal& step : spec.not_multiple_of)
    absl::StrAppend(&text, ", no multiple of ", ToString(step));
  AppendDigits(spec.integer_digits, NumberSpec::kDefaultDigits, "integer", &text);
  AppendDigits(spec.fraction_digits, NumberSpec::kDefaultDigits, "fraction", &text);
  AppendDigits(spec.exponent_digits, NumberSpec::kConstrainedExponentDigits, "exponent", &text);
  if (spec.notation == NumberNotation::kPlain) text += ", plain";
  if (spec.notation == NumberNotation::kScientific) text += ", scientific";
  return text + ">";
}

}  // namespace maskd
