// What there may be so many of at once, and how many there are: one shape for all, so that one
// query says which is nearly full.
#ifndef MASKD_SERVICE_BASE_POOLS_H_
#define MASKD_SERVICE_BASE_POOLS_H_

#include <cstdint>
#include <vector>

#include "metrics/figures.h"

namespace maskd::service {

// One of them. `name` is a label's value: a constant, with "_threads" at its end where it may be
// full without anybody being refused.
struct Pool {
  const char* name;
  std::int64_t in_use = 0;
  std::int64_t limit = 0;
};

// For a scrape.
std::vector<metrics::Figure> PoolFigures(const std::vector<Pool>& pools);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_BASE_POOLS_H_
