#include "client/cpp/base/retry.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "client/cpp/base/steady_time.h"

namespace maskd::client {
namespace {

constexpr RetryPolicy kQuick{
    .max_attempts = 3, .first_delay = absl::Milliseconds(1), .max_delay = absl::Milliseconds(2)};

// Calls Retry() over statuses to be given in turn; how many were asked for is `used`.
absl::Status RetryOver(const std::vector<absl::Status>& statuses, std::size_t& used,
                       absl::Duration time = absl::Seconds(10)) {
  used = 0;
  return Retry(kQuick, SteadyTime::Now() + time, [&] { return statuses.at(used++); });
}

TEST(Retry, OkIsTheEnd) {
  std::size_t used = 0;
  EXPECT_TRUE(RetryOver({absl::OkStatus()}, used).ok());
  EXPECT_EQ(used, 1U);
}

TEST(Retry, UnavailableIsTriedAgain) {
  std::size_t used = 0;
  EXPECT_TRUE(RetryOver({absl::UnavailableError(""), absl::OkStatus()}, used).ok());
  EXPECT_EQ(used, 2U);
}

TEST(Retry, TheLastStatusIsGivenWhenTriesRunOut) {
  std::size_t used = 0;
  const absl::Status last = RetryOver(
      {absl::UnavailableError("1"), absl::UnavailableError("2"), absl::UnavailableError("3")},
      used);
  EXPECT_EQ(last, absl::UnavailableError("3"));
  EXPECT_EQ(used, 3U);
}

TEST(Retry, OtherErrorsAreFinal) {
  std::size_t used = 0;
  EXPECT_TRUE(absl::IsInternal(RetryOver({absl::InternalError("")}, used)));
  EXPECT_EQ(used, 1U);
}

TEST(Retry, NoWaitBeginsThatPassesTheDeadline) {
  std::size_t used = 0;
  EXPECT_TRUE(
      absl::IsUnavailable(RetryOver({absl::UnavailableError("")}, used, absl::Microseconds(500))));
  EXPECT_EQ(used, 1U);
}

}  // namespace
}  // namespace maskd::client
