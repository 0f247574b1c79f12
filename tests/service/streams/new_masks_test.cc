// Masks that a session's step lacks: which half of the step makes them, and what is made ahead.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar_core/base/error.h"
#include "grammar_core/rows/masked_automaton.h"
#include "tests/service/config/nothing_ahead.h"
#include "tests/service/streams/session_fixture.h"

namespace maskd::service {
namespace {

// Two streams of a server that makes masks when they are asked for and no sooner.
class NewMasksTest : public testing::Test {
 protected:
  NewMasksTest()
      : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))),
        grammars_(NothingAhead(), nullptr),
        one_(&tokenizers_->all().front(), &grammars_, StreamLimits(), FormTerms(), nullptr),
        other_(&tokenizers_->all().front(), &grammars_, StreamLimits(), FormTerms(), nullptr) {}

  // A row on each of these stands at the start of `choices`.
  static void OpenRows(const std::string& choices, const std::vector<RowId>& ids,
                       StreamSession* session) {
    StepRequest request;
    request.step = 1;
    request.wait_ms = 10'000;
    for (const RowId id : ids) request.opens.push_back(Open(id, Choice(choices)));
    const auto opened = session->Step(request, &NeverCancelled);
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_EQ((*opened)->rows.size(), ids.size());
  }

  static StepRequest Moves(std::uint64_t step, std::vector<RowToMove> moves) {
    StepRequest request;
    request.step = step;
    request.moves = std::move(moves);
    return request;
  }

  static bool BeginAndAnswerKnown(const StepRequest& request, StreamSession* session) {
    EXPECT_TRUE(session->Begin(request).ok());
    return session->AnswerSome(request, NewMasks::kRefused);
  }

  // What each row is answered.
  static std::vector<std::string> Finish(const StepRequest& request, StreamSession* session) {
    const auto result = session->Finish(request, &NeverCancelled);
    EXPECT_TRUE(result.ok()) << result.status();
    std::vector<std::string> said;
    for (const RowResult& row : (*result)->rows) {
      said.push_back(absl::StrCat(row.row, row.error.ok() ? "" : " error", ": "));
      for (const std::string& allowed : AllowedByPosition(row)) said.back() += allowed + ".";
    }
    return said;
  }

  std::unique_ptr<const TokenizerStore> tokenizers_;
  GrammarStore grammars_;
  StreamSession one_;
  StreamSession other_;
};

// A step whose masks are to be made stops before the first of them, and holds up no other stream.
TEST_F(NewMasksTest, AreLeftToTheSecondHalfWhileOtherStreamsStep) {
  OpenRows(R"(["abc","xyz"])", {1, 2}, &one_);
  OpenRows(R"(["12"])", {1}, &other_);
  const StepRequest lacking = Moves(2, {Move(1, {}), Move(2, {'a', '?'})});
  EXPECT_FALSE(BeginAndAnswerKnown(lacking, &one_));
  const StepRequest known = Moves(2, {Move(1, {})});
  EXPECT_TRUE(BeginAndAnswerKnown(known, &other_));
  EXPECT_THAT(Finish(known, &other_), testing::ElementsAre("1: 1."));
  EXPECT_THAT(Finish(lacking, &one_), testing::ElementsAre("1: ax.", "2 error: b."));
  // Now it is there, and so it is for the row's forks and for other rows.
  const StepRequest again = Moves(3, {Move(1, {'a'}), Move(2, {})});
  EXPECT_TRUE(BeginAndAnswerKnown(again, &one_));
  EXPECT_THAT(Finish(again, &one_), testing::ElementsAre("1: b.", "2: b."));
}

TEST_F(NewMasksTest, OfDraftsAreLeftToTheSecondHalf) {
  OpenRows(R"(["abc","xyz"])", {1, 2}, &one_);
  StepRequest request = Moves(2, {Move(1, {}), Move(2, {})});
  request.moves[1].has_drafts = true;
  request.moves[1].drafts = {'x', 'y', '?'};
  const std::vector<std::string> said = {"1: ax.", "2: ax.y.z.invalid."};
  EXPECT_FALSE(BeginAndAnswerKnown(request, &one_));
  EXPECT_EQ(Finish(request, &one_), said);
  request.step = 3;
  EXPECT_TRUE(BeginAndAnswerKnown(request, &one_));
  EXPECT_EQ(Finish(request, &one_), said);
  // The step again is the answer again.
  EXPECT_TRUE(BeginAndAnswerKnown(request, &one_));
  EXPECT_EQ(Finish(request, &one_), said);
}

