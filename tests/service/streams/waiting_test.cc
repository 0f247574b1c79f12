// Steps and rows whose grammars compile, in simulated time: each compile takes a second.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "service/streams/stream_session.h"
#include "tests/service/base/simulated_time.h"

namespace maskd::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RowId kWaitingRow = 1;

Config NothingAhead() {
  Config config;
  config.warm_up_ms = 0;
  config.look_ahead_masks = 0;
  return config;
}

class WaitingTest : public testing::Test {
 protected:
  WaitingTest()
      : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))),
        time_([this] { BeginCompiles(); }),
        grammars_(NothingAhead(), nullptr,
                  {.compiles = StoreMachinery::Compiles::kWhenTaken, .clock = &time_}),
        session_(&tokenizers_->all().front(), &grammars_, StreamLimits(), FormTerms(), nullptr) {}

  // What row 1 is answered; nothing when it is not.
  std::vector<RowResult> Run(StepRequest request, std::int64_t wait_ms) {
    request.step = ++step_;
    request.wait_ms = wait_ms;
    const auto result = session_.Step(request, [this] { return cancelled_; });
    status_ = result.status();
    return result.ok() ? (*result)->rows : std::vector<RowResult>();
  }

  static StepRequest Open(std::vector<TokenId> tokens) {
    StepRequest request;
    RowToOpen& open = request.opens.emplace_back();
    open.row = kWaitingRow;
    open.target.source = GrammarSource{"choice", R"(["ab","ac"])", {}};
    open.tokens = std::move(tokens);
    return request;
  }

  static StepRequest Move(std::vector<TokenId> tokens) {
    StepRequest request;
    RowToMove& move = request.moves.emplace_back();
    move.row = kWaitingRow;
    move.tokens = std::move(tokens);
    return request;
  }

  std::unique_ptr<const TokenizerStore> tokenizers_;
  SimulatedTime time_;
  GrammarStore grammars_;
  StreamSession session_;
  absl::Status status_;
  bool cancelled_ = false;
  std::uint64_t step_ = 0;

 private:
  void BeginCompiles() {
    while (std::function<void()> compile = grammars_.TakeCompile())
      time_.After(seconds(1), std::move(compile));
  }
};

TEST_F(WaitingTest, AStepWaitsAsLongAsItMayAndNoLonger) {
  const Clock::TimePoint begin = time_.Now();
  EXPECT_EQ(Run(Open({}), 300).at(0).state, RowState::kCompiling);
  EXPECT_EQ(time_.Now() - begin, milliseconds(300));
  EXPECT_EQ(Run(Move({}), 0).at(0).state, RowState::kCompiling);
  EXPECT_EQ(time_.Now() - begin, milliseconds(300));
  EXPECT_EQ(Run(Move({}), 5'000).at(0).state, RowState::kActive);
  EXPECT_EQ(time_.Now() - begin, seconds(1));
}

TEST_F(WaitingTest, ACancelledStepEndsWithinASliceOfItsWait) {
  const Clock::TimePoint begin = time_.Now();
  time_.After(milliseconds(123), [this] { cancelled_ = true; });
  Run(Open({}), 5'000);
  EXPECT_TRUE(absl::IsCancelled(status_)) << status_;
  EXPECT_LE(time_.Now() - begin, milliseconds(128));
}

TEST_F(WaitingTest, TokensThatCameTooEarlyAreRefusedThoughTheirStepWaits) {
  Run(Open({}), 0);
  const RowResult row = Run(Move({'a'}), 5'000).at(0);
  EXPECT_EQ(row.state, RowState::kActive);
  EXPECT_EQ(row.token_count, 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(row.error)) << row.error;
  EXPECT_TRUE(Run(Move({'a'}), 0).at(0).error.ok());
}

// A row takes the text that it was opened with once its grammar is compiled. That may take longer
// than a turn, so it is left to whoever goes on with the step.
TEST_F(WaitingTest, ALongTextThatWaitedForItsCompileIsNotTakenInATurn) {
  for (const bool in_answers : {false, true}) {
    StepRequest open = Open({});
    open.opens[0].target.source = GrammarSource{"regex", in_answers ? "a*" : "a*b?", {}};
    open.opens[0].tokens = std::vector<TokenId>(1'000, 'a');
    Run(open, 0);
    StepRequest next;
    next.step = ++step_;
    if (!in_answers) time_.Pass(seconds(2));
    ASSERT_TRUE(session_.Begin(next, time_.Now() + seconds(1)).ok());
    EXPECT_EQ(session_.put_off(), !in_answers);
    if (in_answers) {
      time_.Pass(seconds(2));
      EXPECT_FALSE(session_.AnswerSome(next, NewMasks::kMade, time_.Now() + seconds(1)));
      EXPECT_TRUE(session_.put_off());
    }
    const auto result = session_.Finish(next, [] { return false; });
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ((*result)->rows.size(), 1U);
    EXPECT_EQ((*result)->rows[0].token_count, 1'000);
    StepRequest close;
    close.closes = {kWaitingRow};
    Run(close, 0);
  }
}

TEST_F(WaitingTest, ATokenRefusedAtTheOpeningIsSaidBeforeTheRowMoves) {
  Run(Open({'a', 'x'}), 0);
  time_.Pass(seconds(2));
  const RowResult row = Run(Move({'b'}), 0).at(0);
  EXPECT_EQ(row.state, RowState::kActive);
  EXPECT_EQ(row.token_count, 1) << "what followed is not taken";
  ASSERT_TRUE(row.refused_token.has_value());
  EXPECT_EQ(row.refused_token->index, 1);
  EXPECT_TRUE(absl::IsInvalidArgument(row.error)) << row.error;
  const RowResult next = Run(Move({'b'}), 0).at(0);
  EXPECT_TRUE(next.error.ok() && !next.refused_token.has_value()) << next.error;
}

}  // namespace
}  // namespace maskd::service
