// Replies that nobody reads: bounded together, and none of them for ever.
#include "service/callers/unread_replies.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "cache/load_error.h"
#include "tests/service/base/simulated_time.h"

namespace maskd::service {
namespace {

class UnreadRepliesTest : public testing::Test {
 protected:
  absl::Status Add(const int* call, std::int64_t bytes) {
    return unread_.Add(call, bytes, [this, call] { cancelled_.push_back(*call); });
  }

  const int first_ = 1;
  const int second_ = 2;
  const int third_ = 3;
  SimulatedTime time_;
  UnreadReplies unread_{100, &time_};
  std::vector<int> cancelled_;
};

TEST_F(UnreadRepliesTest, AreRefusedPastTheirBound) {
  EXPECT_TRUE(Add(&first_, 60).ok());
  const absl::Status refused = Add(&second_, 41);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(refused.message(), "limit max_unread_reply_bytes is 100, 101 needed");
  EXPECT_TRUE(cache::RetryAfterMs(refused).has_value());
  EXPECT_EQ(unread_.bytes(), 60);
  EXPECT_TRUE(Add(&second_, 40).ok());
  unread_.Remove(&first_);
  EXPECT_EQ(unread_.bytes(), 40);
  EXPECT_TRUE(Add(&third_, 60).ok());
}

TEST_F(UnreadRepliesTest, OfOneCallAddUp) {
  EXPECT_TRUE(Add(&first_, 30).ok());
  EXPECT_TRUE(Add(&first_, 30).ok());
  EXPECT_EQ(unread_.bytes(), 60);
  unread_.Remove(&first_);
  unread_.Remove(&first_);
  EXPECT_EQ(unread_.bytes(), 0);
}

TEST_F(UnreadRepliesTest, TheOldestGivesWayWhenItHadItsTime) {
  EXPECT_TRUE(Add(&first_, 50).ok());
  EXPECT_TRUE(Add(&second_, 50).ok());
  EXPECT_FALSE(Add(&third_, 1).ok());
  EXPECT_THAT(cancelled_, testing::IsEmpty());
  time_.Pass(UnreadReplies::kPatience);
  EXPECT_FALSE(Add(&third_, 1).ok()) << "its bytes are there until the call has ended";
  EXPECT_THAT(cancelled_, testing::ElementsAre(1));
  EXPECT_FALSE(Add(&third_, 1).ok());
  EXPECT_FALSE(Add(&third_, 1).ok());
  EXPECT_THAT(cancelled_, testing::ElementsAre(1, 2)) << "each once";
  unread_.Remove(&first_);
  EXPECT_TRUE(Add(&third_, 50).ok());
}

}  // namespace
}  // namespace maskd::service