// What a turn has no time for is done by the next one, whichever part of the step that is.
TEST_F(NewMasksTest, ATurnThatIsOverPutsTheRestOff) {
  constexpr Clock::TimePoint kAtOnce = Clock::TimePoint::min();
  std::vector<RowId> ids(40);
  std::iota(ids.begin(), ids.end(), 1);
  OpenRows(R"(["abc","xyz"])", ids, &one_);
  OpenRows(R"(["abc","xyz"])", ids, &other_);
  StepRequest request = Moves(2, {});
  for (const RowId id : ids) request.moves.push_back(Move(id, {id % 2 == 0 ? 'a' : 'x'}));
  ASSERT_TRUE(one_.Begin(request, kAtOnce).ok());
  EXPECT_TRUE(one_.put_off());
  ASSERT_TRUE(other_.Begin(request).ok());
  EXPECT_FALSE(other_.put_off());
  EXPECT_FALSE(other_.AnswerSome(request, NewMasks::kMade, kAtOnce));
  EXPECT_TRUE(other_.put_off());
  const std::vector<std::string> said = Finish(request, &one_);
  EXPECT_EQ(said.size(), ids.size());
  EXPECT_EQ(said.back(), "40: b.");
  EXPECT_EQ(Finish(request, &other_), said);
}

// A step of many rows ends soon after its sender has gone.
TEST_F(NewMasksTest, AStepThatNobodyWantsEndsBetweenTwoRows) {
  std::vector<RowId> ids(40);
  std::iota(ids.begin(), ids.end(), 1);
  OpenRows(R"(["abc","xyz"])", ids, &one_);
  StepRequest request = Moves(2, {});
  for (const RowId id : ids) request.moves.push_back(Move(id, {}));
  int asked = 0;
  const auto result = one_.Step(request, [&] { return ++asked == 3; });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
}

// Rows in reasoning have nothing to be made, and what bounds a text is not looked at in vain.
TEST_F(NewMasksTest, OfBoundedAndReasoningRows) {
  OpenRows(R"(["abc","a"])", {1}, &one_);
  StepRequest request = Moves(2, {Move(1, {'a'})});
  request.moves[0].remaining_tokens = 1;
  RowToOpen& thinking = request.opens.emplace_back(Open(2, Choice(R"(["abc","a"])")));
  thinking.options.gate = GateRequest{.end_tokens = {'.'}};
  EXPECT_FALSE(BeginAndAnswerKnown(request, &one_));
  EXPECT_THAT(Finish(request, &one_), testing::ElementsAre("2: full.", "1: <end>."));
}

GrammarTarget DistinctStrings() {
  GrammarTarget target;
  target.source = GrammarSource{
      "json_schema", R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})", {}};
  return target;
}

