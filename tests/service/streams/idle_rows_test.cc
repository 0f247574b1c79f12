// Rows that rest between two steps: who has a stream's rows, and that no stream waits for another.
#include "service/grammars/idle_rows.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "grammar_core/rows/masked_automaton.h"
#include "service/streams/rows_to_rest.h"
#include "service/streams/session_turns.h"
#include "service/streams/stream_session.h"
#include "tests/service/config/nothing_ahead.h"

namespace maskd::service {
namespace {

TEST(IdleRowsTest, EveryStreamThatIsThereRests) {
  IdleRows idle;
  std::vector<int> rests(3);
  {
    const IdleRows::Registration a(&idle, [&] { ++rests[0]; });
    idle.RestAll();
    const IdleRows::Registration b(&idle, [&] { ++rests[1]; });
    const IdleRows::Registration c(&idle, [&] { ++rests[2]; });
    idle.RestAll();
  }
  idle.RestAll();
  EXPECT_EQ(rests, (std::vector<int>{2, 1, 1}));
}

// Rows are many, and moving them takes up to a second.
TEST(IdleRowsTest, StreamsComeAndGoWhileAnotherRests) {
  IdleRows idle;
  int others = 0;
  const IdleRows::Registration slow(&idle, [&] {
    std::thread([&] { const IdleRows::Registration other(&idle, [&] { ++others; }); }).join();
  });
  idle.RestAll();
  EXPECT_EQ(others, 0);
}

TEST(IdleRowsTest, AStreamThatEndsWaitsForItsOwnRest) {
  IdleRows idle;
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> resting = false;
    auto rows = std::make_unique<int>(0);
    std::optional<IdleRows::Registration> stream(std::in_place, &idle, [&] {
      resting = true;
      for (int moved = 0; moved < 1000; ++moved) ++*rows;
      resting = false;
    });
    std::thread rest([&] { idle.RestAll(); });
    stream.reset();
    EXPECT_FALSE(resting);
    rows = nullptr;  // AddressSanitizer and ThreadSanitizer see who still uses them
    rest.join();
  }
}

TEST(IdleRowsTest, RestSoonDoesNotWait) {
  IdleRows idle;
  std::atomic<int> rests = 0;
  std::atomic<bool> go_on = false;
  const IdleRows::Registration stream(&idle, [&] {
    go_on.wait(false);
    ++rests;
    rests.notify_all();
  });
  for (int i = 0; i < 100; ++i) idle.RestSoon();  // one rests, one waits, the others are those
  go_on = true;
  go_on.notify_all();
  rests.wait(0);
  EXPECT_GE(rests, 1);
}

TEST(SessionTurnsTest, ARestNeverWaitsForAStep) {
  SessionTurns turns;
  EXPECT_TRUE(turns.TryBeginRest());
  EXPECT_FALSE(turns.TryBeginRest());
  turns.EndRest();
  turns.BeginStep();
  EXPECT_FALSE(turns.TryBeginRest());
  EXPECT_FALSE(turns.IsAwaited());
  turns.BeginStep();  // the last one was given up
  EXPECT_FALSE(turns.TryBeginRest());
  turns.EndStep();
  EXPECT_TRUE(turns.TryBeginRest());
  turns.EndRest();
}

TEST(SessionTurnsTest, ARestIsToldThatAStepWaits) {
  for (int i = 0; i < 200; ++i) {
    SessionTurns turns;
    bool rested = false;  // guarded by the turns: ThreadSanitizer sees whether it is
    ASSERT_TRUE(turns.TryBeginRest());
    EXPECT_FALSE(turns.IsAwaited());
    std::thread step([&] {
      turns.BeginStep();
      EXPECT_TRUE(rested);
      turns.EndStep();
    });
    while (!turns.IsAwaited()) std::this_thread::yield();
    rested = true;
    turns.EndRest();
    step.join();
    EXPECT_FALSE(turns.IsAwaited());
    EXPECT_TRUE(turns.TryBeginRest());
  }
}

TEST(SessionTurnsTest, StepsAndRestsHaveTheRowsByTurns) {
  constexpr int kSteps = 20'000;
  SessionTurns turns;
  std::int64_t rows = 0;
  std::int64_t rests = 0;
  std::atomic<bool> over = false;
  std::thread resting([&] {
    while (!over) {
      if (!turns.TryBeginRest()) continue;
      ++rows;
      ++rests;
      turns.EndRest();
    }
  });
  for (int i = 0; i < kSteps; ++i) {
    turns.BeginStep();
    ++rows;
    turns.EndStep();
  }
  over = true;
  resting.join();
  EXPECT_EQ(rows, kSteps + rests);
}

TEST(RowsToRestTest, AreNoMoreThanTheStreamHas) {
  RowsToRest rows;
  rows.Add(1);
  for (RowId fork = 2; fork < 1'000; ++fork) {
    rows.Fork(1, fork);
    if (fork > 2) rows.Close(fork - 1);
    EXPECT_EQ(rows.size(), 2U);
  }
  rows.Close(1);
  rows.Close(999);
  EXPECT_TRUE(rows.empty());
}

TEST(RowsToRestTest, ForksDoNotKeepARowWaiting) {
  RowsToRest rows;
  for (const RowId row : {5, 3, 4}) rows.Add(row);
  rows.Fork(3, 6);
  rows.Fork(2, 7);  // its parent has rested
  EXPECT_EQ(rows.Take(), RowId{3});
  rows.Fork(3, 8);
  for (const RowId next : {4, 5, 6}) EXPECT_EQ(rows.Take(), next);
  EXPECT_TRUE(rows.empty());
}

// Rows of one stream, whose grammar has let go of the automaton that they are in.
class RestingRowsTest : public testing::Test {
 protected:
  RestingRowsTest()
      : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))),
        grammars_(NothingAhead(), nullptr),
        session_(&tokenizers_->all().front(), &grammars_, StreamLimits(), FormTerms(), nullptr) {}

  static GrammarTarget Target() { return {"", GrammarSource{"regex", "([a-z]+,)*[0-9]{1,9}", {}}}; }

  void Run(StepRequest request) {
    request.step = ++step_;
    request.wait_ms = 60'000;
    const auto result = session_.Step(request, [] { return false; });
    ASSERT_TRUE(result.ok()) << result.status();
    for (const RowResult& row : (*result)->rows) EXPECT_TRUE(row.error.ok()) << row.error;
  }

  void OpenRows(int rows) {
    StepRequest request;
    for (int row = 0; row < rows; ++row) {
      RowToOpen& open = request.opens.emplace_back();
      open.row = static_cast<RowId>(row);
      open.target = Target();
      open.tokens = {'a', static_cast<TokenId>('a' + row % 26)};
    }
    Run(request);
  }

  // Has the rows' grammar forget. What they hold on to.
  std::weak_ptr<const MaskedAutomaton> Forget() {
    const auto known = grammars_.Get(Target(), tokenizers_->all().front());
    EXPECT_TRUE(known.ok()) << known.status();
    const cache::GrammarPtr grammar = *known->ticket.result();
    const std::weak_ptr<const MaskedAutomaton> before = grammar->automaton();
    grammar->Forget();
    return before;
  }

  std::unique_ptr<const TokenizerStore> tokenizers_;
  GrammarStore grammars_;
  StreamSession session_;
  std::uint64_t step_ = 0;
};

