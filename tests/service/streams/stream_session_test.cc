#include "service/streams/stream_session.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar_core/base/error.h"
#include "tests/service/streams/session_fixture.h"

namespace maskd::service {
namespace {

TEST_F(StreamSessionTest, OpensTakesAndEnds) {
  const RowResult opened = OpenRow(7, Choice(R"(["ab","ac"])"));
  EXPECT_EQ(opened.row, 7U);
  EXPECT_EQ(opened.state, RowState::kActive);
  EXPECT_EQ(Allowed(opened), "a");
  EXPECT_EQ(opened.grammar_id.size(), 64U);
  const RowResult moved = Take(7, Bytes("a"));
  EXPECT_EQ(Allowed(moved), "bc");
  EXPECT_EQ(moved.token_count, 1);
  EXPECT_FALSE(moved.may_end);
  EXPECT_TRUE(moved.grammar_id.empty()) << "said once";
  const RowResult complete = Take(7, Bytes("b"));
  EXPECT_EQ(Allowed(complete), "<end>");
  EXPECT_TRUE(complete.may_end);
  const RowResult finished = Take(7, {kEnd});
  EXPECT_EQ(finished.state, RowState::kFinished);
  EXPECT_EQ(MaskOf(finished), nullptr);
  const RowResult after = Take(7, {0, 1});
  EXPECT_EQ(after.state, RowState::kFinished);
  EXPECT_TRUE(after.error.ok()) << after.error;
  EXPECT_EQ(after.token_count, 5);
}

TEST_F(StreamSessionTest, ARefusedTokenLeavesTheRowUsable) {
  OpenRow(1, Choice(R"(["ab"])"));
  const RowResult refused = Take(1, Bytes("axb"));
  EXPECT_TRUE(absl::IsInvalidArgument(refused.error)) << refused.error;
  EXPECT_EQ(ErrorReason(refused.error), "TOKEN_REFUSED");
  ASSERT_TRUE(refused.refused_token.has_value());
  EXPECT_EQ(refused.refused_token->index, 1);
  EXPECT_EQ(refused.refused_token->id, 'x');
  EXPECT_EQ(refused.refused_token->text, "x");
  EXPECT_EQ(refused.state, RowState::kActive);
  EXPECT_EQ(refused.token_count, 1);
  EXPECT_EQ(Allowed(refused), "b");
  EXPECT_TRUE(Take(1, Bytes("b")).error.ok());
}

TEST_F(StreamSessionTest, ATokenOutOfRangeLeavesTheRowUsable) {
  OpenRow(1, Choice(R"(["ab"])"));
  for (const TokenId token : {-1, 257, 1 << 30}) {
    const RowResult refused = Take(1, {token});
    EXPECT_TRUE(absl::IsOutOfRange(refused.error)) << refused.error;
    EXPECT_EQ(refused.refused_token->id, token);
    EXPECT_EQ(Allowed(refused), "a");
  }
}

TEST_F(StreamSessionTest, AnUnknownRowIsRefusedAlone) {
  OpenRow(1, Choice(R"(["ab"])"));
  StepRequest request = Next();
  request.moves = {Move(9, Bytes("a")), Move(1, Bytes("a"))};
  request.closes = {8};
  const std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].row, 1U);
  EXPECT_EQ(Allowed(rows[0]), "b");
  for (const int i : {1, 2}) {
    EXPECT_EQ(rows[i].state, RowState::kRefused);
    EXPECT_TRUE(absl::IsNotFound(rows[i].error)) << rows[i].error;
  }
}

TEST_F(StreamSessionTest, TwoOpensOfOneRowRefuseTheSecond) {
  StepRequest request = Next();
  request.opens = {Open(1, Choice(R"(["ab"])")), Open(1, Choice(R"(["xy"])"))};
  const std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(Allowed(rows[0]), "a");
  EXPECT_EQ(rows[1].state, RowState::kRefused);
  EXPECT_TRUE(absl::IsAlreadyExists(rows[1].error)) << rows[1].error;
  EXPECT_EQ(Allowed(Take(1, Bytes("a"))), "b");
}

