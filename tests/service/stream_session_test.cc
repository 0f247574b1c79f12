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
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/tokenizer/loader.h"
#include "service/sequences/row_answer.h"
#include "service/sequences/row_counts.h"

namespace maskd::service {
namespace {

constexpr TokenId kEnd = 256;  // of the embedded vocabulary

bool NeverCancelled() { return false; }

GrammarTarget Choice(const std::string& json) {
  GrammarTarget target;
  target.source = GrammarSource{"choice", json, {}};
  return target;
}

std::vector<TokenId> Bytes(const std::string& text) {
  return std::vector<TokenId>(text.begin(), text.end());
}

RowToOpen Open(RowId row, GrammarTarget target, std::vector<TokenId> tokens = {}) {
  RowToOpen open;
  open.row = row;
  open.target = std::move(target);
  open.tokens = std::move(tokens);
  return open;
}

RowToMove Move(RowId row, std::vector<TokenId> tokens, int rollback = 0) {
  RowToMove move;
  move.row = row;
  move.rollback = rollback;
  move.tokens = std::move(tokens);
  return move;
}

// The mask of position 0; null when there is none.
MaskRef MaskOf(const RowResult& row) {
  return row.positions.empty() ? nullptr : row.positions.front().mask;
}

// The tokens a mask allows, as text; "<end>" for the stop token.
std::string Allowed(const MaskRef& mask) {
  std::string allowed;
  for (TokenId id = 0; mask != nullptr && id < mask->vocab_size(); ++id)
    if (mask->Allows(id))
      allowed += id == kEnd ? std::string("<end>") : std::string(1, static_cast<char>(id));
  return allowed;
}

std::string Allowed(const RowResult& row) { return Allowed(MaskOf(row)); }

// What each position allows; "full" and "invalid" where there is no mask.
std::vector<std::string> AllowedByPosition(const RowResult& row) {
  std::vector<std::string> allowed;
  for (const Position& position : row.positions) {
    allowed.push_back(position.state == Position::State::kFull      ? "full"
                      : position.state == Position::State::kInvalid ? "invalid"
                                                                    : Allowed(position.mask));
  }
  return allowed;
}

class StreamSessionTest : public testing::Test {
 protected:
  StreamSessionTest()
      : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))),
        grammars_(Config(), nullptr),
        session_(NewSession(StreamLimits())) {}

  std::unique_ptr<StreamSession> NewSession(StreamLimits limits) {
    return std::make_unique<StreamSession>(&tokenizers_->all().front(), &grammars_, limits,
                                           FormTerms(), nullptr);
  }

  // A step with the next number that waits for its compiles.
  StepRequest Next() {
    StepRequest request;
    request.step = ++step_;
    request.wait_ms = 10'000;
    return request;
  }

  std::vector<RowResult> Run(const StepRequest& request) {
    const auto result = session_->Step(request, &NeverCancelled);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? (*result)->rows : std::vector<RowResult>();
  }

  // Opens a row and expects it in use.
  RowResult OpenRow(RowId row, GrammarTarget target) {
    StepRequest request = Next();
    request.opens = {Open(row, std::move(target))};
    const std::vector<RowResult> rows = Run(request);
    EXPECT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows[0].error.ok()) << rows[0].error;
    return rows[0];
  }

  RowResult Take(RowId row, std::vector<TokenId> tokens, int rollback = 0) {
    StepRequest request = Next();
    request.moves = {Move(row, std::move(tokens), rollback)};
    const std::vector<RowResult> rows = Run(request);
    EXPECT_EQ(rows.size(), 1U);
    return rows.empty() ? RowResult() : rows[0];
  }

  RowResult Draft(RowId row, std::vector<TokenId> taken, std::vector<TokenId> drafts,
                  std::vector<int> parents = {}) {
    StepRequest request = Next();
    request.moves = {Move(row, std::move(taken))};
    request.moves[0].has_drafts = true;
    request.moves[0].drafts = std::move(drafts);
    request.moves[0].draft_parents = std::move(parents);
    const std::vector<RowResult> rows = Run(request);
    EXPECT_EQ(rows.size(), 1U);
    return rows.empty() ? RowResult() : rows[0];
  }

  std::unique_ptr<const TokenizerStore> tokenizers_;
  GrammarStore grammars_;
  std::unique_ptr<StreamSession> session_;
  std::uint64_t step_ = 0;
};

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

