// What happens when the system gives this process no more memory: where its address space is
// bounded (ulimit -v) or not overcommitted; a control group's bound ends a process instead.
//
// operator new fails then, and std::bad_alloc could leave any container of ours half changed
// (Abseil's hash tables do not survive it). So a program sets some memory aside: it is given out
// first, the thread that needed it is remembered, and its next look at its Budget ends what it does
// with an ordinary error. Only what asks for more than the reserve without such a look throws.
//
// Threads  any.
#ifndef MASKD_GRAMMAR_CORE_BASE_MEMORY_RESERVE_H_
#define MASKD_GRAMMAR_CORE_BASE_MEMORY_RESERVE_H_

#include <cstdint>
#include <new>

#include "absl/status/status.h"

namespace maskd {

// Sets `bytes` aside, none of which is touched, and has operator new give them out once there is
// nothing else. For programs only, once, early in main().
void KeepMemoryReserve(std::int64_t bytes);

// An eighth of the bound on this process's address space, 256 MiB at most; 0 without a bound.
std::int64_t MemoryReserveNeeded();

// Sets aside again what was given out. False while there is not enough to be had.
bool RefillMemoryReserve();

// Set aside now.
std::int64_t MemoryReserveBytes();

// Whether this thread was given some since its last ForgetOutOfMemory().
bool IsOutOfMemory();
void ForgetOutOfMemory();

// RESOURCE_EXHAUSTED, reason OUT_OF_MEMORY.
absl::Status OutOfMemoryError();

// The result of `job`, or OutOfMemoryError() where it ran out of memory.
template <typename Job>
auto OrOutOfMemory(Job job) -> decltype(job()) {
  ForgetOutOfMemory();
  try {
    return job();
  } catch (const std::bad_alloc&) {
    return OutOfMemoryError();
  }
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_MEMORY_RESERVE_H_