TEST_F(RestingRowsTest, GiveBackWhatTheirGrammarHasForgotten) {
  OpenRows(20);
  const auto before = Forget();
  EXPECT_FALSE(before.expired()) << "the rows are in it";
  grammars_.idle_rows().RestAll();
  EXPECT_TRUE(before.expired());
}

// Steps come in between again and again: the rest goes on after each of them.
TEST_F(RestingRowsTest, WhatAStepCutsShortIsDoneAfterIt) {
  OpenRows(3'000);
  for (int i = 0; i < 30; ++i) {
    const auto before = Forget();
    std::thread rest([&] { grammars_.idle_rows().RestAll(); });
    while (!before.expired()) {
      Run({});
      session_.LookAhead();
      std::this_thread::yield();
    }
    rest.join();
  }
}

// A rest that a step has cut short goes on with the rows that it had listed. Those before them have
// rested once too seldom where their grammar has forgotten again meanwhile.
TEST_F(RestingRowsTest, WhatIsForgottenBehindARestThatWasCutShortIsGivenBack) {
  OpenRows(3'000);
  for (int i = 0; i < 30; ++i) {
    (void)Forget();
    std::thread rest([&] { grammars_.idle_rows().RestAll(); });
    for (int step = 0; step < 3; ++step) Run({});
    rest.join();
    const auto before = Forget();
    grammars_.idle_rows().RestAll();
    ASSERT_TRUE(before.expired()) << "round " << i;
  }
}

// A fork stands where its parent does, which may still have to rest.
TEST_F(RestingRowsTest, SoDoRowsThatAreForkedMeanwhile) {
  constexpr RowId kRows = 500;
  OpenRows(kRows);
  const auto before = Forget();
  std::thread rest([&] { grammars_.idle_rows().RestAll(); });
  for (RowId row = 0; row < kRows; ++row) {
    StepRequest fork;
    fork.forks = {{row, kRows + row}};
    Run(fork);
    session_.LookAhead();
  }
  rest.join();
  // Nobody asks for a rest any more than once a step.
  for (int step = 0; step < 1'000'000 && !before.expired(); ++step) {
    Run({});
    session_.LookAhead();
    std::this_thread::yield();
  }
  EXPECT_TRUE(before.expired());
}

}  // namespace
}  // namespace maskd::service
