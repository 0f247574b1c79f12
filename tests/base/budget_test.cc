#include "grammar_core/base/budget.h"

#include <atomic>
#include <cstdint>
#include <thread>

#include "gtest/gtest.h"

#include "cpu/thread_priority.h"

namespace maskd {
namespace {

Budget OfWork(std::int64_t work) {
  Budget::Bounds bounds;
  bounds.work = work;
  bounds.work_name = "the_work";
  return Budget(bounds);
}

class BudgetWorkTest : public testing::TestWithParam<std::int64_t> {};

TEST_P(BudgetWorkTest, IsSpentToTheLastUnitAndNoFurther) {
  Budget budget = OfWork(GetParam());
  for (std::int64_t unit = 0; unit < GetParam(); ++unit) ASSERT_TRUE(budget.Spend().ok()) << unit;
  const absl::Status spent = budget.Spend();
  EXPECT_EQ(spent.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(spent.message().find("the_work"), absl::string_view::npos) << spent;
  EXPECT_EQ(budget.Spend(), spent) << "the first error sticks";
}

INSTANTIATE_TEST_SUITE_P(Units, BudgetWorkTest, testing::Values(0, 1, 2, 511, 512, 513, 5'000));

TEST(BudgetTest, ManyUnitsAtOnceCountAsSingleOnes) {
  Budget budget = OfWork(10'000);
  EXPECT_TRUE(budget.Spend(9'999).ok());
  EXPECT_TRUE(budget.Spend(1).ok());
  EXPECT_FALSE(budget.Spend(1).ok());
}

TEST(BudgetTest, ACancelBeforeTheFirstUnitIsSeenAtIt) {
  std::atomic<bool> cancelled = true;
  Budget::Bounds bounds;
  bounds.cancelled = &cancelled;
  Budget budget(bounds);
  EXPECT_EQ(budget.Spend().code(), absl::StatusCode::kCancelled);
}

TEST(BudgetTest, ADeadlineIsTheCallersAndNoLimit) {
  Budget::Bounds bounds;
  bounds.deadline = Budget::Clock::time_point::min();
  Budget budget(bounds);
  const absl::Status late = budget.Spend();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(budget.Spend(), late) << "the first error sticks";
}

thread_local int offers = 0;

// Where a thread of the background looks at its budget it offers its core; others have no offers.
TEST(BudgetTest, EachLookOffersTheCoreOfTheBackground) {
  std::thread([] {
    TakeRole(ThreadRole::kLongWork, [] { ++offers; });
    Budget budget = OfWork(10'000);
    for (int i = 0; i < 5'120; ++i) ASSERT_TRUE(budget.Spend().ok());
    EXPECT_GE(offers, 10);
    EXPECT_LE(offers, 12);
  }).join();
}

TEST(BudgetTest, SaysWhatWasSpent) {
  Budget budget = OfWork(2'000);
  EXPECT_EQ(budget.spent(), 0);
  EXPECT_TRUE(budget.Spend().ok());
  EXPECT_EQ(budget.spent(), 1);
  for (int i = 0; i < 600; ++i) EXPECT_TRUE(budget.Spend().ok());
  EXPECT_TRUE(budget.Spend(900).ok());
  EXPECT_EQ(budget.spent(), 1'501);
  EXPECT_FALSE(budget.Spend(1'000).ok());
  EXPECT_EQ(budget.spent(), 2'501);
}

}  // namespace
}  // namespace maskd