TEST_F(StreamSessionTest, PositionIIsTheMaskAfterItsFirstIDraftsAndTheRowStays) {
  OpenRow(1, Choice(R"(["abc","abd"])"));
  const RowResult row = Draft(1, Bytes("a"), Bytes("bc"));
  EXPECT_THAT(AllowedByPosition(row), testing::ElementsAre("b", "cd", "<end>"));
  EXPECT_EQ(row.accepted_drafts, 2);
  EXPECT_EQ(row.token_count, 1);
  EXPECT_EQ(Allowed(Take(1, {})), "b") << "the row is where it was";
}

TEST_F(StreamSessionTest, ARefusedDraftEndsTheRun) {
  OpenRow(1, Choice(R"(["abcd"])"));
  const RowResult row = Draft(1, {}, Bytes("abxd"));
  EXPECT_THAT(AllowedByPosition(row), testing::ElementsAre("a", "b", "c", "invalid", "invalid"));
  EXPECT_EQ(row.accepted_drafts, 2);
  EXPECT_TRUE(row.error.ok()) << "a wrong guess is no error";
  EXPECT_EQ(row.state, RowState::kActive);
}

TEST_F(StreamSessionTest, PaddingEndsTheDrafts) {
  OpenRow(1, Choice(R"(["ab"])"));
  EXPECT_THAT(AllowedByPosition(Draft(1, {}, {'a', -1, -1})),
              testing::ElementsAre("a", "b", "invalid", "invalid"));
  EXPECT_THAT(AllowedByPosition(Draft(1, {}, {-1})), testing::ElementsAre("a", "invalid"));
  EXPECT_EQ(Draft(1, {}, {}).accepted_drafts, 0);
}

TEST_F(StreamSessionTest, ANodeOfATreeIsTestedAgainstItsParent) {
  OpenRow(1, Choice(R"(["abc","xyz"])"));
  const RowResult row = Draft(1, {}, Bytes("axbyb"), {-1, -1, 0, 1, 1});
  EXPECT_THAT(AllowedByPosition(row), testing::ElementsAre("ax", "b", "y", "c", "z", "invalid"));
  EXPECT_EQ(row.accepted_drafts, 4);
}

TEST_F(StreamSessionTest, PositionsAfterADraftedEndAreFull) {
  OpenRow(1, Choice(R"(["a"])"));
  const RowResult row = Draft(1, Bytes("a"), {kEnd, 'z'});
  EXPECT_THAT(AllowedByPosition(row), testing::ElementsAre("<end>", "full", "full"));
  EXPECT_EQ(row.accepted_drafts, 2);
  EXPECT_EQ(row.state, RowState::kActive);
}

TEST_F(StreamSessionTest, DraftsThatAreNoTreeOrTooManyAreRefused) {
  StreamLimits limits;
  limits.max_draft_tokens = 3;
  session_ = NewSession(limits);
  OpenRow(1, Choice(R"(["abcd"])"));
  const RowResult no_tree = Draft(1, Bytes("a"), Bytes("bc"), {-1, 1});
  EXPECT_EQ(ErrorReason(no_tree.error), "DRAFT_IS_NO_TREE");
  EXPECT_EQ(ErrorPlace(no_tree.error), "drafts.parents[1]");
  EXPECT_EQ(no_tree.token_count, 0) << "nothing of the update is done";
  const RowResult many = Draft(1, {}, Bytes("abcd"));
  EXPECT_TRUE(absl::IsResourceExhausted(many.error)) << many.error;
  EXPECT_THAT(AllowedByPosition(many), testing::ElementsAre("a"));
}

TEST_F(StreamSessionTest, ARefusedTokenLeavesItsDraftsAside) {
  OpenRow(1, Choice(R"(["ab"])"));
  const RowResult row = Draft(1, Bytes("x"), Bytes("ab"));
  EXPECT_EQ(ErrorReason(row.error), "TOKEN_REFUSED");
  EXPECT_THAT(AllowedByPosition(row), testing::ElementsAre("a"));
  EXPECT_FALSE(row.accepted_drafts.has_value());
}

