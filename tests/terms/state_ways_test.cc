// The forms of a state's transitions, each by what it says of classes that are known and unknown.
#include "grammar_core/terms/state_ways.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <thread>

#include "gtest/gtest.h"

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

TEST(StateWaysTest, AListKnowsWhichClassesLeadNowhere) {
  ClassSet may;
  may.set(3).set(4).set(9);
  ShortWays list(&may);
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