// Two rows of distinct strings, in which no two rows have the same mask near their ends: of one
// stream each, the same way.
class NearTheEndTest : public NewMasksTest {
 protected:
  void OpenBoth() {
    StepRequest request;
    request.step = 1;
    request.wait_ms = 10'000;
    request.opens = {Open(1, DistinctStrings(), Bytes(R"(["ab","a)"))};
    request.opens[0].remaining_tokens = 6;
    for (StreamSession* session : {&one_, &other_})
      ASSERT_TRUE(session->Step(request, &NeverCancelled).ok());
  }
};

// What the end takes from a mask may need a search: not on the thread that serves the others.
TEST_F(NearTheEndTest, MasksAreLeftToTheSecondHalf) {
  OpenBoth();
  const StepRequest request = Moves(2, {Move(1, Bytes("b"))});
  EXPECT_FALSE(BeginAndAnswerKnown(request, &one_));
  ASSERT_TRUE(other_.Begin(request).ok());
  EXPECT_TRUE(other_.AnswerSome(request, NewMasks::kMade));
  const std::vector<std::string> said = Finish(request, &other_);
  EXPECT_EQ(Finish(request, &one_), said);
  EXPECT_EQ(said.size(), 1);
  // The grammar's mask is known now; what is left of it is not.
  const StepRequest again = Moves(3, {Move(1, {})});
  EXPECT_FALSE(BeginAndAnswerKnown(again, &one_));
  EXPECT_EQ(Finish(again, &one_), said);
  EXPECT_THAT(said[0], testing::Not(testing::HasSubstr("\""))) << R"("ab" is there already)";
}

// One row can have more tokens than a turn has time for: it is not begun there.
TEST_F(NewMasksTest, ARowOfManyTokensIsLeftToTheSecondHalf) {
  GrammarTarget letters;
  letters.source = GrammarSource{"regex", "[a-z]*", {}};
  StepRequest open;
  open.step = 1;
  open.wait_ms = 10'000;
  open.opens = {Open(1, letters), Open(2, letters)};
  ASSERT_TRUE(one_.Step(open, &NeverCancelled).ok());
  const StepRequest request = Moves(2, {Move(1, {'a'}), Move(2, Bytes(std::string(5'000, 'b')))});
  constexpr auto kLater = std::chrono::hours(1);
  ASSERT_TRUE(one_.Begin(request, Clock::Steady()->Now() + kLater).ok());
  EXPECT_TRUE(one_.put_off());
  const auto result = one_.Finish(request, &NeverCancelled);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ((*result)->rows.size(), 2);
  EXPECT_EQ((*result)->rows[0].token_count, 1);
  EXPECT_EQ((*result)->rows[1].token_count, 5'000);
}

// How many times 100 steps look behind the start of `grammar`, each begun at once.
int LooksBehindStart(const cache::GrammarPtr& grammar, WarmUpQueue* queue) {
  const Sequence sequence(grammar, {});
  std::vector<SequencePosition> positions;
  EXPECT_TRUE(sequence.FillPositions({}, &positions).ok());
  PlacesAhead ahead(queue);
  int looks = 0;
  for (int step = 0; step < 100; ++step) {
    ahead.BeginStep();
    for (int row = 0; row < 3; ++row) ahead.Note(sequence.matcher(), positions.front());
    looks += ahead.place_count();
    ahead.LookAhead();
  }
  return looks;
}

// A place that the next step came too early for is looked behind again, but not for ever.
TEST(PlacesAhead, LooksAgainBehindWhatWasNotFinished) {
  WarmUpQueue queue(0, 16);
  const auto loaded = TokenizerStore::Load({}, 1 << 20);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  GrammarStore grammars(Config(), nullptr);
  const LoadedTokenizer& tokenizer = (*loaded)->all().front();
  int most = 0;
  for (int i = 0; i < 100 && most < 2; ++i) {  // the queue may be the faster one
    const auto request =
        grammars.Get(Choice(absl::StrCat(R"(["abc","abd","xyz)", i, R"("])")), tokenizer);
    ASSERT_TRUE(request.ok()) << request.status();
    request->ticket.WaitUntil(std::chrono::steady_clock::now() + std::chrono::seconds(30));
    const int looks = LooksBehindStart(*request->ticket.result(), &queue);
    EXPECT_LT(looks, 10);
    most = std::max(most, looks);
  }
  EXPECT_GT(most, 1);
}

// The masks behind a row's place are made before its next token comes.
// A busy machine may cut a look short, and then it is not made again: so a new server may try.
TEST_F(StreamSessionTest, LooksAheadOfItsRows) {
  constexpr int kServers = 10;
  Config config;
  config.warm_up_ms = 0;
  const LoadedTokenizer& tokenizer = tokenizers_->all().front();
  const GrammarTarget target = Choice(R"(["abc","abd","xyz"])");
  int masks = 0;
  for (int server = 0; server < kServers && masks < 3; ++server) {
    GrammarStore grammars(config, nullptr);
    session_ = std::make_unique<StreamSession>(&tokenizer, &grammars, StreamLimits(), FormTerms(),
                                               nullptr);
    OpenRow(1, target);
    const cache::CompileResult grammar = grammars.Get(target, tokenizer)->ticket.result();
    ASSERT_TRUE(grammar.ok()) << grammar.status();
    const MaskedAutomaton& automaton = *(*grammar)->automaton();
    ASSERT_EQ(automaton.mask_count(), 1);
    session_->LookAhead();
    for (int i = 0; i < 200 && automaton.mask_count() < 3; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    masks = automaton.mask_count();
    EXPECT_EQ(Allowed(Take(1, Bytes("a"))), "b");
    session_.reset();  // it does not outlive its grammars
  }
  EXPECT_GE(masks, 3);
}

}  // namespace
}  // namespace maskd::service
