// Slots for messages: bounded, and nobody keeps one from others for long.
#include "service/callers/receive_slots.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "cache/load_error.h"
#include "tests/service/base/simulated_time.h"

namespace maskd::service {
namespace {

using Slot = ReceiveSlots::Slot;
using std::chrono::milliseconds;
using std::chrono::seconds;

// What a call of `owner` is told in the end, of a slot or none, and when: somebody looks whenever
// that is due.
absl::StatusOr<Slot> TakeInTime(ReceiveSlots* slots, SimulatedTime* time, const std::string& owner,
                                std::function<void()> cancel, Clock::TimePoint* told_at = nullptr) {
  std::optional<absl::StatusOr<Slot>> told;
  slots->Take(owner, std::move(cancel), [&](absl::StatusOr<Slot> slot) {
    if (told_at != nullptr) *told_at = time->Now();
    told.emplace(std::move(slot));
  });
  while (!told.has_value()) {
    const Clock::TimePoint next = slots->Look();
    if (!told.has_value()) time->Pass(next - time->Now());
  }
  return *std::move(told);
}

class ReceiveSlotsTest : public testing::Test {
 protected:
  // A slot whose call ends a millisecond after it was cancelled, if it does.
  absl::StatusOr<Slot> Take(int call, bool ends = true) {
    const auto cancel = [this, call, ends] {
      cancelled_.push_back(call);
      if (ends) time_.After(milliseconds(1), [this, call] { Hold(call).reset(); });
    };
    return TakeInTime(&slots_, &time_, "its caller", cancel, &told_at_);
  }

  std::optional<Slot>& Hold(int call) { return held_[static_cast<std::size_t>(call)]; }

  void TakeAndHold(int call, bool ends = true) {
    absl::StatusOr<Slot> slot = Take(call, ends);
    ASSERT_TRUE(slot.ok()) << slot.status();
    Hold(call).emplace(*std::move(slot));
  }

  SimulatedTime time_;
  ReceiveSlots slots_{2, 2, &time_};
  Clock::TimePoint told_at_;  // the last one
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
  EXPECT_EQ(told_at_ - begin, seconds(2));
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

// Ten slots, of which two may be fresh.
class FreshSlotsTest : public testing::Test {
 protected:
  static constexpr int kAtWork = 2;

  absl::StatusOr<Slot> Take() {
    return TakeInTime(&slots_, &time_, "a", [] {}, &told_at_);
  }
  // How long a call waits for a slot.
  Clock::Duration Wait() {
    const Clock::TimePoint begin = time_.Now();
    absl::StatusOr<Slot> slot = Take();
    EXPECT_TRUE(slot.ok()) << slot.status();
    held_.push_back(*std::move(slot));
    return told_at_ - begin;
  }

