// How many processors the system lets this process have.
//
// Source  the threads' affinity, and the quota of Linux's control groups: cpu.max of version 2
//         (Documentation/admin-guide/cgroup-v2), cpu.cfs_quota_us and cpu.cfs_period_us of version
//         1; a group's ancestors bound it too. Weights (Kubernetes' requests) bound nothing.
#ifndef MASKD_CPU_PROCESSOR_COUNT_H_
#define MASKD_CPU_PROCESSOR_COUNT_H_

#include <optional>
#include <string>

namespace maskd {

// The smallest quota of the control groups of this process, in processors; nothing where none has
// one. `root` stands before every path that is read, for tests.
std::optional<double> ProcessorQuota(const std::string& root = "");

// Processors of the affinity, no more than the quota rounded up; at least 1.
int ProcessorCount();

}  // namespace maskd

#endif  // MASKD_CPU_PROCESSOR_COUNT_H_