TEST_F(StreamSessionTest, ForcedBytesAreSaidWhenAskedFor) {
  OpenRow(1, Choice(R"(["abcx","abcy"])"));
  StepRequest request = Next();
  request.moves = {Move(1, Bytes("a"))};
  request.moves[0].want_forced = true;
  const RowResult row = Run(request)[0];
  ASSERT_TRUE(row.forced.has_value());
  EXPECT_EQ(row.forced->bytes, "bc");
  EXPECT_THAT(row.forced->tokens, testing::ElementsAre('b', 'c'));
  EXPECT_FALSE(Take(1, Bytes("b")).forced.has_value());
}

// A snapshot opened elsewhere gives the same masks, whatever the row had been through.
// Applies what replies say of an answer.
struct ToldAnswer {
  std::string content;
  std::vector<ChatCall> calls;

  void Apply(const std::optional<AnswerDelta>& delta) {
    if (!delta.has_value()) return;
    if (delta->cut.has_value()) {
      content.resize(delta->cut->content);
      calls.resize(delta->cut->calls);
      if (!calls.empty()) {
        calls.back().id.resize(delta->cut->id);
        calls.back().arguments.resize(delta->cut->arguments);
      }
    }
    content += delta->content;
    for (const AnswerDelta::Call& more : delta->calls) {
      if (more.index == static_cast<int>(calls.size())) calls.push_back({"", more.name, ""});
      calls[more.index].id += more.id;
      calls[more.index].arguments += more.arguments;
    }
  }
};

class AnswerTest : public StreamSessionTest {
 protected:
  static GrammarTarget Chat() {
    GrammarTarget target;
    target.source = GrammarSource{
        "chat",
        R"({"family":"qwen_3","request":{"tools":[{"name":"f","parameters":{"type":"object"}}]}})",
        {}};
    return target;
  }

  RowResult OpenWanting(RowId row, GrammarTarget target, std::vector<TokenId> tokens = {}) {
    StepRequest request = Next();
    request.opens = {Open(row, std::move(target), std::move(tokens))};
    request.opens[0].options.want_answer = true;
    return Run(request)[0];
  }
};

TEST_F(AnswerTest, IsToldAsItBecomesCertain) {
  ToldAnswer told;
  told.Apply(OpenWanting(1, Chat(), Bytes("Hm")).answer);
  EXPECT_EQ(told.content, "Hm");
  told.Apply(Take(1, Bytes("!\n<tool_c")).answer);
  EXPECT_EQ(told.content, "Hm!") << "the rest may be a call";
  told.Apply(Take(1, Bytes("all>\n{\"name\": \"f\", \"arguments\": {\"a\"")).answer);
  EXPECT_EQ(told.calls, (std::vector<ChatCall>{{"call_0", "f", "{\"a\""}}));
  EXPECT_FALSE(Take(1, {}).answer.has_value()) << "nothing new";
  told.Apply(Take(1, Bytes("b\": 1}}\n</tool_call>\n."), 1).answer);
  EXPECT_EQ(told.calls, (std::vector<ChatCall>{{"call_0", "f", "{\"ab\": 1}"}}));
  EXPECT_EQ(told.content, "Hm!\n.");
  told.Apply(Take(1, {'<', kEnd}).answer);
  EXPECT_EQ(told.content, "Hm!\n.<") << "at the end nothing is held back";
  const RowResult back = Take(1, {}, 2);
  told.Apply(back.answer);
  EXPECT_EQ(told.content, "Hm!\n.");
  told.Apply(Take(1, Bytes("x"), back.token_count - 1).answer);
  EXPECT_EQ(told.content, "Hx");
  EXPECT_TRUE(told.calls.empty());
}

