#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tools/cli/top/screen.h"

namespace maskd::cli {
namespace {

using testing::HasSubstr;

TEST(TopScreenTest, BytesAndTimesHaveTheirUnits) {
  EXPECT_EQ(BytesText(17), "17 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(std::int64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(TimeText(12), "12 us");
  EXPECT_EQ(TimeText(3'200), "3.2 ms");
  EXPECT_EQ(TimeText(90'000'000), "1.5 min");
}

ServerLook LookAfter(absl::Duration time, std::int64_t step_us) {
  ServerLook look;
  look.at = absl::UnixEpoch() + time;
  v1::OpenStream& stream = *look.streams.add_streams();
  stream.set_id(4);
  stream.set_greeted(true);
  stream.set_age_us(absl::ToInt64Microseconds(time));
  stream.set_step_us(step_us);
  look.streams.set_total(9);
  return look;
}

TEST(TopScreenTest, AStreamIsBusyByWhatItsStepsTookSinceTheLastLook) {
  BusyShares shares;
  shares.Take(LookAfter(absl::Seconds(10), 1'000'000));
  EXPECT_DOUBLE_EQ(shares.Of(4), 10) << "since its begin";
  shares.Take(LookAfter(absl::Seconds(12), 2'500'000));
  EXPECT_DOUBLE_EQ(shares.Of(4), 75);
  EXPECT_DOUBLE_EQ(shares.Of(5), 0);
}

TEST(TopScreenTest, RowsAreSaidWithWhatIsNotInUse) {
  ServerLook look = LookAfter(absl::Seconds(1), 0);
  v1::OpenStreamRows& rows = *look.streams.mutable_streams(0)->mutable_rows();
  rows.set_active(3);
  rows.set_free(2);
  rows.set_compiling(1);
  rows.set_failed(4);
  look.server.mutable_memory()->set_mark(v1::MEMORY_MARK_HIGH);
  const std::string text = ScreenText(look, BusyShares());
  EXPECT_THAT(text, HasSubstr("5 1c 4f"));
  EXPECT_THAT(text, HasSubstr("1 of 9 streams"));
  EXPECT_THAT(text, HasSubstr("above the high mark"));
}

}  // namespace
}  // namespace maskd::cli
