// Slots for messages: bounded, and nobody keeps one from others for long.
#include "service/callers/receive_slots.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "cache/load_error.h"
#include "tests/service/base/simulated_time.h"

namespace maskd::service {
namespace {

using Slot = ReceiveSlots::Slot;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ReceiveSlotsTest : public testing::Test {
 protected:
  // A slot whose call ends a millisecond after it was cancelled, if it does.
  absl::StatusOr<Slot> Take(int call, bool ends = true) {
    return slots_.Take([this, call, ends] {
      cancelled_.push_back(call);
      if (ends) time_.After(milliseconds(1), [this, call] { Hold(call).reset(); });
    });
  }

  std::optional<Slot>& Hold(int call) { return held_[static_cast<std::size_t>(call)]; }

  void TakeAndHold(int call, bool ends = true) {
    absl::StatusOr<Slot> slot = Take(call, ends);
    ASSERT_TRUE(slot.ok()) << slot.status();
    Hold(call).emplace(*std::move(slot));
  }

  SimulatedTime time_;
  ReceiveSlots slots_{2, &time_};
  std::vector<int> cancelled_;
  std::array<std::optional<Slot>, 4> held_;
};

TEST_F(ReceiveSlotsTest, AreTakenAndGivenBack) {
  TakeAndHold(0);
  TakeAndHold(1);
  EXPECT_EQ(slots_.held(), 2);
  Hold(0).reset();
  EXPECT_EQ(slots_.held(), 1);
  TakeAndHold(2);
  EXPECT_THAT(cancelled_, testing::IsEmpty());
}

TEST_F(ReceiveSlotsTest, WhoFindsNoneWaits) {
  TakeAndHold(0);
  TakeAndHold(1);
  time_.After(seconds(2), [this] { Hold(1).reset(); });
  const Clock::TimePoint begin = time_.Now();
  TakeAndHold(2);
  EXPECT_EQ(time_.Now() - begin, seconds(2));
  EXPECT_THAT(cancelled_, testing::IsEmpty());
}

TEST_F(ReceiveSlotsTest, WhoHasHadItsTimeIsCancelledForWhoWaits) {
  TakeAndHold(0);
  time_.Pass(seconds(3));
  TakeAndHold(1);
  time_.Pass(2 * ReceiveSlots::kPatience);
  EXPECT_THAT(cancelled_, testing::IsEmpty()) << "nobody waits";
  TakeAndHold(2);
  EXPECT_THAT(cancelled_, testing::ElementsAre(0, 1));
  time_.PassAll();
  EXPECT_EQ(slots_.held(), 1) << "both were late";
}

TEST_F(ReceiveSlotsTest, WhoWaitsInVainIsRefused) {
  TakeAndHold(0, /*ends=*/false);
  TakeAndHold(1, /*ends=*/false);
  const absl::Status refused = Take(2).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_TRUE(cache::RetryAfterMs(refused).has_value());
  EXPECT_THAT(cancelled_, testing::ElementsAre(0, 1));
  Take(3).status().IgnoreError();
  EXPECT_THAT(cancelled_, testing::ElementsAre(0, 1)) << "each once";
}

}  // namespace
}  // namespace maskd::service
