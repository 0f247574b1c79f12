// Edge lists against a look at each character by itself.
#include "grammar_core/intersection/char_edges.h"

#include <vector>

#include "gtest/gtest.h"

#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

const CharEdges kFirst = {
    {'a', 'c', CharTerm(5)}, {'d', 'd', CharTerm(6)}, {'x', 'z', CharTerm(5)}};
const CharEdges kSecond = {{'b', 'd', CharTerm(7)}, {'y', kMaxCodePoint, CharTerm(8)}};

// The oracle: every edge in turn.
CharTerm TargetOf(const CharEdges& edges, std::uint32_t character) {
  for (const CharEdge& edge : edges)
    if (edge.lo <= character && character <= edge.hi) return edge.to;
  return kNothingTerm;
}

TEST(CharEdgesTest, FindEdgeHoldsTheCharacter) {
  for (std::uint32_t c = 'a' - 1; c <= 'z' + 1; ++c) {
    const CharEdge* const edge = FindEdge(kFirst, c);
    EXPECT_EQ(edge == nullptr ? kNothingTerm : edge->to, TargetOf(kFirst, c)) << c;
  }
}

TEST(CharEdgesTest, SweepCoversTheRangeOnceAndInOrder) {
  std::uint32_t next = 'b';
  SweepAll<CharTerm>({&kFirst, &kSecond}, {'b', 'z'},
                     [&](std::uint32_t lo, std::uint32_t hi, const std::vector<CharTerm>& targets) {
                       EXPECT_EQ(lo, next);
                       for (std::uint32_t c = lo; c <= hi; ++c) {
                         EXPECT_EQ(targets[0], TargetOf(kFirst, c)) << c;
                         EXPECT_EQ(targets[1], TargetOf(kSecond, c)) << c;
                       }
                       next = hi + 1;
                     });
  EXPECT_EQ(next, std::uint32_t{'z'} + 1);
}

TEST(CharEdgesTest, MappedTargetsAreThoseOfEachCharacterAndNeighboursJoin) {
  const auto map = [](CharTerm to) { return to == CharTerm(6) ? CharTerm(5) : kNothingTerm; };
  const CharEdges mapped = MapTargets(kFirst, map);
  for (std::uint32_t c = 'a' - 1; c <= 'z' + 1; ++c) {
    const CharTerm to = TargetOf(kFirst, c);
    EXPECT_EQ(TargetOf(mapped, c), to == kNothingTerm ? kNothingTerm : map(to)) << c;
  }
  const CharEdges joined = MapTargets(kFirst, [](CharTerm) { return CharTerm(9); });
  EXPECT_EQ(joined, (CharEdges{{'a', 'd', CharTerm(9)}, {'x', 'z', CharTerm(9)}}));
}

TEST(CharEdgesTest, EveryCharacterIsAScalarValueAndInOrder) {
  const CharEdges all = EveryCharacter(CharTerm(5));
  EXPECT_TRUE(AreInOrder(all));
  EXPECT_EQ(TargetOf(all, 0), CharTerm(5));
  EXPECT_EQ(TargetOf(all, 0xD800), kNothingTerm) << "a surrogate";
  EXPECT_EQ(TargetOf(all, kMaxCodePoint), CharTerm(5));
  EXPECT_FALSE(AreInOrder({{'b', 'd', CharTerm(5)}, {'d', 'e', CharTerm(6)}}));
}

}  // namespace
}  // namespace maskd
