// How a job that runs out of memory ends. That a program outlives it is tests/hostile's.
#include "grammar_core/base/memory_reserve.h"

#include <new>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/resource.h>

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

TEST(MemoryReserveTest, AJobThatThrowsEndsWithTheError) {
  const auto job = [] { return absl::Status(absl::StatusCode::kOk, ""); };
  EXPECT_TRUE(OrOutOfMemory(job).ok());
  const auto greedy = []() -> absl::StatusOr<int> { throw std::bad_alloc(); };
  EXPECT_EQ(OrOutOfMemory(greedy).status(), OutOfMemoryError());
}

TEST(MemoryReserveTest, TheErrorSaysWhy) {
  EXPECT_EQ(OutOfMemoryError().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorReason(OutOfMemoryError()), "OUT_OF_MEMORY");
}

TEST(MemoryReserveTest, ItIsAnEighthOfTheBound) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur == RLIM_INFINITY) EXPECT_EQ(MemoryReserveNeeded(), 0);
  for (const auto& [bound, reserve] :
       {std::pair<rlim_t, rlim_t>{1 << 30, 128 << 20}, {rlim_t{1} << 40, 256 << 20}}) {
    rlimit limit = before;
    limit.rlim_cur = bound;
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_EQ(MemoryReserveNeeded(), static_cast<std::int64_t>(reserve));
  }
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

TEST(MemoryReserveTest, NothingIsSetAsideUnlessAProgramAsks) {
  EXPECT_EQ(MemoryReserveBytes(), 0);
  EXPECT_TRUE(RefillMemoryReserve());
  EXPECT_EQ(MemoryReserveBytes(), 0);
  EXPECT_FALSE(IsOutOfMemory());
}

}  // namespace
}  // namespace maskd
