// The forms of a state's transitions, each by what it says of classes that are known and unknown.
#include "grammar_core/terms/state_ways.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>

#include "gtest/gtest.h"

#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

TEST(StateWaysTest, NoneKnowsNothing) {
  EXPECT_TRUE(StateWays(0).none());
  EXPECT_EQ(StateWays(0).To(0), kUnknownTerm);
}

TEST(StateWaysTest, ASingleOneIsOfOneClass) {
  const StateWays ways = StateWays::Single(255, TermId(0xFFFFFFF0));
  EXPECT_TRUE(ways.is_single());
  EXPECT_EQ(ways.To(255), TermId(0xFFFFFFF0));
  EXPECT_EQ(ways.To(254), kUnknownTerm);
  EXPECT_EQ(ways.row(), nullptr);
  EXPECT_EQ(ways.few(), nullptr);
  EXPECT_EQ(ways.more(), nullptr);
}

constexpr std::uint32_t kLastId = (1U << 21) - 1;

void ExpectNoByteKnown(const StateWays& ways) {
  EXPECT_TRUE(ways.none());
  EXPECT_FALSE(ways.is_single());
  for (int byte_class = 0; byte_class < 256; ++byte_class)
    EXPECT_EQ(ways.To(byte_class), kUnknownTerm);
  EXPECT_EQ(ways.row(), nullptr);
  EXPECT_EQ(ways.few(), nullptr);
  EXPECT_EQ(ways.more(), nullptr);
  EXPECT_EQ(ways.packed_row(), nullptr);
}

TEST(StateWaysTest, ARestIsOfOneTokenFromOneOfItsBytesOn) {
  EXPECT_TRUE(TokenRest::Fits(kLastId, 255));
  EXPECT_FALSE(TokenRest::Fits(kLastId + 1, 0));
  EXPECT_FALSE(TokenRest::Fits(0, 256));
  const TokenRest rest(kLastId, 255);
  EXPECT_EQ(rest.id(), kLastId);
  EXPECT_EQ(rest.offset(), 255);
  const StateWays ways = StateWays::Rest(rest, TermId(0xFFFFFFF0));
  EXPECT_TRUE(ways.is_rest());
  EXPECT_EQ(ways.rest(), rest);
  EXPECT_EQ(ways.rests(), nullptr);
  EXPECT_EQ(ways.BehindRest(rest), TermId(0xFFFFFFF0));
  EXPECT_EQ(ways.BehindRest(TokenRest(kLastId, 254)), kUnknownTerm);
  EXPECT_EQ(ways.BehindRest(TokenRest(kLastId - 1, 255)), kUnknownTerm);
  EXPECT_EQ(StateWays(0).BehindRest(TokenRest(0, 0)), kUnknownTerm);
  ExpectNoByteKnown(ways);
}

TEST(StateWaysTest, AFewRestsAreOneListUntilItIsFull) {
  FewRests list;
  EXPECT_EQ(list.To(TokenRest(kLastId, 255)), kUnknownTerm);
  for (std::uint32_t i = 0; i < FewRests::kPlaces; ++i)
    EXPECT_TRUE(list.Add(TokenRest(i, 1), TermId(10 + i)));
  EXPECT_FALSE(list.Add(TokenRest(9, 1), TermId(19)));
  const StateWays ways = StateWays::Rests(&list);
  EXPECT_EQ(ways.rests(), &list);
  EXPECT_FALSE(ways.is_rest());
  for (std::uint32_t i = 0; i < FewRests::kPlaces; ++i)
    EXPECT_EQ(ways.BehindRest(TokenRest(i, 1)), TermId(10 + i));
  EXPECT_EQ(ways.BehindRest(TokenRest(9, 1)), kUnknownTerm);
  int visited = 0;
  list.VisitAll([&](const TokenRest& rest, TermId to) {
    EXPECT_EQ(to.value(), 10 + rest.id());
    ++visited;
  });
  EXPECT_EQ(visited, 3);
  ExpectNoByteKnown(ways);
}