TEST_F(StreamSessionTest, ABadGrammarFailsItsRowOnceAndHoldsItsId) {
  StepRequest request = Next();
  GrammarTarget bad;
  bad.source = GrammarSource{"json_schema", R"({"type": 5})", {}};
  request.opens = {Open(1, bad), Open(2, Choice(R"(["ab"])"))};
  const std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, RowState::kFailed);
  EXPECT_TRUE(absl::IsInvalidArgument(rows[0].error)) << rows[0].error;
  EXPECT_EQ(ErrorPlace(rows[0].error), "/type");
  EXPECT_EQ(rows[1].state, RowState::kActive);
  const RowResult again = Take(1, Bytes("a"));
  EXPECT_EQ(again.state, RowState::kFailed);
  EXPECT_TRUE(again.error.ok()) << "said once";
  request = Next();
  request.closes = {1};
  request.opens = {Open(1, Choice(R"(["cd"])"))};
  EXPECT_EQ(Allowed(Run(request)[0]), "c");
}

TEST_F(StreamSessionTest, ACompilingRowIsAnsweredInALaterStep) {
  StepRequest request = Next();
  request.wait_ms = 0;
  request.opens = {Open(1, Choice(R"(["later"])"))};
  std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 1U);
  for (int i = 0; i < 10'000 && (rows.empty() || rows[0].state == RowState::kCompiling); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    request = Next();
    rows = Run(request);  // the row is not named, so nothing is waited for
  }
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].row, 1U);
  EXPECT_EQ(Allowed(rows[0]), "l");
  EXPECT_TRUE(Run(Next()).empty()) << "answered unasked once";
}

TEST_F(StreamSessionTest, DraftsInTheStepThatOpensTheRow) {
  StepRequest request = Next();
  request.opens = {Open(1, Choice(R"(["drafted"])"))};
  request.moves = {Move(1, {})};
  request.moves[0].has_drafts = true;
  request.moves[0].drafts = Bytes("drx");
  const std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_THAT(AllowedByPosition(rows[0]), testing::ElementsAre("d", "r", "a", "invalid"));
  EXPECT_EQ(rows[0].accepted_drafts, 2);
}

TEST_F(StreamSessionTest, DraftsOfARowThatStillCompilesAreNotKept) {
  StepRequest request = Next();
  request.wait_ms = 0;
  request.opens = {Open(1, Choice(R"(["not kept"])"))};
  request.moves = {Move(1, {})};
  request.moves[0].has_drafts = true;
  request.moves[0].drafts = Bytes("n");
  std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 1U);
  if (rows[0].state != RowState::kCompiling) {
    EXPECT_EQ(rows[0].positions.size(), 2U) << "compiled at once";
    return;
  }
  EXPECT_TRUE(rows[0].positions.empty());
  request = Next();
  request.moves = {Move(1, {})};
  EXPECT_THAT(AllowedByPosition(Run(request).at(0)), testing::ElementsAre("n"));
}

TEST_F(StreamSessionTest, OpensByIdOnceCompiled) {
  const std::string id = OpenRow(1, Choice(R"(["ab"])")).grammar_id;
  GrammarTarget by_id;
  by_id.id = id;
  StepRequest request = Next();
  request.wait_ms = 0;
  request.opens = {Open(2, by_id)};
  EXPECT_EQ(Allowed(Run(request)[0]), "a") << "a cached grammar answers in the same step";
  by_id.id = std::string(64, '0');
  request = Next();
  request.opens = {Open(3, by_id)};
  EXPECT_TRUE(absl::IsNotFound(Run(request)[0].error));
  by_id.id = "not an id";
  request = Next();
  request.opens = {Open(4, by_id)};
  EXPECT_TRUE(absl::IsInvalidArgument(Run(request)[0].error));
}

TEST_F(StreamSessionTest, ReplaysTokensOnOpen) {
  StepRequest request = Next();
  request.opens = {Open(1, Choice(R"(["abc"])"), Bytes("ab")),
                   Open(2, Choice(R"(["abc"])"), Bytes("az"))};
  const std::vector<RowResult> rows = Run(request);
  EXPECT_EQ(Allowed(rows[0]), "c");
  EXPECT_EQ(rows[0].token_count, 2);
  EXPECT_EQ(rows[1].refused_token->index, 1);
  EXPECT_EQ(Allowed(rows[1]), "b");
}

