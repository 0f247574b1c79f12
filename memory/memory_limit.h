// How much memory the system lets this process have.
//
// Source  Linux's control groups: memory.max of version 2 (Documentation/admin-guide/cgroup-v2),
//         memory.limit_in_bytes of version 1; a group's ancestors bound it too. Where no group has
//         a bound, the machine's memory.
#ifndef MASKD_MEMORY_MEMORY_LIMIT_H_
#define MASKD_MEMORY_MEMORY_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace maskd::memory {

// The smallest bound of the control groups of this process; nothing where none has one. `root`
// stands before every path that is read, for tests.
std::optional<std::int64_t> ControlGroupLimit(const std::string& root = "");

// The machine's memory.
std::int64_t MachineMemory();

// The smaller of the two.
std::int64_t SystemMemoryLimit();

}  // namespace maskd::memory

#endif  // MASKD_MEMORY_MEMORY_LIMIT_H_
