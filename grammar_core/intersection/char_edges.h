// What each next character of a term of characters leads to.
//
// Layout   an edge list ascends, its ranges do not overlap, and neighbours with one target are one
//          edge; characters in no edge lead to Nothing, To{}.
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_INTERSECTION_CHAR_EDGES_H_
#define MASKD_GRAMMAR_CORE_INTERSECTION_CHAR_EDGES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "grammar_core/base/char_set.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/base/work.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// Characters lo to hi, both included, and where they lead.
template <typename To>
struct EdgeTo {
  std::uint32_t lo;
  std::uint32_t hi;
  To to;
  bool operator==(const EdgeTo&) const = default;
};
using CharEdge = EdgeTo<CharTerm>;
using CharEdges = std::vector<CharEdge>;
static_assert(kNothingTerm == CharTerm{});

// Who derives terms of characters.
class CharEdgeSource {
 public:
  virtual ~CharEdgeSource() = default;
  // What each next character of `term` leads to. The reference lives as long as the source.
  // Meaningless when `work` failed.
  virtual const CharEdges& Edges(CharTerm term, Work& work) = 0;
};

// The first edge that ends at or after the beginning of `range`.
template <typename To>
auto FirstIn(const std::vector<EdgeTo<To>>& edges, const CharRange& range) {
  return std::partition_point(edges.begin(), edges.end(),
                              [&](const EdgeTo<To>& edge) { return edge.hi < range.lo; });
}

// The edge that holds `character`, or null.
template <typename To>
const EdgeTo<To>* FindEdge(const std::vector<EdgeTo<To>>& edges, std::uint32_t character) {
  const auto edge = FirstIn(edges, {character, character});
  return edge == edges.end() || edge->lo > character ? nullptr : &*edge;
}

// Calls visit(lo, hi, targets) for each maximal range within `range` on which all lists are
// constant; in the order of the lists, To{} stands for "in no edge".
template <typename To, typename Visit>
void SweepAll(const std::vector<const std::vector<EdgeTo<To>>*>& lists, const CharRange& range,
              Visit visit) {
  std::vector<typename std::vector<EdgeTo<To>>::const_iterator> edge(lists.size());
  std::vector<To> targets(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) edge[i] = FirstIn(*lists[i], range);
  for (std::uint32_t at = range.lo; at <= range.hi;) {
    std::uint32_t end = range.hi;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      while (edge[i] != lists[i]->end() && edge[i]->hi < at) ++edge[i];
      const EdgeTo<To>* next = edge[i] != lists[i]->end() ? &*edge[i] : nullptr;
      const bool is_in = next != nullptr && next->lo <= at;
      if (next != nullptr) end = std::min(end, is_in ? next->hi : next->lo - 1);
      targets[i] = is_in ? next->to : To{};
    }
    visit(at, end, targets);
    at = end + 1;
  }
}

// Appends an edge, joining it to the last one where they touch and agree.
inline void AppendEdge(CharEdges* edges, CharEdge edge) {
  if (edge.to == kNothingTerm) return;
  if (!edges->empty() && edges->back().to == edge.to && edges->back().hi + 1 == edge.lo)
    edges->back().hi = edge.hi;
  else
    edges->push_back(edge);
}

// Whether the ranges are sorted and none meets another: FindEdge() and sweeps rely on it.
inline bool AreInOrder(const CharEdges& edges) {
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (edges[i].lo > edges[i].hi || (i > 0 && edges[i - 1].hi >= edges[i].lo)) return false;
  return true;
}

// Targets replaced by map(target).
template <typename Map>
CharEdges MapTargets(const CharEdges& edges, Map map) {
  CharEdges mapped;
  mapped.reserve(edges.size());
  for (const CharEdge& edge : edges) AppendEdge(&mapped, {edge.lo, edge.hi, map(edge.to)});
  return mapped;
}

// Every character, leading to `to`.
inline CharEdges EveryCharacter(CharTerm to) {
  const CharSet all = CharSet::All();
  CharEdges edges;
  for (const CharRange& range : all.ranges()) edges.push_back({range.lo, range.hi, to});
  return edges;
}

inline constexpr CharRange kAllCharacters = {0, kMaxCodePoint};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_INTERSECTION_CHAR_EDGES_H_