TEST(StateWaysTest, AListKnowsWhichClassesLeadNowhere) {
  ClassSet may;
  may.set(3).set(4).set(9);
  const std::uint64_t words[] = {may.to_ullong()};
  ShortWays list(words);
  list.Add(3, TermId(30));
  list.Add(9, TermId(90));
  EXPECT_FALSE(list.full());
  const StateWays ways = StateWays::Short(&list);
  EXPECT_EQ(ways.few(), &list);
  EXPECT_EQ(ways.more(), nullptr);
  EXPECT_EQ(ways.To(9), TermId(90));
  EXPECT_EQ(ways.To(4), kUnknownTerm);  // may lead somewhere
  EXPECT_EQ(ways.To(5), kNothingTerm);
  list.Add(4, TermId(40));
  EXPECT_TRUE(list.full());
  EXPECT_EQ(ways.To(4), TermId(40));
}

TEST(StateWaysTest, ALongListAndARowAreToldApart) {
  LongWays list(nullptr);
  list.Add(7, TermId(70));
  EXPECT_EQ(StateWays::Long(&list).To(7), TermId(70));
  EXPECT_EQ(StateWays::Long(&list).To(8), kUnknownTerm);
  EXPECT_EQ(StateWays::Long(&list).few(), nullptr);
  alignas(8) std::atomic<TermId> row[2] = {TermId(10), TermId(20)};
  EXPECT_EQ(StateWays::Row(row).To(1), TermId(20));
  EXPECT_EQ(StateWays::Row(row).row(), row);
}

TEST(StateWaysTest, APackedRowHasFewTargetsForManyClasses) {
  constexpr int kClasses = 201;
  alignas(8) std::array<std::byte, PackedRow::BytesFor(kClasses)> memory;
  auto* const row = new (memory.data()) PackedRow(kClasses);
  const StateWays ways = StateWays::Packed(row);
  EXPECT_EQ(ways.packed_row(), row);
  EXPECT_EQ(ways.row(), nullptr);
  EXPECT_EQ(ways.few(), nullptr);
  EXPECT_EQ(ways.more(), nullptr);
  // Every fifth class stays unknown, and every seventh of the others leads nowhere.
  const auto target = [](int c) {
    return c % 7 == 0 ? kNothingTerm
                      : TermId(static_cast<std::uint32_t>(100 + c % PackedRow::kTargets));
  };
  for (int c = kClasses - 1; c >= 0; --c) {
    EXPECT_EQ(ways.To(c), kUnknownTerm);
    EXPECT_TRUE(c % 5 == 0 || row->Add(c, target(c)));
  }
  for (int c = 0; c < kClasses; ++c)
    EXPECT_EQ(ways.To(c), c % 5 == 0 ? kUnknownTerm : target(c)) << c;
  EXPECT_FALSE(row->Add(0, TermId(99)));
  EXPECT_EQ(ways.To(0), kUnknownTerm);
}

// A target that some class leads to is not written again: ThreadSanitizer sees whether it is.
TEST(StateWaysTest, APackedRowIsReadWhileItGrows) {
  constexpr int kClasses = 200;
  alignas(8) std::array<std::byte, PackedRow::BytesFor(kClasses)> memory;
  auto* const row = new (memory.data()) PackedRow(kClasses);
  const auto target = [](int c) { return c % 3 == 0 ? kNothingTerm : TermId(c % 3 * 100U); };
  for (int c = 0; c < 6; ++c) EXPECT_TRUE(row->Add(c, target(c)));
  std::atomic<bool> is_read = false;
  std::atomic<bool> is_over = false;
  std::thread reader([&] {
    while (!is_over) {
      for (int c = 0; c < kClasses; ++c) {
        const TermId to = row->To(c);
        EXPECT_TRUE(to == target(c) || to == kUnknownTerm) << c;
      }
      is_read = true;
    }
  });
  while (!is_read) std::this_thread::yield();
  for (int c = 6; c < kClasses; ++c) {
    EXPECT_TRUE(row->Add(c, target(c)));
    std::this_thread::yield();
  }
  is_over = true;
  reader.join();
  for (int c = 0; c < kClasses; ++c) EXPECT_EQ(row->To(c), target(c)) << c;
}

}  // namespace
}  // namespace maskd
