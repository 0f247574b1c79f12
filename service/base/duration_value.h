// Times as an operator writes them: "20us", "5s", "1h", or a number of the unit that a flag's name
// says.
#ifndef MASKD_SERVICE_BASE_DURATION_VALUE_H_
#define MASKD_SERVICE_BASE_DURATION_VALUE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace maskd::service {

// In units of `unit_us` microseconds; nothing when the text is no time, or no whole number of them.
std::optional<std::int64_t> ParseDuration(absl::string_view text, std::int64_t unit_us);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_BASE_DURATION_VALUE_H_
