// What the server may hold: --memory_bytes, and what follows from it where no flag says it.
#ifndef MASKD_SERVICE_CONFIG_MEMORY_PLAN_H_
#define MASKD_SERVICE_CONFIG_MEMORY_PLAN_H_

#include <cstdint>

#include "memory/memory_limit.h"
#include "service/config/config.h"

namespace maskd::service {

// How much each part of the process may hold.
struct MemoryPlan {
  std::int64_t memory_bytes = 0;      // of the process; else 90 % of what the system lets it have
  std::int64_t cache_bytes = 0;       // else a third
  std::int64_t mask_store_bytes = 0;  // of one tokenizer; else an eighth for all, 256 MiB each
  std::int64_t heap_bytes = 0;        // touched at the start; an eighth at most
};

// Fills in what the configuration leaves open.
MemoryPlan PlanMemory(const Config& config,
                      std::int64_t system_bytes = memory::SystemMemoryLimit());

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CONFIG_MEMORY_PLAN_H_
