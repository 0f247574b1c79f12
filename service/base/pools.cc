#include "service/base/pools.h"

namespace maskd::service {

std::vector<metrics::Figure> PoolFigures(const std::vector<Pool>& pools) {
  std::vector<metrics::Figure> figures;
  const auto add = [&figures](const metrics::MetricName& name, const Pool& pool,
                              std::int64_t value) {
    figures.push_back({.name = name,
                       .value = static_cast<double>(value),
                       .label = "pool",
                       .label_value = pool.name});
  };
  // One family after the other.
  for (const Pool& pool : pools) add(metrics::kPoolInUse, pool, pool.in_use);
  for (const Pool& pool : pools) add(metrics::kPoolLimit, pool, pool.limit);
  return figures;
}

}  // namespace maskd::service