TEST_F(AnswerTest, AForkIsToldAllOfIt) {
  OpenWanting(1, Chat(), Bytes("one"));
  StepRequest request = Next();
  request.forks = {{1, 2}};
  request.moves = {Move(1, Bytes("a")), Move(2, Bytes("b"))};
  const std::vector<RowResult> rows = Run(request);
  ASSERT_TRUE(rows[0].answer.has_value() && rows[1].answer.has_value());
  EXPECT_EQ(rows[0].answer->content, "a");
  EXPECT_EQ(rows[1].answer->content, "oneb");
}

// Also of a fork, whose text is a copy, until the rows close.
TEST_F(AnswerTest, MemoryIsCountedWithTheRows) {
  constexpr std::int64_t kText = 20'000;
  const std::int64_t before = RowAnswer::LiveBytes();
  OpenWanting(1, Chat(), std::vector<TokenId>(kText, 'a'));
  const std::int64_t one = RowAnswer::LiveBytes() - before;
  EXPECT_GE(one, 5 * kText);
  EXPECT_GE(LiveRowBytes(), RowAnswer::LiveBytes());
  StepRequest request = Next();
  request.forks = {{1, 2}};
  Run(request);
  EXPECT_GE(RowAnswer::LiveBytes() - before, one + 5 * kText);
  request = Next();
  request.closes = {1, 2};
  Run(request);
  EXPECT_EQ(RowAnswer::LiveBytes(), before);
}

TEST_F(AnswerTest, OtherKindsHaveNone) {
  const RowResult row = OpenWanting(1, Choice(R"(["ab"])"));
  EXPECT_EQ(row.state, RowState::kFailed);
  EXPECT_TRUE(absl::IsFailedPrecondition(row.error)) << row.error;
  EXPECT_EQ(ErrorReason(row.error), "NO_ANSWER");
}

class ObserveTest : public AnswerTest {
 protected:
  RowResult Observe(RowId row, std::vector<TokenId> tokens = {}) {
    StepRequest request = Next();
    request.opens = {OpenToObserve(row, std::move(tokens))};
    return Run(request)[0];
  }

  RowToOpen OpenToObserve(RowId row, std::vector<TokenId> tokens = {}) {
    RowToOpen open = Open(row, Chat(), std::move(tokens));
    open.options.observe = true;
    return open;
  }
};

TEST_F(ObserveTest, AnyTokenIsTakenAndTheAnswerIsTold) {
  ToldAnswer told;
  const RowResult opened = Observe(1, Bytes("Hm"));
  EXPECT_EQ(opened.state, RowState::kFree);
  EXPECT_TRUE(opened.may_end);
  ASSERT_EQ(opened.positions.size(), 1U);
  EXPECT_EQ(opened.positions[0].state, Position::State::kFull);
  told.Apply(opened.answer);
  told.Apply(Take(1, Bytes("!\n<tool_c")).answer);
  EXPECT_EQ(told.content, "Hm!");
  // Arguments that are no object are none of the grammar's.
  told.Apply(Take(1, Bytes("all>\n{\"name\": \"f\", \"arguments\": [1]}\n</tool_call>")).answer);
  EXPECT_EQ(told.calls, (std::vector<ChatCall>{{"call_0", "f", "[1]"}}));
  const RowResult ended = Take(1, {'.', kEnd});
  EXPECT_EQ(ended.state, RowState::kFinished);
  told.Apply(ended.answer);
  EXPECT_EQ(told.content, "Hm!.");
  const RowResult back = Take(1, Bytes("x"), 2);
  EXPECT_EQ(back.state, RowState::kFree) << "the end was taken back";
  told.Apply(back.answer);
  EXPECT_EQ(told.content, "Hm!x");
}

TEST_F(ObserveTest, WhatLeavesTheFamilyIsContent) {
  ToldAnswer told;
  told.Apply(Observe(1, Bytes("A\n<tool_call>\n{\"name\": \"g\"")).answer);
  EXPECT_EQ(told.content, "A<tool_call>\n{\"name\": \"g\"");
  told.Apply(Take(1, Bytes("...")).answer);
  EXPECT_EQ(told.content, "A<tool_call>\n{\"name\": \"g\"...");
  told.Apply(Take(1, Bytes("f\""), 5).answer);
  EXPECT_EQ(told.calls, (std::vector<ChatCall>{})) << "a name is certain with what stands behind";
  told.Apply(Take(1, Bytes(", \"arguments\": {")).answer);
  EXPECT_EQ(told.content, "A");
  EXPECT_EQ(told.calls, (std::vector<ChatCall>{{"call_0", "f", "{"}}));
}

