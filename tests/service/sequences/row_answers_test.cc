// What rows of a stream are answered, and where each stands for masks to be made ahead: the parts
// of a step's answer, without the step.
#include "service/sequences/row_answers.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "grammar_core/base/budget.h"
#include "grammar_core/base/error.h"
#include "grammar_core/compile/compiler.h"
#include "service/grammars/warm_up_queue.h"
#include "service/sequences/places_ahead.h"
#include "service/sequences/stream_row.h"

namespace maskd::service {
namespace {

constexpr TokenId kEnd = 256;  // of the embedded vocabulary

class RowAnswersTest : public testing::Test {
 protected:
  RowAnswersTest() : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))) {}

  [[nodiscard]] int vocab_size() const { return tokenizers_->all()[0].vocabulary().size(); }

  // Compiled anew for each call, so that no mask of it is there yet but the first.
  [[nodiscard]] cache::GrammarPtr Compiled(const std::string& kind, const std::string& text) const {
    Budget budget = Budget::Unlimited();
    auto grammar =
        CompileGrammar({kind, text, {}}, tokenizers_->all()[0].space(), Limits(), budget);
    EXPECT_TRUE(grammar.ok()) << grammar.status();
    return *grammar;
  }

  [[nodiscard]] StreamRow RowOf(const cache::GrammarPtr& grammar,
                                const std::string& taken = "") const {
    Sequence sequence(grammar, {});
    for (const char c : taken) EXPECT_TRUE(sequence.Take(static_cast<TokenId>(c)).ok()) << taken;
    StreamRow row{std::move(sequence)};
    row.options = std::make_shared<const RowOptions>();
    row.grammar = grammar;
    return row;
  }

  RowAnswers AnswersWithin(std::int64_t max_reply_bytes) {
    return {FormTerms(), vocab_size(), max_reply_bytes, &ahead_};
  }

  std::unique_ptr<const TokenizerStore> tokenizers_;
  WarmUpQueue nothing_ahead_{0, 0};
  PlacesAhead ahead_{&nothing_ahead_};
};

TEST_F(RowAnswersTest, AnErrorATokenAndAQuestionAreSaidOnce) {
  RowAnswers answers = AnswersWithin(1 << 20);
  StreamRow row = RowOf(Compiled("choice", R"(["abc"])"));
  row.error = absl::InvalidArgumentError("no");
  row.refused_token = RefusedToken{1, 'x', "x"};
  RowToMove move;
  move.has_drafts = true;
  move.drafts = {'a', 'b', 'x'};
  move.want_forced = true;
  row.asked = &move;
  answers.BeginReply(1, 0);
  RowResult first;
  ASSERT_TRUE(answers.Write(NewMasks::kMade, &row, &first));
  EXPECT_TRUE(absl::IsInvalidArgument(first.error));
  EXPECT_EQ(first.refused_token->id, 'x');
  EXPECT_EQ(first.accepted_drafts, 2);
  EXPECT_EQ(first.positions.size(), 4U);
  EXPECT_EQ(first.positions[3].state, Position::State::kInvalid);
  EXPECT_EQ(first.forced->bytes, "abc");
  EXPECT_EQ(first.grammar_id, row.grammar->id());
  answers.BeginReply(1, 0);
  RowResult second;
  ASSERT_TRUE(answers.Write(NewMasks::kMade, &row, &second));
  EXPECT_TRUE(second.error.ok()) << second.error;
  EXPECT_FALSE(second.refused_token.has_value());
  EXPECT_FALSE(second.accepted_drafts.has_value());
  EXPECT_EQ(second.positions.size(), 1U);
  EXPECT_FALSE(second.forced.has_value());
  EXPECT_EQ(second.grammar_id, "");
}

// It is asked again, by another thread that may make the mask.
TEST_F(RowAnswersTest, WhereNoMaskMayBeMadeNothingIsTaken) {
  RowAnswers answers = AnswersWithin(1 << 20);
  StreamRow row = RowOf(Compiled("regex", "(ab|cd){3}"), "ab");
  row.error = absl::InvalidArgumentError("no");
  RowToMove move;
  move.has_drafts = true;
  move.drafts = {'c'};
  row.asked = &move;
  answers.BeginReply(1, 0);
  RowResult result;
  ASSERT_FALSE(answers.Write(NewMasks::kRefused, &row, &result));
  EXPECT_TRUE(result.error.ok());
  EXPECT_TRUE(result.positions.empty());
  EXPECT_FALSE(row.error.ok());
  EXPECT_EQ(row.asked, &move);
  ASSERT_TRUE(answers.Write(NewMasks::kMade, &row, &result));
  EXPECT_FALSE(result.error.ok());
  EXPECT_EQ(result.accepted_drafts, 1);
  EXPECT_TRUE(answers.Write(NewMasks::kRefused, &row, &result)) << "the masks are known now";
}

