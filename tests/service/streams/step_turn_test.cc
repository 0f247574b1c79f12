// The small parts of a stream: how long a thread goes on with a step, what a stream has done so
// far, what an event of its queue says unless it says more.
#include "service/streams/step_turn.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "service/calls/call_event.h"
#include "service/streams/stream_figures.h"

namespace maskd::service {
namespace {

using std::chrono::microseconds;

// Says a time that the test sets, and how often it was asked.
class SetClock final : public Clock {
 public:
  TimePoint Now() override {
    ++looks;
    return now;
  }
  void WaitUntil(CondVar* /*changed*/, Mutex* /*mutex*/, TimePoint /*until*/) override {}

  TimePoint now{microseconds(1'000)};
  int looks = 0;
};

TEST(StepTurnTest, ATurnGetsOnByOneThingAtLeast) {
  SetClock clock;
  StepTurn turn = StepTurn::Until(&clock, clock.now - microseconds(1));
  EXPECT_FALSE(turn.IsOver()) << "before anything was done";
  turn.Spend(100);
  EXPECT_TRUE(turn.IsOver());
}

TEST(StepTurnTest, TheClockIsLookedAtEveryFewUnits) {
  SetClock clock;
  StepTurn turn = StepTurn::Until(&clock, clock.now + microseconds(1'000));
  for (int i = 0; i < 100; ++i) {
    turn.Spend(1);
    EXPECT_FALSE(turn.IsOver());
    clock.now += microseconds(5);
  }
  EXPECT_EQ(clock.looks, 25);
  clock.now += microseconds(500);
  for (int i = 0; i < 3; ++i) {
    turn.Spend(1);
    EXPECT_FALSE(turn.IsOver());
  }
  turn.Spend(1);
  EXPECT_TRUE(turn.IsOver());
  clock.now -= microseconds(1'000);
  turn.Spend(4);
  EXPECT_TRUE(turn.IsOver()) << "once over it stays so";
  EXPECT_EQ(clock.looks, 26);
}

TEST(StepTurnTest, TheClockIsLookedAtLessOftenWhereUnitsAreQuick) {
  SetClock clock;
  StepTurn turn = StepTurn::Until(&clock, clock.now + microseconds(1'000));
  const auto looks_in = [&](int units, microseconds each) {
    const int before = clock.looks;
    for (int i = 0; i < units; ++i) {
      turn.Spend(1);
      (void)turn.IsOver();
      clock.now += each;
    }
    return clock.looks - before;
  };
  EXPECT_EQ(looks_in(8, microseconds(0)), 2) << "as nothing is known of them yet";
  EXPECT_EQ(looks_in(160, microseconds(0)), 10);
  EXPECT_EQ(looks_in(16, microseconds(5)), 1) << "the first slow ones come unseen";
  EXPECT_EQ(looks_in(40, microseconds(5)), 10);
}

TEST(StepTurnTest, WhoeverIsNotWantedIsOver) {
  bool cancelled = false;
  const std::function<bool()> is_cancelled = [&] { return cancelled; };
  StepTurn turn = StepTurn::WhileWanted(&is_cancelled);
  turn.Spend(std::int64_t{1} << 40);
  EXPECT_FALSE(turn.IsOver());
  cancelled = true;
  EXPECT_FALSE(turn.IsOver());
  turn.Spend(4);
  EXPECT_TRUE(turn.IsOver());
  cancelled = false;
  EXPECT_TRUE(turn.IsOver());
}

TEST(StreamFiguresTest, AreThoseOfTheLastStep) {
  const Clock::TimePoint begin{microseconds(50)};
  StreamFigures figures({"uid:1", "red"}, begin);
  EXPECT_EQ(figures.who().tenant, "red");
  EXPECT_EQ(figures.Read().active, begin);
  EXPECT_FALSE(figures.Read().transport.has_value());
  EXPECT_FALSE(figures.Read().in_step.has_value());
  for (int step = 1; step <= 3; ++step) {
    const Clock::TimePoint now = begin + microseconds(100 * step);
    figures.StepBegan(metrics::Transport::kSharedMemory, now);
    EXPECT_EQ(figures.Read().in_step, now);
    EXPECT_EQ(figures.Read().steps, step - 1);
    figures.StepDone(now + microseconds(9), microseconds(7), 11, 13);
    const StreamFigures::Values values = figures.Read();
    EXPECT_EQ(values.transport, metrics::Transport::kSharedMemory);
    EXPECT_FALSE(values.in_step.has_value());
    EXPECT_EQ(values.active, now + microseconds(9));
    EXPECT_EQ(values.steps, step);
    EXPECT_EQ(values.step_time, microseconds(7 * step));
    EXPECT_EQ(values.received_bytes, 11 * step);
    EXPECT_EQ(values.sent_bytes, 13 * step);
  }
  RowTally rows = {};
  rows[static_cast<std::size_t>(RowState::kFailed)] = 5;
  figures.SetRows(rows, 1'000);
  EXPECT_EQ(figures.Read().rows, rows);
  EXPECT_EQ(figures.Read().tokens, 1'000);
}

// A figure is never half written: whoever lists streams sees one that was said.
TEST(StreamFiguresTest, AreReadWhileTheyAreWritten) {
  StreamFigures figures({}, {});
  std::thread writer([&] {
    for (std::int64_t i = 1; i <= 20'000; ++i) {
      figures.StepBegan(metrics::Transport::kGrpc, Clock::TimePoint(microseconds(i)));
      figures.StepDone(Clock::TimePoint(microseconds(i)), microseconds(1), 1, 1);
    }
  });
  std::int64_t last = 0;
  while (last < 20'000) {
    const StreamFigures::Values values = figures.Read();
    EXPECT_GE(values.steps, last);
    last = values.steps;
  }
  writer.join();
  EXPECT_EQ(figures.Read().received_bytes, 20'000);
}

// As a queue has it: it knows the event alone.
class Counted final : public CallEvent {
 public:
  void Complete(bool ok) override { ok ? ++done : ++failed; }

  int done = 0;
  int failed = 0;
};

TEST(CallEventTest, IsNobodysAndDoesNotCareHowLongItLay) {
  Counted event;
  CallEvent* const known = &event;
  EXPECT_EQ(known->share(), nullptr);
  known->Waited(std::chrono::seconds(1));
  known->Complete(true);
  known->Complete(false);
  EXPECT_EQ(event.done, 1);
  EXPECT_EQ(event.failed, 1);
}

// Events of nobody are expected to take no time, so they come before those of streams that work.
TEST(CallEventTest, WaitsBehindNoStream) {
  FairTurns turns;
  const auto stream = std::make_shared<FairTurns::Share>();
  Counted event;
  const auto add = [&](std::shared_ptr<FairTurns::Share> owner) {
    turns.Add({std::move(owner), static_cast<CallEvent*>(&event), true, Clock::TimePoint::max()});
  };
  add(stream);
  turns.Spend(turns.Next(), std::chrono::milliseconds(1));
  add(stream);
  add(event.share());
  EXPECT_EQ(turns.Next().owner, nullptr);
  EXPECT_EQ(turns.Next().owner, stream);
}

}  // namespace
}  // namespace maskd::service
