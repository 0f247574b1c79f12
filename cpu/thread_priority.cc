#include "cpu/thread_priority.h"

#include <cstdint>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace maskd {
namespace {

#ifdef __linux__

// What sched_getattr(2) gives, as far as its first version goes.
struct Attributes {
  std::uint32_t size = 48;
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t niceness = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

// Since 6.12 a thread's runtime is its slice, and one of a shorter slice that is woken need not
// wait for the end of a longer one. Kernels before that take no notice of it.
void TakeLongSlices() {
  Attributes attributes;
  static_assert(sizeof(attributes) == 48);
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.runtime = static_cast<std::uint64_t>(kLongWorkSlice.count());
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

#else

void TakeLongSlices() {}

#endif

}  // namespace

void StandBack(int niceness) {
  if (niceness <= 0) return;
  // The process's own is that of its first thread.
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, getpid()) + niceness);
  TakeLongSlices();
}

}  // namespace maskd