// A row may bring a whole text at once, to its opening and behind it.
TEST_F(StreamSessionTest, AStepThatNobodyWantsEndsWithinARowsTokens) {
  const std::vector<TokenId> text(20'000, 'a');
  const GrammarTarget many = {"", GrammarSource{"regex", "a*", {}}};
  OpenRow(1, many);
  StepRequest move = Next();
  move.moves = {Move(1, text)};
  StepRequest open = Next();
  open.opens = {Open(2, many, text)};
  for (const StepRequest& request : {move, open}) {
    int looks = 0;
    const auto wanted = session_->Step(request, [&] { return ++looks < 0; });
    EXPECT_TRUE(wanted.ok()) << wanted.status();
    EXPECT_GT(looks, 200) << "one for so many tokens, not for a row";
  }
  int looks = 0;
  StepRequest unwanted = Next();
  unwanted.moves = {Move(1, text), Move(2, text)};
  const auto result = session_->Step(unwanted, [&] { return ++looks > 10; });
  EXPECT_TRUE(absl::IsCancelled(result.status())) << result.status();
  EXPECT_LT(looks, 20) << "no further token is taken";
}

TEST_F(StreamSessionTest, ManySnapshotsAreNotTakenInATurn) {
  const GrammarTarget many = {"", GrammarSource{"regex", "a*", {}}};
  StepRequest open = Next();
  open.opens = {Open(1, many, std::vector<TokenId>(80'000, 'a')), Open(2, many)};
  Run(open);
  for (const RowId row : {1, 2}) {
    StepRequest request = Next();
    request.moves = {Move(row, {})};
    request.snapshots = {row};
    ASSERT_TRUE(session_->Begin(request, Clock::Steady()->Now() + std::chrono::hours(1)).ok());
    ASSERT_FALSE(session_->put_off());
    const bool are_few = row == 2;
    EXPECT_EQ(session_->AnswerSome(request, NewMasks::kMade,
                                   Clock::Steady()->Now() + std::chrono::hours(1)),
              are_few);
    EXPECT_EQ(session_->put_off(), !are_few);
    const auto result = session_->Finish(request, &NeverCancelled);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ((*result)->snapshots.size(), 1U);
    EXPECT_EQ((*result)->snapshots[0].tokens.size(), are_few ? 0U : 80'000U);
  }
}

TEST_F(StreamSessionTest, RollsBackThenTakes) {
  OpenRow(1, Choice(R"(["abc","axc"])"));
  Take(1, Bytes("ab"));
  EXPECT_EQ(Allowed(Take(1, Bytes("x"), 1)), "c");
  const RowResult refused = Take(1, Bytes("c"), 5);
  EXPECT_TRUE(absl::IsOutOfRange(refused.error)) << refused.error;
  EXPECT_EQ(refused.token_count, 2) << "nothing of the update is done";
  EXPECT_EQ(Allowed(refused), "c");
  Take(1, {'c', kEnd, 0, 0});
  EXPECT_EQ(Allowed(Take(1, {}, 3)), "<end>") << "over the end";
}

// A row of this reply counts 256 bytes, a position 148.
TEST_F(StreamSessionTest, RowsThatDoNotFitIntoTheReplyKeepTheirTokens) {
  StreamLimits limits;
  limits.max_reply_bytes = 3 * 256 + 2 * 150;
  session_ = NewSession(limits);
  for (const RowId row : {1, 2, 3}) OpenRow(row, Choice(R"(["abc","axc"])"));
  StepRequest request = Next();
  request.moves = {Move(1, Bytes("a")), Move(2, Bytes("a")), Move(3, Bytes("ab"))};
  const std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(Allowed(rows[1]), "bx");
  EXPECT_EQ(rows[2].state, RowState::kActive);
  EXPECT_TRUE(absl::IsResourceExhausted(rows[2].error)) << rows[2].error;
  EXPECT_EQ(ErrorPlace(rows[2].error), "positions");
  EXPECT_THAT(std::string(rows[2].error.message()), testing::HasSubstr("max_reply_bytes"));
  EXPECT_EQ(rows[2].token_count, 2);
  EXPECT_TRUE(rows[2].positions.empty());
  EXPECT_EQ(Allowed(Take(3, {})), "c") << "asked again, alone";
}

TEST_F(StreamSessionTest, SnapshotsAreNamedOnceAndFitIntoTheReply) {
  StreamLimits limits;
  limits.max_reply_bytes = 2000;
  session_ = NewSession(limits);
  OpenRow(1, Choice(R"(["ab"])"));
  OpenRow(2, Choice(R"(["ab"])"));
  std::vector<TokenId> long_text = Bytes("ab");
  long_text.resize(300, kEnd);
  Take(2, long_text);
  StepRequest request = Next();
  request.snapshots = {1, 1, 2};
  const auto result = session_->Step(request, &NeverCancelled);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ((*result)->snapshots.size(), 1U);
  EXPECT_EQ((*result)->snapshots[0].row, 1U);
  ASSERT_EQ((*result)->rows.size(), 2U);
  EXPECT_TRUE(absl::IsInvalidArgument((*result)->rows[0].error)) << (*result)->rows[0].error;
  EXPECT_TRUE(absl::IsResourceExhausted((*result)->rows[1].error)) << (*result)->rows[1].error;
}

// As many rows as a stream has by default, with drafts, each mask said once: nothing is refused.
TEST_F(StreamSessionTest, OrdinaryRepliesAreNotNearTheirBound) {
  session_ = std::make_unique<StreamSession>(
      &tokenizers_->all().front(), &grammars_, StreamLimits(),
      FormTerms{.same_as = true, .allowed_ids = true, .dictionary_size = 64, .mask_words = 4752},
      nullptr);
  StepRequest request = Next();
  for (RowId row = 0; row < 4096; ++row) {
    request.opens.push_back(Open(row, Choice(R"(["abcdefghij"])")));
    request.moves.push_back(Move(row, {}));
    request.moves.back().has_drafts = true;
    request.moves.back().drafts = Bytes("abcdefgh");
  }
  for (const RowResult& row : Run(request)) {
    ASSERT_TRUE(row.error.ok()) << row.error;
    ASSERT_EQ(row.positions.size(), 9U);
  }
}

TEST_F(StreamSessionTest, ForksAreIndependent) {
  OpenRow(1, Choice(R"(["ab","ac"])"));
  Take(1, Bytes("a"));
  StepRequest request = Next();
  request.forks = {{1, 2}, {9, 3}, {1, 1}};
  request.moves = {Move(1, Bytes("b")), Move(2, Bytes("c"))};
  const std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(rows[0].error.ok() && rows[1].error.ok());
  EXPECT_TRUE(absl::IsNotFound(rows[2].error));
  EXPECT_EQ(rows[2].row, 3U);
  EXPECT_TRUE(absl::IsAlreadyExists(rows[3].error));
  EXPECT_EQ(session_->row_count(), 2);
}

TEST_F(StreamSessionTest, ARepeatedStepIsAnsweredNotApplied) {
  OpenRow(1, Choice(R"(["aaaa"])"));
  StepRequest request = Next();
  request.moves = {Move(1, Bytes("a"))};
  const std::vector<RowResult> first = Run(request);
  const std::vector<RowResult> second = Run(request);
  EXPECT_EQ(first[0].token_count, 1);
  EXPECT_EQ(second[0].token_count, 1);
  EXPECT_EQ(MaskOf(first[0]), MaskOf(second[0]));
  EXPECT_EQ(Take(1, Bytes("a")).token_count, 2);
}

TEST_F(StreamSessionTest, AStepOutOfOrderEndsTheStream) {
  step_ = 41;
  OpenRow(1, Choice(R"(["a"])"));  // 42: any number may come first
  StepRequest request;
  for (const std::uint64_t step : {41ULL, 44ULL}) {
    request.step = step;
    EXPECT_TRUE(absl::IsAborted(session_->Step(request, &NeverCancelled).status()));
  }
  request.step = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(session_->Step(request, &NeverCancelled).status()));
}

TEST_F(StreamSessionTest, LimitsRowsAndTokens) {
  StreamLimits limits;
  limits.max_rows = 1;
  limits.max_row_tokens = 2;
  session_ = NewSession(limits);
  OpenRow(1, Choice(R"(["abcd"])"));
  StepRequest request = Next();
  request.opens = {Open(2, Choice(R"(["x"])"))};
  request.forks = {{1, 3}};
  for (const RowResult& row : Run(request)) {
    EXPECT_EQ(row.state, RowState::kRefused);
    EXPECT_TRUE(absl::IsResourceExhausted(row.error)) << row.error;
    EXPECT_THAT(std::string(row.error.message()), testing::HasSubstr("max_rows"));
  }
  const RowResult full = Take(1, Bytes("abc"));
  EXPECT_TRUE(absl::IsResourceExhausted(full.error)) << full.error;
  EXPECT_EQ(full.token_count, 2);
}

TEST_F(StreamSessionTest, OwnStopIdsEndARow) {
  StepRequest request = Next();
  RowToOpen open = Open(1, Choice(R"(["ab"])"));
  open.options.stop_ids = {'!'};
  RowToOpen wrong = Open(2, Choice(R"(["ab"])"));
  wrong.options.stop_ids = {257};
  request.opens = {open, wrong};
  const std::vector<RowResult> rows = Run(request);
  EXPECT_TRUE(absl::IsOutOfRange(rows[1].error)) << rows[1].error;
  EXPECT_EQ(Allowed(Take(1, Bytes("ab"))), "!");
  EXPECT_EQ(Take(1, {'!'}).state, RowState::kFinished);
}

TEST_F(StreamSessionTest, WhatIsNotSupportedIsRefusedPerRow) {
  OpenRow(1, Choice(R"(["ab"])"));
  StepRequest request = Next();
  RowToMove move = Move(1, Bytes("a"));
  move.refusal = absl::UnimplementedError("of a later version");
  request.moves = {move, Move(1, Bytes("a"))};
  const std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(absl::IsUnimplemented(rows[0].error));
  EXPECT_EQ(rows[0].token_count, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(rows[1].error)) << "named twice";
}

// A snapshot opened elsewhere gives the same masks, whatever the row had been through.
TEST_F(StreamSessionTest, ASnapshotOpensTheSameRow) {
  StepRequest request = Next();
  RowToOpen open = Open(1, Choice(R"(["ab","ac"])"));
  open.options.gate = GateRequest{.end_tokens = {'<', '>'}, .max_tokens = 9};
  open.options.stop_ids = {'!'};
  request.opens = {open};
  Run(request);
  Take(1, Bytes("hm<>ab"));
  request = Next();
  request.moves = {Move(1, {}, 1)};
  request.snapshots = {1, 5};
  const auto result = session_->Step(request, &NeverCancelled);
  ASSERT_TRUE(result.ok());
  const std::vector<RowResult> rows = (*result)->rows;
  EXPECT_TRUE(absl::IsNotFound(rows.back().error)) << rows.back().error;
  ASSERT_EQ((*result)->snapshots.size(), 1U);
  const RowSnapshot snapshot = (*result)->snapshots[0];
  EXPECT_EQ(snapshot.tokens, Bytes("hm<>a"));
  session_ = NewSession(StreamLimits());
  GrammarTarget target;
  target.id = snapshot.grammar_id;
  request = Next();
  request.opens = {Open(2, target, snapshot.tokens)};
  request.opens[0].options = *snapshot.options;
  const RowResult restored = Run(request)[0];
  EXPECT_EQ(restored.token_count, 5);
  EXPECT_EQ(Allowed(restored), Allowed(rows[0]));
  EXPECT_EQ(Allowed(Take(2, Bytes("b"))), "!");
}

TEST_F(StreamSessionTest, ARowIsClosedByItsOwnStopIds) {
  for (const RowId row : {1, 2}) {
    StepRequest request = Next();
    request.opens = {Open(row, Choice(R"(["ab!","xyzw"])"))};
    request.opens[0].remaining_tokens = 5;
    if (row == 2) request.opens[0].options.stop_ids = {'!'};
    const std::vector<RowResult> rows = Run(request);
    ASSERT_EQ(rows.size(), 1U);
    // Behind "ab" the second row would end on what the text needs.
    EXPECT_EQ(Allowed(rows[0]), row == 1 ? "ax" : "x");
  }
}

TEST_F(StreamSessionTest, TokensLeftAreCountedFromWhereTheyWereSaid) {
  StepRequest request = Next();
  GrammarTarget target;
  target.source = GrammarSource{"regex", "a*b", {}};
  request.opens = {Open(1, target, Bytes("a"))};
  request.opens[0].remaining_tokens = 3;
  EXPECT_EQ(Allowed(Run(request)[0]), "ab");
  EXPECT_EQ(Allowed(Take(1, Bytes("a"))), "b");
  EXPECT_EQ(Allowed(Take(1, {}, 1)), "ab");
  request = Next();
  request.moves = {Move(1, {})};
  request.moves[0].remaining_tokens = 2;
  EXPECT_EQ(Allowed(Run(request)[0]), "b");
  EXPECT_EQ(Allowed(Take(1, Bytes("b"))), "<end>");
}

TEST_F(StreamSessionTest, AReasoningRowIsFreeUntilItsEnd) {
  StepRequest request = Next();
  request.opens = {Open(1, Choice(R"(["ab"])"))};
  request.opens[0].options.gate = GateRequest{.end_tokens = {'<', '>'}};
  const RowResult opened = Run(request)[0];
  EXPECT_EQ(opened.state, RowState::kFree);
  EXPECT_THAT(AllowedByPosition(opened), testing::ElementsAre("full"));
  EXPECT_EQ(Take(1, Bytes("zz<")).state, RowState::kFree);
  const RowResult text = Take(1, Bytes(">"));
  EXPECT_EQ(text.state, RowState::kActive);
  EXPECT_EQ(Allowed(text), "a");
  EXPECT_EQ(Take(1, {}, 1).state, RowState::kFree) << "back over the reasoning's end";
  EXPECT_EQ(Allowed(Take(1, Bytes(">a"))), "b");
}

TEST_F(StreamSessionTest, AGateThatCannotBeFailsItsRowAlone) {
  StepRequest request = Next();
  const GateRequest wrong[] = {{},
                               {.end_tokens = {1}, .style = "think_tags"},
                               {.style = "no such style"},
                               {.style = "think_tags"},
                               {.end_tokens = {257}},
                               {.end_tokens = {1}, .prompt_tail = {-1}}};
  for (const GateRequest& gate : wrong) {
    request.opens.push_back(Open(request.opens.size(), Choice(R"(["ab"])")));
    request.opens.back().options.gate = gate;
  }
  for (const RowResult& row : Run(request)) {
    EXPECT_EQ(row.state, RowState::kFailed) << row.row;
    EXPECT_THAT(ErrorPlace(row.error), testing::StartsWith("reasoning")) << row.error;
  }
}

// A step of many rows is taken all at once where it can be; no answer shows it.
TEST_F(StreamSessionTest, ManyRowsAreAnsweredAsEachAlone) {
  constexpr int kRows = 40;
  const std::vector<std::string> texts = {"abc", "abd", "xyz", "zzz"};
  const GrammarTarget target = Choice(R"(["abc","abd","xyz"])");
  for (int row = 0; row < kRows; ++row) OpenRow(row, target);
  for (std::size_t at = 0; at < 3; ++at) {
    StepRequest request = Next();
    for (int row = 0; row < kRows; ++row)
      request.moves.push_back(Move(row, Bytes(texts[row % texts.size()].substr(at, 1))));
    const std::vector<RowResult> answers = Run(request);
    ASSERT_EQ(answers.size(), kRows);
    for (int row = 0; row < kRows; ++row) {
      const bool taken = row % texts.size() < 3;
      EXPECT_EQ(answers[row].error.ok(), taken) << row;
      EXPECT_EQ(Allowed(answers[row]), Allowed(answers[row % texts.size()])) << row;
      EXPECT_EQ(answers[row].token_count, taken ? static_cast<int>(at) + 1 : 0) << row;
    }
  }
}

}  // namespace
}  // namespace maskd::service
