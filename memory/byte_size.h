// Numbers of bytes as people write them: "1073741824", "512MiB", "1GiB", "2GB".
#ifndef MASKD_MEMORY_BYTE_SIZE_H_
#define MASKD_MEMORY_BYTE_SIZE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace maskd::memory {

// A whole number and at most one of the units B, KiB, MiB, GiB, TiB, kB, KB, MB, GB, TB, directly
// behind it. Nothing for all else, and for what does not fit.
std::optional<std::int64_t> ParseByteSize(absl::string_view text);

}  // namespace maskd::memory

#endif  // MASKD_MEMORY_BYTE_SIZE_H_
