// What the system says of this process.
//
// Source  proc(5): /proc/self/statm, status, stat, fd and limits.
#ifndef MASKD_MEMORY_PROCESS_MEMORY_H_
#define MASKD_MEMORY_PROCESS_MEMORY_H_

#include <cstdint>

namespace maskd::memory {

// Resident bytes. The three kinds make up `resident`.
struct ProcessMemory {
  std::int64_t resident = 0;
  std::int64_t anonymous = 0;  // the heap and the threads' stacks
  std::int64_t file = 0;       // program and libraries
  std::int64_t shared = 0;     // segments that it has mapped
};

// A few microseconds. All 0 where /proc cannot be read.
ProcessMemory ReadProcessMemory();

// The figures that Prometheus expects of every process. 0 for what cannot be read.
struct ProcessFigures {
  std::int64_t resident_bytes = 0;
  std::int64_t virtual_bytes = 0;
  double cpu_seconds = 0;
  double start_seconds = 0;  // since 1970
  std::int64_t threads = 0;
  std::int64_t open_fds = 0;
  std::int64_t max_fds = 0;
};

// For a scrape: it counts the descriptors one by one.
ProcessFigures ReadProcessFigures();

}  // namespace maskd::memory

#endif  // MASKD_MEMORY_PROCESS_MEMORY_H_
