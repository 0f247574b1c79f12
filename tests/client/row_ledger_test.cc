// What is booked of steps and replies is what opens the rows anew.
#include "client/cpp/failover/row_ledger.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

#include "client/cpp/steps/reply_reader.h"

namespace maskd::client {
namespace {

using google::protobuf::TextFormat;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// Reads a reply and hands its rows to `use`.
template <typename Use>
absl::Status WithRows(const std::string& reply, const Use& use) {
  v1::DecodeResponse response;
  *response.mutable_step() = Parse<v1::StepReply>(reply);
  ServerMessage message;
  EXPECT_TRUE(ReplyReader(v1::Welcome()).Read(response.SerializeAsString(), message).ok());
  return use(message.result.rows());
}

// Books the step and what the server says to it.
absl::Status TryApply(const std::string& step, const std::string& reply, RowLedger& ledger) {
  return WithRows(reply,
                  [&](const auto& rows) { return ledger.Apply(Parse<v1::Step>(step), rows); });
}

absl::Status TryReplay(const std::string& reply, RowLedger& ledger) {
  return WithRows(reply, [&](const auto& rows) { return ledger.ApplyReplay(rows); });
}

void Apply(const std::string& step, const std::string& reply, RowLedger& ledger) {
  const absl::Status applied = TryApply(step, reply, ledger);
  EXPECT_TRUE(applied.ok()) << applied;
}

struct Opens {
  std::string replay;
  std::string next;
};

// What opens the rows anew before `next`, and in it.
Opens OpensOf(RowLedger& ledger, const std::string& next = "") {
  v1::Step replay;
  v1::Step before = Parse<v1::Step>(next);
  ledger.WriteOpens(&replay, &before);
  return {replay.ShortDebugString(), before.ShortDebugString()};
}

std::string Canonical(const std::string& step) { return Parse<v1::Step>(step).ShortDebugString(); }

struct LedgerCase {
  std::string name;
  std::string step;
  std::string reply;
  std::string opens;      // of the replay, after the row below
  std::string late = "";  // of the step behind it
};

// Row 1, opened by id, has taken 5, 6 and 7 and may take ten more.
RowLedger Begun() {
  RowLedger ledger;
  Apply("open {row: 1 grammar_id: 'g' tokens: 5 remaining_tokens: 12}",
        "rows {row: 1 state: ROW_STATE_COMPILING}", ledger);
  Apply("rows {row: 1 tokens: [6, 7]}",
        "rows {row: 1 state: ROW_STATE_ACTIVE token_count: 3 positions {full: true}}", ledger);
  return ledger;
}

class RowLedgerTest : public testing::TestWithParam<LedgerCase> {};

TEST_P(RowLedgerTest, OpensTheRowsWhereTheyStand) {
  RowLedger ledger = Begun();
  Apply(GetParam().step, GetParam().reply, ledger);
  const Opens opens = OpensOf(ledger);
  EXPECT_EQ(opens.replay, Canonical(GetParam().opens));
  EXPECT_EQ(opens.next, Canonical(GetParam().late));
}

constexpr char kActive[] = "state: ROW_STATE_ACTIVE positions {full: true}";

std::string Answer(const std::string& rest) {
  return std::string("rows {row: 1 ") + kActive + " " + rest + "}";
}

INSTANTIATE_TEST_SUITE_P(
    Steps, RowLedgerTest,
    testing::ValuesIn(std::vector<LedgerCase>{
        {"Nothing", "", "", "open {row: 1 grammar_id: 'g' tokens: [5, 6, 7] remaining_tokens: 10}"},
        {"RollbackThenTokens", "rows {row: 1 rollback: 2 tokens: 8}", Answer("token_count: 2"),
         "open {row: 1 grammar_id: 'g' tokens: [5, 8] remaining_tokens: 11}"},
        {"ARefusedToken", "rows {row: 1 rollback: 1 tokens: [8, 9]}",
         Answer("token_count: 3 error {code: 3 place: 'tokens[1]' token {index: 1 id: 9}}"),
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 8] remaining_tokens: 10}"},
        {"ARefusedRollback", "rows {row: 1 rollback: 9 tokens: 8}",
         Answer("token_count: 3 error {code: 11 place: 'rollback'}"),
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 7] remaining_tokens: 10}"},
        {"TheRowsLimit", "rows {row: 1 rollback: 1 tokens: [8, 9]}",
         Answer("token_count: 3 error {code: 8 place: 'tokens[1]'}"),
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 8] remaining_tokens: 10}"},
        {"MasksThatDoNotFit", "rows {row: 1 rollback: 1 tokens: 8 remaining_tokens: 4}",
         "rows {row: 1 state: ROW_STATE_ACTIVE token_count: 3 error {code: 8 place: 'positions'}}",
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 8] remaining_tokens: 4}"},
        {"ARefusedTokenWithoutMasks", "rows {row: 1 tokens: [8, 9]}",
         "rows {row: 1 state: ROW_STATE_ACTIVE token_count: 4 "
         "error {code: 3 place: 'tokens[1]' token {index: 1 id: 9}}}",
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 7, 8] remaining_tokens: 9}"},
        {"TokensLeftSaidAnew", "rows {row: 1 tokens: 8 remaining_tokens: 4}",
         Answer("token_count: 4"),
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 7, 8] remaining_tokens: 4}"},
        {"AForkThatGoesItsOwnWay", "fork {parent: 1 child: 2} rows {row: 1 tokens: 8}",
         Answer("token_count: 4"),
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 7, 8] remaining_tokens: 9} "
         "open {row: 2 grammar_id: 'g' tokens: [5, 6, 7] remaining_tokens: 10}"},
        {"ARefusedFork", "fork {parent: 1 child: 2}", "rows {row: 2 state: ROW_STATE_REFUSED}",
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 7] remaining_tokens: 10}"},
        {"CloseAndOpenAgain", "close: 1 open {row: 1 grammar_id: 'h'}",
         "rows {row: 1 state: ROW_STATE_COMPILING}", "", "open {row: 1 grammar_id: 'h'}"},
        {"ARowThatCompiles", "open {row: 3 grammar_id: 'h' tokens: 4}",
         "rows {row: 3 state: ROW_STATE_COMPILING}",
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 7] remaining_tokens: 10}",
         "open {row: 3 grammar_id: 'h' tokens: 4}"},
        {"ARowThatFailed", "open {row: 3 grammar_id: 'h'}",
         "rows {row: 3 state: ROW_STATE_FAILED error {code: 3}}",
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 7] remaining_tokens: 10} "
         "open {row: 3 grammar_id: 'h'}"},
        {"ARefusedOpen", "open {row: 1 grammar_id: 'h'} open {row: 3 grammar_id: 'h'}",
         "rows {row: 1 state: ROW_STATE_REFUSED} rows {row: 3 state: ROW_STATE_REFUSED}",
         "open {row: 1 grammar_id: 'g' tokens: [5, 6, 7] remaining_tokens: 10}"},
    }),
    [](const auto& test) { return test.param.name; });

