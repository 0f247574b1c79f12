// A number in the flag's own unit, or with a unit behind it. What is no whole number of the flag's
// unit is refused and not rounded: whoever writes 1500us for a flag in milliseconds means it.
#include "service/base/duration_value.h"

#include <array>
#include <limits>

#include "absl/strings/numbers.h"

namespace maskd::service {
namespace {

struct Unit {
  absl::string_view name;
  std::int64_t us;
};

constexpr std::array kUnits = {
    Unit{"us", 1},           Unit{"ms", 1'000},        Unit{"s", 1'000'000},
    Unit{"min", 60'000'000}, Unit{"h", 3'600'000'000},
};

}  // namespace

std::optional<std::int64_t> ParseDuration(absl::string_view text, std::int64_t unit_us) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  const absl::string_view name =
      digits == absl::string_view::npos ? absl::string_view() : text.substr(digits);
  std::int64_t number = 0;
  if (!absl::SimpleAtoi(text.substr(0, text.size() - name.size()), &number)) return std::nullopt;
  if (name.empty()) return number;
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    if (number > std::numeric_limits<std::int64_t>::max() / unit.us) return std::nullopt;
    const std::int64_t us = number * unit.us;
    return us % unit_us == 0 ? std::optional(us / unit_us) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace maskd::service