TEST_F(ObserveTest, DraftsArePositionsOfFreeText) {
  Observe(1);
  StepRequest request = Next();
  request.moves = {Move(1, Bytes("a"))};
  request.moves[0].has_drafts = true;
  request.moves[0].drafts = {'b', kEnd, 'c', -1, 'd'};
  request.moves[0].draft_parents = {-1, 0, 1, 0, 3};
  const RowResult row = Run(request)[0];
  ASSERT_EQ(row.positions.size(), 6U);
  for (const int i : {0, 1, 2, 3}) EXPECT_EQ(row.positions[i].state, Position::State::kFull);
  for (const int i : {4, 5}) EXPECT_EQ(row.positions[i].state, Position::State::kInvalid);
  EXPECT_EQ(row.token_count, 1);
  EXPECT_EQ(row.accepted_drafts, 3);
}

TEST_F(ObserveTest, ASnapshotAndAForkAreObservedToo) {
  Observe(1, Bytes("]"));
  StepRequest request = Next();
  request.forks = {{1, 2}};
  request.moves = {Move(2, Bytes("x"))};
  request.snapshots = {1};
  const auto result = session_->Step(request, &NeverCancelled);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)->rows[0].state, RowState::kFree);
  EXPECT_EQ((*result)->rows[0].answer->content, "]x");
  ASSERT_EQ((*result)->snapshots.size(), 1U);
  EXPECT_TRUE((*result)->snapshots[0].options->observe);
}

TEST_F(ObserveTest, OnlyATokenThatIsNoneIsRefused) {
  Observe(1);
  const RowResult row = Take(1, {'a', -1, 'b'});
  EXPECT_TRUE(absl::IsOutOfRange(row.error)) << row.error;
  EXPECT_EQ(row.token_count, 1);
}

TEST_F(ObserveTest, GatesAndLeastTokensAreRefused) {
  StepRequest request = Next();
  request.opens = {OpenToObserve(1), OpenToObserve(2), OpenToObserve(3)};
  request.opens[0].options.gate = GateRequest{.end_tokens = {'<'}};
  request.opens[1].options.min_tokens = 2;
  request.opens[2].target = Choice(R"(["ab"])");
  const std::vector<RowResult> rows = Run(request);
  EXPECT_EQ(ErrorPlace(rows[0].error), "reasoning");
  EXPECT_EQ(ErrorPlace(rows[1].error), "min_tokens");
  EXPECT_EQ(ErrorReason(rows[2].error), "NO_ANSWER");
  EXPECT_EQ(ErrorPlace(rows[2].error), "observe");
}

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

Config NothingAhead() {
  Config config;
  config.warm_up_ms = 0;
  config.look_ahead_masks = 0;
  return config;
}

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
TEST_F(StreamSessionTest, LooksAheadOfItsRows) {
  Config config;
  config.warm_up_ms = 0;
  GrammarStore grammars(config, nullptr);
  const LoadedTokenizer& tokenizer = tokenizers_->all().front();
  session_ =
      std::make_unique<StreamSession>(&tokenizer, &grammars, StreamLimits(), FormTerms(), nullptr);
  const GrammarTarget target = Choice(R"(["abc","abd","xyz"])");
  OpenRow(1, target);
  const cache::CompileResult grammar = grammars.Get(target, tokenizer)->ticket.result();
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  const MaskedAutomaton& automaton = *(*grammar)->automaton();
  EXPECT_EQ(automaton.mask_count(), 1);
  session_->LookAhead();
  for (int i = 0; i < 1'000 && automaton.mask_count() < 3; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(automaton.mask_count(), 3);
  EXPECT_EQ(Allowed(Take(1, Bytes("a"))), "b");
  session_.reset();  // it does not outlive its grammars
}

}  // namespace
}  // namespace maskd::service
