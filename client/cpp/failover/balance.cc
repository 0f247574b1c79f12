#include "client/cpp/failover/balance.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace maskd::client {

std::optional<std::size_t> PlaceToGo(std::span<const int> streams, std::size_t own, int rank) {
  const auto count = static_cast<int>(streams.size());
  const int total = std::accumulate(streams.begin(), streams.end(), 0);
  std::vector<std::size_t> most_first(streams.size());
  std::iota(most_first.begin(), most_first.end(), 0);
  std::ranges::sort(most_first, std::less{},
                    [&](std::size_t i) { return std::pair(-streams[i], i); });
  std::vector<int> goals(streams.size(), total / count);
  for (int i = 0; i < total % count; ++i) ++goals[most_first[static_cast<std::size_t>(i)]];
  if (rank <= goals[own]) return std::nullopt;
  // Those that go, numbered: first all of the fullest server.
  int number = rank - goals[own] - 1;
  for (const std::size_t i : most_first) {
    if (i == own) break;
    number += std::max(0, streams[i] - goals[i]);
  }
  std::optional<std::size_t> last;
  for (std::size_t n = streams.size(); n > 0; --n) {
    const std::size_t i = most_first[n - 1];
    const int free = goals[i] - streams[i];
    if (free <= 0) continue;
    last = i;
    if (number < free) break;
    number -= free;
  }
  return last;
}

std::vector<std::size_t> LeastFirst(std::span<const std::optional<int>> streams) {
  std::vector<std::size_t> order(streams.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::less{}, [&](std::size_t i) {
    return std::pair(streams[i].value_or(std::numeric_limits<int>::max()), i);
  });
  return order;
}

}  // namespace maskd::client
