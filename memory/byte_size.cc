#include "memory/byte_size.h"

#include <array>
#include <limits>

#include "absl/strings/numbers.h"

namespace maskd::memory {
namespace {

struct Unit {
  absl::string_view name;
  std::int64_t bytes;
};

constexpr std::array kUnits = {
    Unit{"", 1},
    Unit{"B", 1},
    Unit{"KiB", std::int64_t{1} << 10},
    Unit{"MiB", std::int64_t{1} << 20},
    Unit{"GiB", std::int64_t{1} << 30},
    Unit{"TiB", std::int64_t{1} << 40},
    Unit{"kB", 1'000},
    Unit{"KB", 1'000},
    Unit{"MB", 1'000'000},
    Unit{"GB", 1'000'000'000},
    Unit{"TB", 1'000'000'000'000},
};

}  // namespace

std::optional<std::int64_t> ParseByteSize(absl::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  const absl::string_view name =
      digits == absl::string_view::npos ? absl::string_view() : text.substr(digits);
  std::int64_t number = 0;
  if (!absl::SimpleAtoi(text.substr(0, text.size() - name.size()), &number)) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    if (number > std::numeric_limits<std::int64_t>::max() / unit.bytes) return std::nullopt;
    return number * unit.bytes;
  }
  return std::nullopt;
}

}  // namespace maskd::memory