// A reply of so many bytes has as many rows as fit, each with its mask at its largest; the others
// are where their tokens have brought them.
TEST_F(RowAnswersTest, ARowThatDoesNotFitHasAnErrorAndStandsWhereItStood) {
  constexpr std::int64_t kBound = 20'000;
  RowAnswers answers = AnswersWithin(kBound);
  const cache::GrammarPtr grammar = Compiled("choice", R"(["abc"])");
  answers.BeginReply(0, 0);
  int fit = 0;
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    StreamRow row = RowOf(grammar, "a");
    RowResult result;
    ASSERT_TRUE(answers.Write(NewMasks::kMade, &row, &result));
    EXPECT_EQ(result.state, RowState::kActive);
    EXPECT_EQ(result.token_count, 1);
    if (result.error.ok()) {
      EXPECT_EQ(refused, 0) << "none fits behind one that did not";
      ++fit;
      continue;
    }
    EXPECT_EQ(ErrorReason(result.error), "LIMIT_EXCEEDED") << result.error;
    EXPECT_TRUE(result.positions.empty());
    EXPECT_EQ(std::get<Sequence>(row.what).token_count(), 1);
    ++refused;
  }
  EXPECT_GT(fit, 10);
  EXPECT_GT(refused, 0);
  // A reply later there is room again.
  StreamRow row = RowOf(grammar, "a");
  RowResult result;
  answers.BeginReply(1, 0);
  ASSERT_TRUE(answers.Write(NewMasks::kMade, &row, &result));
  EXPECT_TRUE(result.error.ok()) << result.error;
  // An error of its tokens is said before that of its masks.
  answers.BeginReply(1, kBound);
  row.error = absl::InvalidArgumentError("no");
  RowResult both;
  ASSERT_TRUE(answers.Write(NewMasks::kMade, &row, &both));
  EXPECT_TRUE(absl::IsInvalidArgument(both.error));
}

