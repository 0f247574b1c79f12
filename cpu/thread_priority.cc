#include "cpu/thread_priority.h"

#include <sys/resource.h>
#include <unistd.h>

namespace maskd {

void StandBack(int niceness) {
  // The process's own is that of its first thread.
  if (niceness > 0) setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, getpid()) + niceness);
}

}  // namespace maskd
