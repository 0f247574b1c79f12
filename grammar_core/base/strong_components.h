// The strongly connected components of a directed graph (Tarjan 1972), without recursion.
//
// Layout   a graph of n vertices is n lists of successors; parallel edges and loops are allowed.
//          Components come with what they lead to first. Vertices of one come in the reverse order
//          of a depth-first search, so for the most part with what they lead to first as well.
// Errors   those of the budget, which pays for vertices and edges.
#ifndef MASKD_GRAMMAR_CORE_BASE_STRONG_COMPONENTS_H_
#define MASKD_GRAMMAR_CORE_BASE_STRONG_COMPONENTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"

namespace maskd {

using Graph = std::vector<std::vector<std::uint32_t>>;

// Time and memory linear in vertices and edges.
absl::StatusOr<std::vector<std::vector<std::uint32_t>>> StrongComponents(const Graph& successors,
                                                                         Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_STRONG_COMPONENTS_H_