TEST_F(RowAnswersTest, ASnapshotTakesRoomForItsTokens) {
  RowAnswers answers = AnswersWithin(1'000);
  const StreamRow row = RowOf(Compiled("regex", "a*"), std::string(100, 'a'));
  const auto& sequence = std::get<Sequence>(row.what);
  answers.BeginReply(0, 0);
  EXPECT_TRUE(answers.TakeRoom(sequence, *row.options).ok());
  EXPECT_TRUE(answers.TakeRoom(sequence, *row.options).ok());
  const absl::Status third = answers.TakeRoom(sequence, *row.options);
  EXPECT_TRUE(absl::IsResourceExhausted(third)) << third;
  // What was refused took nothing: a smaller one still fits.
  EXPECT_EQ(answers.TakeRoom(sequence, *row.options).message(), third.message());
}

TEST_F(RowAnswersTest, ARowThatCompilesOrHasFailedSaysSo) {
  RowAnswers answers = AnswersWithin(1 << 20);
  StreamRow failed{FailedRow{}};
  failed.error = absl::InvalidArgumentError("no grammar");
  answers.BeginReply(1, 0);
  RowResult result;
  ASSERT_TRUE(answers.Write(NewMasks::kRefused, &failed, &result));
  EXPECT_EQ(result.state, RowState::kFailed);
  EXPECT_FALSE(result.error.ok());
  RowResult again;
  ASSERT_TRUE(answers.Write(NewMasks::kRefused, &failed, &again));
  EXPECT_EQ(again.state, RowState::kFailed);
  EXPECT_TRUE(again.error.ok()) << "said once";
}

class PlacesAheadTest : public RowAnswersTest {
 protected:
  static SequencePosition PositionOf(const StreamRow& row) {
    std::vector<SequencePosition> positions;
    EXPECT_TRUE(std::get<Sequence>(row.what).FillPositions({}, &positions).ok());
    return positions.front();
  }
  void Note(PlacesAhead* ahead, const StreamRow& row) const {
    ahead->Note(std::get<Sequence>(row.what).matcher(), PositionOf(row));
  }
};

TEST_F(PlacesAheadTest, APlaceCountsOnceAStepAndNotWhereNothingIsMasked) {
  WarmUpQueue queue(0, 4);
  PlacesAhead ahead(&queue);
  const cache::GrammarPtr grammar = Compiled("choice", R"(["abc","abd"])");
  ahead.BeginStep();
  for (int i = 0; i < 5; ++i) Note(&ahead, RowOf(grammar, "a"));
  EXPECT_EQ(ahead.place_count(), 1);
  Note(&ahead, RowOf(grammar, "ab"));
  EXPECT_EQ(ahead.place_count(), 2);
  StreamRow finished = RowOf(grammar, "abc");
  EXPECT_TRUE(std::get<Sequence>(finished.what).Take(kEnd).ok());
  Note(&ahead, finished);
  EXPECT_EQ(ahead.place_count(), 2);
  ahead.BeginStep();
  EXPECT_EQ(ahead.place_count(), 0);
}

TEST_F(PlacesAheadTest, APlaceThatIsNeverReachedIsLeftOutAfterSomeSteps) {
  WarmUpQueue queue(0, 4);
  PlacesAhead ahead(&queue);
  const StreamRow row = RowOf(Compiled("choice", R"(["abc"])"));
  int looked = 0;
  for (int step = 0; step < 20; ++step) {
    ahead.BeginStep();
    Note(&ahead, row);
    looked += ahead.place_count();  // and no LookAhead(): the next step is there already
  }
  EXPECT_GT(looked, 1);
  EXPECT_LT(looked, 20);
}

TEST_F(PlacesAheadTest, WithoutAQueueThatLooksNothingIsNoted) {
  PlacesAhead ahead(&nothing_ahead_);
  ahead.BeginStep();
  Note(&ahead, RowOf(Compiled("choice", R"(["abc"])")));
  EXPECT_EQ(ahead.place_count(), 0);
  ahead.LookAhead();
}

// The masks behind a place are there before the row comes to them.
TEST_F(PlacesAheadTest, WhatIsMadeAheadNeedsNotBeMadeAtTheStep) {
  WarmUpQueue queue(0, 16);
  PlacesAhead ahead(&queue);
  const cache::GrammarPtr grammar = Compiled("regex", "(ab|cd){3}");
  ahead.BeginStep();
  Note(&ahead, RowOf(grammar));
  ahead.LookAhead();
  std::vector<SequencePosition> positions;
  const StreamRow next = RowOf(grammar, "a");
  while (!std::get<Sequence>(next.what).FillPositions({}, &positions, NewMasks::kRefused).ok())
    std::this_thread::yield();
  // It was looked behind: from now on it is left out. The queue may still be at its end.
  for (int step = 0; step < 20; ++step) {
    ahead.BeginStep();
    Note(&ahead, RowOf(grammar));
  }
  EXPECT_EQ(ahead.place_count(), 0);
}

TEST_F(PlacesAheadTest, NewGrammarsHaveTheirFirstMasksMade) {
  WarmUpQueue queue(1'000, 0);
  const cache::GrammarPtr grammar = Compiled("regex", "(ab|cd){3}");
  queue.Add(grammar);
  std::vector<SequencePosition> positions;
  const StreamRow next = RowOf(grammar, "ab");
  while (!std::get<Sequence>(next.what).FillPositions({}, &positions, NewMasks::kRefused).ok())
    std::this_thread::yield();
  EXPECT_FALSE(queue.looks_ahead());
}

TEST_F(PlacesAheadTest, FirstMasksWaitWhileACompileWaits) {
  WarmUpQueue queue(1'000, 0);
  const cache::GrammarPtr grammar = Compiled("regex", "(ab|cd){3}");
  const StreamRow next = RowOf(grammar, "ab");
  const auto is_made = [&next] {
    std::vector<SequencePosition> positions;
    return std::get<Sequence>(next.what).FillPositions({}, &positions, NewMasks::kRefused).ok();
  };
  queue.CompilesWaitingChanged(2);
  queue.Add(grammar);
  queue.CompilesWaitingChanged(-1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(is_made());
  queue.CompilesWaitingChanged(-1);
  while (!is_made()) std::this_thread::yield();
}

// Whenever a compile comes: what was cut short is gone on with.
TEST_F(PlacesAheadTest, FirstMasksThatWereCutShortAreMadeLater) {
  WarmUpQueue queue(1'000, 0);
  for (int length = 1; length <= 20; ++length) {
    const cache::GrammarPtr grammar = Compiled("regex", absl::StrCat("([a-f]x){", length, "}"));
    const StreamRow next = RowOf(grammar, "ax");
    queue.Add(grammar);
    for (int i = 0; i < length; ++i) std::this_thread::yield();
    queue.CompilesWaitingChanged(1);
    std::this_thread::yield();
    queue.CompilesWaitingChanged(-1);
    std::vector<SequencePosition> positions;
    while (!std::get<Sequence>(next.what).FillPositions({}, &positions, NewMasks::kRefused).ok())
      std::this_thread::yield();
  }
}

// Grammars that nobody has any more cost nothing, and the queue's end waits for what runs alone.
TEST_F(PlacesAheadTest, AQueueThatEndsDropsWhatWaits) {
  std::weak_ptr<const CompiledGrammar> last;
  auto places = std::make_shared<PlacesToLookAhead>();
  {
    WarmUpQueue queue(10'000, 10'000);
    for (int i = 0; i < 100; ++i) {  // more than may wait
      const cache::GrammarPtr grammar = Compiled("regex", "([a-z]+,)*[0-9]{1,9}");
      queue.Add(grammar);
      last = grammar;
      places->places.push_back(std::get<Sequence>(RowOf(grammar).what)
                                   .matcher()
                                   .PrefetchAt(PositionOf(RowOf(grammar)).place));
    }
    for (int i = 0; i < 100; ++i) queue.LookAhead(places);
  }
  EXPECT_LE(places.use_count(), 1);
  places = nullptr;
  EXPECT_TRUE(last.expired());
}

}  // namespace
}  // namespace maskd::service
