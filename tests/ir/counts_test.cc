#include "grammar_core/ir/counts.h"

#include <cstdint>
#include <optional>
#include <ostream>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maskd {

void PrintTo(const Counts& counts, std::ostream* out) {
  *out << "{" << counts.min << ",";
  if (counts.max != kUnbounded) *out << counts.max;
  *out << "}";
}

namespace {

using testing::Optional;

TEST(AddCountsTest, AddsBothBounds) {
  EXPECT_THAT(AddCounts({1, 2}, {3, 5}), Optional(Counts{4, 7}));
  EXPECT_THAT(AddCounts({1, kUnbounded}, {3, 5}), Optional(Counts{4, kUnbounded}));
}

TEST(AddCountsTest, AreNothingWhereABoundIsNoNumber) {
  EXPECT_THAT(AddCounts({0, kMaxRepeats - 1}, {0, 1}), Optional(Counts{0, kMaxRepeats}));
  EXPECT_EQ(AddCounts({0, kMaxRepeats}, {0, 1}), std::nullopt);
  EXPECT_EQ(AddCounts({kMaxRepeats, kUnbounded}, {1, kUnbounded}), std::nullopt);
}

TEST(UniteCountsTest, AreOneRangeWhereThereIsNoGap) {
  EXPECT_THAT(UniteCounts({5, 7}, {1, 4}), Optional(Counts{1, 7}));
  EXPECT_THAT(UniteCounts({1, 9}, {2, 3}), Optional(Counts{1, 9}));
  EXPECT_THAT(UniteCounts({0, kUnbounded}, {7, 8}), Optional(Counts{0, kUnbounded}));
  EXPECT_EQ(UniteCounts({1, 4}, {6, 7}), std::nullopt);
}

std::set<std::uint32_t> Products(Counts inner, Counts outer) {
  std::set<std::uint32_t> sums;
  for (std::uint32_t rounds = outer.min; rounds <= outer.max; ++rounds)
    for (std::uint32_t sum = rounds * inner.min; sum <= rounds * inner.max; ++sum) sums.insert(sum);
  return sums;
}

std::set<std::uint32_t> Range(const NestedCounts& counts) {
  std::set<std::uint32_t> sums;
  for (std::uint64_t sum = counts.min; sum <= counts.max; ++sum)
    sums.insert(static_cast<std::uint32_t>(sum));
  if (counts.or_none) sums.insert(0);
  return sums;
}

// Every sum of so many addends as `outer` says, each of `inner`, against the range that is told.
TEST(NestCountsTest, AreExactlyTheSums) {
  constexpr std::uint32_t kMost = 5;
  for (std::uint32_t a = 0; a <= kMost; ++a)
    for (std::uint32_t b = a; b <= kMost; ++b)
      for (std::uint32_t c = 0; c <= kMost; ++c)
        for (std::uint32_t d = c; d <= kMost; ++d) {
          const std::set<std::uint32_t> sums = Products({a, b}, {c, d});
          if (const std::optional<NestedCounts> nested = NestCounts({a, b}, {c, d})) {
            EXPECT_EQ(Range(*nested), sums) << a << b << c << d;
            continue;
          }
          // Nothing is said only of sums with a gap, other than one behind 0.
          std::set<std::uint32_t> rest = sums;
          rest.erase(0);
          ASSERT_FALSE(rest.empty());
          EXPECT_NE(*rest.rbegin() - *rest.begin() + 1, rest.size()) << a << b << c << d;
        }
}

TEST(NestCountsTest, HaveRoomBeyondTheLargestCount) {
  const std::optional<NestedCounts> nested = NestCounts({kMaxRepeats, kMaxRepeats}, {2, 2});
  ASSERT_TRUE(nested.has_value());
  EXPECT_EQ(nested->min, 2 * std::uint64_t{kMaxRepeats});
  EXPECT_EQ(nested->max, 2 * std::uint64_t{kMaxRepeats});
  EXPECT_EQ(NestCounts({1, kUnbounded}, {2, 2})->max, NestedCounts::kNoBound);
}

TEST(UnitePowersTest, UniteThoseOfOneBaseAndKeepTheOthersApart) {
  const std::vector<Power> united =
      UnitePowers({{2, {4, 5}}, {1, {1, 1}}, {2, {1, 3}}, {1, {3, 3}}, {3, {0, 1}}});
  ASSERT_EQ(united.size(), 4U);
  EXPECT_EQ(united[0].base, 1U);
  EXPECT_EQ(united[0].counts, (Counts{1, 1}));
  EXPECT_EQ(united[1].base, 1U);
  EXPECT_EQ(united[1].counts, (Counts{3, 3}));
  EXPECT_EQ(united[2].base, 2U);
  EXPECT_EQ(united[2].counts, (Counts{1, 5}));
  EXPECT_EQ(united[3].base, 3U);
}

}  // namespace
}  // namespace maskd
