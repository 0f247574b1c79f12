// What a session's rows are told of the answer that their text is, constrained or only read.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/loader.h"
#include "service/sequences/row_answer.h"
#include "service/sequences/row_counts.h"
#include "tests/service/streams/session_fixture.h"

namespace maskd::service {
namespace {

// Applies what replies say of an answer.
struct ToldAnswer {
  std::string content;
  std::vector<ChatCall> calls;

  void Apply(const Rare<AnswerDelta>& delta) {
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

}  // namespace
}  // namespace maskd::service
