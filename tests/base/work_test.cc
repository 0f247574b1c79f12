#include "grammar_core/base/work.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

Budget OfUnits(std::int64_t units) {
  Budget::Bounds bounds;
  bounds.work = units;
  return Budget(bounds);
}

TEST(WorkTest, FailsForGoodWhereTheBudgetIsSpent) {
  Budget budget = OfUnits(10);
  Work work(budget);
  EXPECT_TRUE(work.Spend(10));
  EXPECT_TRUE(work.ok());
  EXPECT_FALSE(work.Spend());
  EXPECT_FALSE(work.ok());
  EXPECT_EQ(work.error().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(work.Spend(0));
}

TEST(WorkTest, TakesNothingMoreOfTheBudgetOnceItFailed) {
  Budget budget = OfUnits(1000);
  Work work(budget);
  work.Fail(absl::InternalError("first"));
  const std::int64_t before = budget.spent();
  EXPECT_FALSE(work.Spend(5));
  EXPECT_EQ(budget.spent(), before);
}

TEST(WorkTest, TheFirstErrorStays) {
  Budget budget = Budget::Unlimited();
  Work work(budget);
  work.Fail(absl::InternalError("first"));
  work.Fail(absl::UnknownError("second"));
  EXPECT_EQ(work.error(), absl::InternalError("first"));
}

TEST(WorkTest, AMaskIsMadeUnlessItIsRefused) {
  Budget budget = Budget::Unlimited();
  Work may(budget);
  EXPECT_TRUE(may.MayMakeMask());
  Work may_not(budget, NewMasks::kRefused);
  EXPECT_TRUE(may_not.ok()) << "what is there may be used";
  EXPECT_FALSE(may_not.MayMakeMask());
  EXPECT_EQ(may_not.error().code(), absl::StatusCode::kUnavailable);
}

TEST(AutomatonFullTest, IsToldApartFromOtherLimits) {
  const absl::Status full = AutomatonFull("terms", 10, 11);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(IsAutomatonFull(full));
  EXPECT_FALSE(IsAutomatonFull(absl::ResourceExhaustedError(full.message())));
  EXPECT_FALSE(IsAutomatonFull(absl::OkStatus()));
}

}  // namespace
}  // namespace maskd
