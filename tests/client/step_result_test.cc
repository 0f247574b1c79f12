// Reading a step's reply: masks into the caller's own buffer, errors of rows.
#include "client/cpp/steps/step_result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/cpp/base/errors.h"
#include "client/cpp/client.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

using testing::Each;
using testing::ElementsAre;

// The result of one step that a server answers with `fill`, at two words a mask.
StepResult ResultOf(const std::function<void(v1::StepReply&)>& fill) {
  const ScriptedServer server({.decode = [&fill](ServerStream& stream) {
    Welcome(stream, 2);
    v1::DecodeRequest request;
    stream.Read(&request);
    v1::DecodeResponse response;
    response.mutable_step()->set_step(request.step().step());
    fill(*response.mutable_step());
    stream.Write(response);
    return grpc::Status::OK;
  }});
  StepResult result;
  const auto stream = MaskStream::Open(server.address(), 1 << 20, {.logits_width = 64});
  EXPECT_TRUE(stream.ok()) << stream.status();
  Step step;
  EXPECT_TRUE((*stream)->Submit(step).ok());
  EXPECT_TRUE((*stream)->Collect(absl::Seconds(10), result).ok());
  return result;
}

void AddDense(v1::StepReply& reply, RowId row, std::uint32_t low, std::uint32_t high) {
  v1::RowReply& added = *reply.add_rows();
  added.set_row(row);
  added.set_state(v1::ROW_STATE_ACTIVE);
  const std::uint32_t words[] = {low, high};
  added.add_positions()->set_dense(words, sizeof(words));
}

void AddFull(v1::StepReply& reply, RowId row) {
  v1::RowReply& added = *reply.add_rows();
  added.set_row(row);
  added.set_state(v1::ROW_STATE_FINISHED);
  added.add_positions()->set_full(true);
}

void AddWithoutMask(v1::StepReply& reply, RowId row, v1::RowState state) {
  v1::RowReply& added = *reply.add_rows();
  added.set_row(row);
  added.set_state(state);
}

StepResult ThreeRows() {
  return ResultOf([](v1::StepReply& reply) {
    AddDense(reply, 1, 0x11, 0x12);
    AddFull(reply, 2);
    AddDense(reply, 3, 0x31, 0x32);
    AddWithoutMask(reply, 4, v1::ROW_STATE_COMPILING);
  });
}

TEST(StepResult, MasksLandInTheCallersOrder) {
  const StepResult result = ThreeRows();
  std::vector<std::int32_t> buffer(9, 77);
  const std::vector<RowId> order = {3, 2, 1};
  ASSERT_TRUE(
      result.CopyMasks(order, {.words = buffer.data(), .row_count = 3, .row_words = 3}).ok());
  EXPECT_THAT(buffer, ElementsAre(0x31, 0x32, 0, -1, -1, 0, 0x11, 0x12, 0));
}

TEST(StepResult, RowsLeftOutAreLeftOut) {
  const StepResult result = ThreeRows();
  std::vector<std::int32_t> buffer(4, 77);
  const std::vector<RowId> order = {1};
  ASSERT_TRUE(
      result.CopyMasks(order, {.words = buffer.data(), .row_count = 2, .row_words = 2}).ok());
  EXPECT_THAT(buffer, ElementsAre(0x11, 0x12, 77, 77));
}

struct CopyCase {
  std::string name;
  std::vector<RowId> order;
  std::int64_t row_count;
  std::int64_t row_words;
  bool null;
  absl::Status status;
};

class CopyMasksTest : public testing::TestWithParam<CopyCase> {};

TEST_P(CopyMasksTest, RefusedBeforeAnythingIsWritten) {
  const CopyCase& test = GetParam();
  std::vector<std::int32_t> buffer(8, 77);
  EXPECT_EQ(ThreeRows().CopyMasks(test.order, {.words = test.null ? nullptr : buffer.data(),
                                               .row_count = test.row_count,
                                               .row_words = test.row_words}),
            test.status);
  EXPECT_THAT(buffer, Each(77));
}

INSTANTIATE_TEST_SUITE_P(
    Refusals, CopyMasksTest,
    testing::ValuesIn(std::vector<CopyCase>{
        {"NullBuffer", {1}, 1, 2, true, absl::InvalidArgumentError("buffer.words: is null")},
        {"TooFewRows",
         {1, 3},
         1,
         2,
         false,
         absl::InvalidArgumentError("buffer.row_count: 1 is less than 2 rows")},
        {"RowsTooNarrow",
         {1},
         1,
         1,
         false,
         absl::InvalidArgumentError("buffer.row_words: 1 is less than 2")},
        {"UnknownRow", {1, 9}, 2, 2, false, absl::NotFoundError("row 9: no answer")},
        {"StillCompiling",
         {1, 4},
         2,
         2,
         false,
         absl::FailedPreconditionError("row 4: no mask, it is ROW_STATE_COMPILING")},
    }),
    [](const auto& test) { return test.param.name; });

TEST(StepResult, ARefusedTokenSaysWhichAndWhere) {
  const StepResult result = ResultOf([](v1::StepReply& reply) {
    AddDense(reply, 5, 1, 0);
    v1::RowReply& row = *reply.mutable_rows(0);
    row.set_token_count(12);
    row.set_may_end(true);
    v1::RowError& error = *row.mutable_error();
    error.set_code(3);
    error.set_reason("TOKEN_REFUSED");
    error.set_message("token 9 is not allowed here");
    error.set_place("/properties/a");
    error.mutable_token()->set_index(2);
    error.mutable_token()->set_id(9);
    error.mutable_token()->set_text("{");
  });
  const RowResult* const row = result.Find(5);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(row->error.message(), "token 9 is not allowed here");
  EXPECT_EQ(ErrorReason(row->error), "TOKEN_REFUSED");
  EXPECT_EQ(ErrorPlace(row->error), "/properties/a");
  ASSERT_TRUE(row->refused_token.has_value());
  EXPECT_EQ(row->refused_token->index, 2U);
  EXPECT_EQ(row->refused_token->id, 9);
  EXPECT_EQ(row->refused_token->text, "{");
  EXPECT_EQ(row->token_count, 12U);
  EXPECT_TRUE(row->may_end);
  EXPECT_TRUE(row->has_mask());
}

TEST(StepResult, ALoadErrorOfARowSaysWhenToRetry) {
  const StepResult result = ResultOf([](v1::StepReply& reply) {
    AddWithoutMask(reply, 5, v1::ROW_STATE_FAILED);
    reply.mutable_rows(0)->mutable_error()->set_code(8);
    reply.mutable_rows(0)->mutable_error()->set_retry_after_ms(1250);
  });
  EXPECT_EQ(ErrorRetryAfter(result.Find(5)->error), absl::Milliseconds(1250));
}

TEST(StepResult, FindGivesTheAnswerNotTheRefusal) {
  const StepResult result = ResultOf([](v1::StepReply& reply) {
    AddWithoutMask(reply, 1, v1::ROW_STATE_REFUSED);
    AddDense(reply, 1, 5, 6);
  });
  ASSERT_EQ(result.rows().size(), 2U);
  EXPECT_EQ(result.Find(1), &result.rows()[1]);
  EXPECT_EQ(result.Find(2), nullptr);
}

}  // namespace
}  // namespace maskd::client
