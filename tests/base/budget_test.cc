#include "grammar_core/base/budget.h"

#include <atomic>
#include <cstdint>

#include "gtest/gtest.h"

namespace maskd {
namespace {

Budget OfWork(std::int64_t work) {
  Budget::Bounds bounds;
  bounds.work = work;
  bounds.work_name = "the_work";
  return Budget(bounds);
}

class WorkTest : public testing::TestWithParam<std::int64_t> {};

TEST_P(WorkTest, IsSpentToTheLastUnitAndNoFurther) {
  Budget budget = OfWork(GetParam());
  for (std::int64_t unit = 0; unit < GetParam(); ++unit) {
    ASSERT_TRUE(budget.Spend().ok()) << unit;
  }
  const absl::Status spent = budget.Spend();
  EXPECT_EQ(spent.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(spent.message().find("the_work"), absl::string_view::npos) << spent;
  EXPECT_EQ(budget.Spend(), spent) << "the first error sticks";
}

INSTANTIATE_TEST_SUITE_P(Units, WorkTest, testing::Values(0, 1, 2, 511, 512, 513, 5'000));

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

TEST(BudgetTest, WallTimeAndDeadlineAreToldApart) {
  Budget::Bounds bounds;
  bounds.wall_ms = 0;
  EXPECT_EQ(Budget(bounds).Spend().code(), absl::StatusCode::kResourceExhausted);
  bounds.deadline = Budget::Clock::time_point::min();
  EXPECT_EQ(Budget(bounds).Spend().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace maskd