// Row 2, opened with 5 and 6 and with 6 refused, is first answered to the second step.
TEST(RowLedger, ATokenRefusedAtTheOpeningIsNotOneOfTheUpdates) {
  RowLedger ledger;
  Apply("open {row: 2 grammar_id: 'g' tokens: [5, 6]}", "rows {row: 2 state: ROW_STATE_COMPILING}",
        ledger);
  Apply("fork {parent: 2 child: 3} rows {row: 2}",
        "rows {row: 2 state: ROW_STATE_ACTIVE positions {full: true} token_count: 1 "
        "error {code: 3 place: 'tokens[1]' token {index: 1 id: 6}}}",
        ledger);
  const Opens opens = OpensOf(ledger);
  EXPECT_EQ(opens.replay, Canonical("open {row: 2 grammar_id: 'g' tokens: 5}"));
  EXPECT_EQ(opens.next, Canonical("open {row: 3 grammar_id: 'g' tokens: 5}"));
}

TEST(RowLedger, ARowThatCompilesMayBeToldHowManyTokensAreLeft) {
  RowLedger ledger;
  Apply("open {row: 2 grammar_id: 'g' tokens: [5, 6]}", "rows {row: 2 state: ROW_STATE_COMPILING}",
        ledger);
  Apply("rows {row: 2 remaining_tokens: 4}", "rows {row: 2 state: ROW_STATE_COMPILING}", ledger);
  Apply("rows {row: 2 tokens: 7 remaining_tokens: 9}",
        "rows {row: 2 state: ROW_STATE_COMPILING error {code: 9 place: 'tokens'}}", ledger);
  EXPECT_EQ(OpensOf(ledger).next,
            Canonical("open {row: 2 grammar_id: 'g' tokens: [5, 6] remaining_tokens: 4}"));
}

// Row 2 compiles, and no server has said where it stands.
RowLedger Compiling() {
  RowLedger ledger;
  Apply("open {row: 2 grammar_id: 'g'}", "rows {row: 2 state: ROW_STATE_COMPILING}", ledger);
  return ledger;
}

