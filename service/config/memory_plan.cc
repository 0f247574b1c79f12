// Shares of the memory limit, for what the configuration does not say. Masks are bounded also where
// memory is not, since more of them would hardly be found again.
#include "service/config/memory_plan.h"

#include <algorithm>

namespace maskd::service {

MemoryPlan PlanMemory(const Config& config, std::int64_t system_bytes) {
  constexpr std::int64_t kMaxMaskStore = 256 << 20;
  const auto tokenizers = std::max<std::int64_t>(1, std::ssize(config.tokenizers));
  MemoryPlan plan;
  plan.memory_bytes = config.memory_bytes.value_or(system_bytes / 10 * 9);
  const std::int64_t eighth = plan.memory_bytes / 8;
  plan.cache_bytes = config.cache_bytes.value_or(plan.memory_bytes / 3);
  plan.mask_store_bytes =
      config.mask_store_bytes.value_or(std::min(kMaxMaskStore, eighth / tokenizers));
  plan.heap_bytes = std::min(config.heap_mib << 20, eighth);
  return plan;
}

}  // namespace maskd::service