  SimulatedTime time_;
  ReceiveSlots slots_{10, kAtWork, &time_};
  Clock::TimePoint told_at_;  // the last one
  std::deque<Slot> held_;
};

TEST_F(FreshSlotsTest, FewBeginAtOnceAndWhoIsSlowIsInNobodysWay) {
  EXPECT_EQ(Wait(), seconds(0));
  time_.Pass(milliseconds(5));
  EXPECT_EQ(Wait(), seconds(0));
  EXPECT_EQ(Wait(), ReceiveSlots::kFresh - milliseconds(5)) << "the first is stale by then";
  EXPECT_EQ(Wait(), milliseconds(5)) << "and now the second";
  EXPECT_EQ(slots_.held(), 4);
}

TEST_F(FreshSlotsTest, WhoGivesBackMakesRoomAtOnce) {
  EXPECT_EQ(Wait(), seconds(0));
  EXPECT_EQ(Wait(), seconds(0));
  time_.After(milliseconds(1), [this] { held_.pop_front(); });
  EXPECT_EQ(Wait(), milliseconds(1));
}

TEST_F(FreshSlotsTest, AllSlotsCanBeHeldByWhoSendsSlowly) {
  for (int i = 0; i < 10; ++i) Wait();
  EXPECT_EQ(slots_.held(), slots_.count());
  time_.Pass(2 * ReceiveSlots::kPatience);
  EXPECT_TRUE(absl::IsResourceExhausted(Take().status())) << "nobody of them ends";
}

TEST_F(FreshSlotsTest, AsManyWaitAsMayAndTheNextIsRefusedAtOnce) {
  for (int i = 0; i < 10; ++i) Wait();
  EXPECT_EQ(slots_.Look(), Clock::TimePoint::max()) << "nobody waits";
  time_.Pass(ReceiveSlots::kFresh);
  int told = 0;
  for (int i = 0; i < ReceiveSlots::kMaxWaiting; ++i)
    slots_.Take("a", [] {}, [&](const absl::StatusOr<Slot>& slot) { told += slot.ok() ? 1 : 0; });
  EXPECT_EQ(slots_.waiting(), ReceiveSlots::kMaxWaiting);
  EXPECT_TRUE(absl::IsResourceExhausted(Take().status()));
  EXPECT_EQ(told_at_, time_.Now());
  held_.pop_front();
  EXPECT_EQ(told, ReceiveSlots::kMaxWaiting) << "each gives it back at once";
}

// One slot, and calls that wait for it by the machine's clock.
class ReceiveSlotsTurnsTest : public testing::Test {
 protected:
  // One call more waits, of `owner`.
  void Call(const std::string& owner) {
    ++calls_;
    slots_.Take(
        owner, [] {},
        [this, owner](const absl::StatusOr<Slot>& slot) {
          ASSERT_TRUE(slot.ok()) << slot.status();
          order_.push_back(owner);
        });
    EXPECT_EQ(slots_.waiting(), calls_);
  }

  // Whose calls had the slot, in order.
  const std::vector<std::string>& Order() {
    first_.reset();
    EXPECT_EQ(std::ssize(order_), calls_);
    EXPECT_EQ(slots_.held(), 0);
    return order_;
  }

  ReceiveSlots slots_{1, 1};

 private:
  static Slot TakeFirst(ReceiveSlots* slots) {
    std::optional<Slot> first;
    slots->Take(
        "the first", [] {}, [&](absl::StatusOr<Slot> slot) { first.emplace(*std::move(slot)); });
    return *std::move(first);
  }

  std::optional<Slot> first_ = TakeFirst(&slots_);
  std::vector<std::string> order_;
  int calls_ = 0;
};

TEST_F(ReceiveSlotsTurnsTest, OneCallOfEachOwnerIsNotBehindAllOfAnothers) {
  constexpr int kOthers = 5;
  for (int i = 0; i < 40; ++i) Call("many");
  for (int i = 0; i < kOthers; ++i) Call(absl::StrCat("other ", i));
  std::vector<std::string> begin = Order();
  begin.resize(1 + kOthers);
  EXPECT_EQ(std::ranges::count(begin, "many"), 1) << testing::PrintToString(begin);
}

TEST_F(ReceiveSlotsTurnsTest, WhoSendsLittleGoesBeforeAllWhoSendMuch) {
  for (int i = 0; i < 5; ++i) {
    const std::string owner = absl::StrCat("much ", i);
    slots_.Charge(owner, 64 << 10);
    Call(owner);
  }
  slots_.Charge("little", 64 << 10);
  slots_.Charge("little", 100);
  Call("little");
  Call("new");
  EXPECT_THAT(Order(), testing::ElementsAre("little", "new", "much 0", "much 1", "much 2", "much 3",
                                            "much 4"));
}

TEST_F(ReceiveSlotsTurnsTest, WhoSendsMuchWaitsForAsMuchOfOthers) {
  slots_.Charge("much", 3 << 10);
  Call("much");
  for (int i = 0; i < 9; ++i) Call("little");
  const std::vector<std::string>& order = Order();
  EXPECT_EQ(std::ranges::find(order, "much") - order.begin(), 2);
}

}  // namespace
}  // namespace maskd::service
