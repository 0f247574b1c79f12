#include "service/stream_session.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/loader.h"

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
  return RowToOpen{row, absl::OkStatus(), std::move(target), std::move(tokens), {}};
}

RowToMove Move(RowId row, std::vector<TokenId> tokens, int rollback = 0) {
  return RowToMove{row, absl::OkStatus(), rollback, std::move(tokens)};
}

// The mask of position 0; null when there is none.
MaskRef MaskOf(const RowResult& row) {
  return row.positions.empty() ? nullptr : row.positions.front().mask;
}

// The tokens a mask allows, as text; "<end>" for the stop token.
std::string Allowed(const RowResult& row) {
  std::string allowed;
  const MaskRef mask = MaskOf(row);
  for (TokenId id = 0; mask != nullptr && id < mask->vocab_size(); ++id) {
    if (mask->Allows(id)) {
      allowed += id == kEnd ? std::string("<end>") : std::string(1, static_cast<char>(id));
    }
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
  open.stop_ids = {'!'};
  RowToOpen wrong = Open(2, Choice(R"(["ab"])"));
  wrong.stop_ids = {257};
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
  move.refusal = absl::UnimplementedError("drafts");
  request.moves = {move, Move(1, Bytes("a"))};
  request.snapshots = {1};
  const std::vector<RowResult> rows = Run(request);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(absl::IsUnimplemented(rows[0].error));
  EXPECT_EQ(rows[0].token_count, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(rows[1].error)) << "named twice";
  EXPECT_TRUE(absl::IsUnimplemented(rows[2].error)) << "snapshot";
}

}  // namespace
}  // namespace maskd::service
