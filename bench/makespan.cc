#include "bench/makespan.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "cache/item_blocks.h"

namespace maskd::bench {

double Makespan(std::span<const LoopItem> items, int threads, double call_micros,
                double wake_micros) {
  const auto workers = static_cast<std::size_t>(threads);
  cache::ItemBlocks blocks(items.size(), workers);
  std::vector<double> free_at;  // of each thread; the caller is the first
  free_at.push_back((threads - 1) * call_micros);
  for (int helper = 1; helper < threads; ++helper)
    free_at.push_back(helper * call_micros + wake_micros);
  absl::flat_hash_map<std::size_t, double> unlocked_at;
  double end = free_at.front();
  for (std::size_t taken = 0; taken < items.size(); ++taken) {
    const auto thread = std::ranges::min_element(free_at);
    std::size_t at = 0;
    if (!blocks.Take(static_cast<std::size_t>(thread - free_at.begin()), &at)) break;
    double& lock = unlocked_at[items[at].lock];
    *thread = lock = std::max(*thread, lock) + items[at].micros;
    end = std::max(end, *thread);
  }
  return end;
}

}  // namespace maskd::bench
