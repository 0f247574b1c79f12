// Drafts of a session's rows, and the bytes that are forced behind them.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar_core/base/error.h"
#include "tests/service/streams/session_fixture.h"

namespace maskd::service {
namespace {

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

}  // namespace
}  // namespace maskd::service