TEST(RowLedger, ARowThatCompilesIsThereBeforeTheStepThatNeedsIt) {
  for (const std::string& next :
       {std::string("close: 2"), std::string("fork {parent: 2 child: 3}"),
        std::string("fork {parent: 1 child: 2}"), std::string("snapshot: 2"),
        std::string("open {row: 2 grammar_id: 'h'}"), std::string("rows {row: 2 tokens: 7}"),
        std::string("rows {row: 2 rollback: 1}")}) {
    RowLedger ledger = Compiling();
    const Opens opens = OpensOf(ledger, next);
    EXPECT_EQ(opens.replay, Canonical("open {row: 2 grammar_id: 'g'}")) << next;
    EXPECT_EQ(opens.next, Canonical(next));
  }
  RowLedger ledger = Compiling();
  const std::string asks = "rows {row: 2 remaining_tokens: 9 want_forced: true}";
  EXPECT_EQ(OpensOf(ledger, asks).next, Canonical(asks + "open {row: 2 grammar_id: 'g'}"));
}

TEST(RowLedger, WhatTheNextServerSaysOfARowThatCompiledIsBooked) {
  RowLedger ledger = Compiling();
  OpensOf(ledger);
  EXPECT_TRUE(TryReplay("", ledger).ok()) << "the replay has no such row";
  Apply("", "rows {row: 2 state: ROW_STATE_ACTIVE positions {full: true}}", ledger);
  EXPECT_EQ(OpensOf(ledger).replay, Canonical("open {row: 2 grammar_id: 'g'}"));
}

TEST(RowLedger, AServerThatDoesNotOpenARowThatCompiledIsLeft) {
  RowLedger ledger = Compiling();
  OpensOf(ledger);
  const std::string refused = "rows {row: 2 state: ROW_STATE_REFUSED error {code: 8}}";
  EXPECT_TRUE(absl::IsUnavailable(TryApply("", refused, ledger)));
  EXPECT_EQ(OpensOf(ledger).next, Canonical("open {row: 2 grammar_id: 'g'}"));
}

struct LieCase {
  std::string name;
  std::string step;
  std::string reply;
};

class LieTest : public testing::TestWithParam<LieCase> {};

TEST_P(LieTest, IsAnErrorAndBooksNothing) {
  RowLedger ledger = Begun();
  const Opens before = OpensOf(ledger);
  const absl::Status applied = TryApply(GetParam().step, GetParam().reply, ledger);
  EXPECT_TRUE(absl::IsInternal(applied)) << applied;
  const Opens after = OpensOf(ledger);
  EXPECT_EQ(after.replay, before.replay);
  EXPECT_EQ(after.next, before.next);
}

INSTANTIATE_TEST_SUITE_P(
    Replies, LieTest,
    testing::ValuesIn(std::vector<LieCase>{
        {"TokensThatNobodySent", "rows {row: 1 tokens: 8}", Answer("token_count: 5")},
        {"TokensMissing", "rows {row: 1 tokens: 8}", Answer("token_count: 3")},
        {"TokensOfNoUpdate", "", Answer("token_count: 4")},
        {"ARefusedTokenBehindTheLast", "rows {row: 1 tokens: 8}",
         Answer("token_count: 9 error {code: 3 place: 'tokens[6]' token {index: 6 id: 8}}")},
        {"MoreTokensThanAnIntHolds", "rows {row: 1 tokens: 8}",
         Answer("token_count: 4294967295 error {code: 3 place: 'tokens[0]' token {index: "
                "4294967295}}")},
        {"ARowTwice", "rows {row: 1 tokens: 8}",
         Answer("token_count: 4") + Answer("token_count: 4")},
        {"AfterAClose", "close: 1 fork {parent: 1 child: 2} open {row: 1 grammar_id: 'h'}",
         Answer("token_count: 1")},
        {"AfterAFork", "fork {parent: 1 child: 2} rows {row: 1 tokens: 8}",
         Answer("token_count: 3")},
    }),
    [](const auto& test) { return test.param.name; });

TEST(RowLedger, AReplayHasEveryRowWhereItIsBooked) {
  const auto replay = [](const std::string& reply) {
    RowLedger ledger = Begun();
    return TryReplay(reply, ledger);
  };
  EXPECT_TRUE(replay(Answer("token_count: 3")).ok());
  EXPECT_TRUE(replay("rows {row: 1 state: ROW_STATE_COMPILING}").ok());
  for (const std::string& reply :
       {std::string(), Answer("token_count: 2"), Answer("token_count: 3 error {code: 3}"),
        std::string("rows {row: 1 state: ROW_STATE_FAILED}")}) {
    EXPECT_TRUE(absl::IsUnavailable(replay(reply))) << reply;
  }
}

TEST(RowLedger, AKnownTextTakesThePlaceOfItsId) {
  RowLedger ledger = Begun();
  ledger.Remember("g", Parse<v1::Grammar>("kind: 'choice' source: '[]'"));
  EXPECT_THAT(OpensOf(ledger).replay, testing::HasSubstr("kind: \"choice\""));
}

}  // namespace
}  // namespace maskd::client
