// What one request can make a server hold: its reply, its message before it has come whole, and
// replies that nobody reads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "memory/accountant.h"
#include "tests/e2e/running_server.h"
#include "tools/attack/targets/raw_http2.h"

namespace maskd::service {
namespace {

using attack::GrpcFrame;
using attack::GrpcHeader;
using attack::RawHttp2;

using testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(30);
constexpr std::int64_t kMiB = 1 << 20;
// The widest logits of the embedded vocabulary.
constexpr std::uint32_t kWidest = 257 + 65'536;

class ReplyBoundTest : public testing::TestWithParam<Via> {
 protected:
  static Config SmallReplies() {
    Config config;
    config.max_reply_bytes = kMiB;
    return config;
  }

  // A stream with rows 1 to `rows` open, that may write any number of `a`.
  std::unique_ptr<TestStream> OpenRows(int rows) {
    auto stream = std::make_unique<TestStream>(running_.channel(), running_.memory_at(GetParam()));
    v1::DecodeRequest hello;
    hello.mutable_hello()->set_logits_width(kWidest);
    EXPECT_TRUE(stream->Send(hello));
    v1::DecodeResponse welcome;
    EXPECT_TRUE(stream->Read(&welcome));
    EXPECT_EQ(welcome.welcome().limits().max_reply_bytes(), static_cast<std::uint64_t>(kMiB));
    v1::Step step = OpeningStep(OpenOf(1, "regex", "a*"));
    for (int row = 2; row <= rows; ++row) *step.add_open() = OpenOf(row, "regex", "a*");
    EXPECT_EQ(stream->Run(step).rows_size(), rows);
    return stream;
  }

  RunningServer running_{SmallReplies()};
};

void AddDrafts(std::uint64_t row, int drafts, v1::Step* step) {
  v1::RowUpdate& update = *step->add_rows();
  update.set_row(row);
  update.add_tokens('a');
  for (int i = 0; i < drafts; ++i) update.mutable_drafts()->add_tokens('a');
}

// A row of 1,023 drafts is 8.4 MB in full.
TEST_P(ReplyBoundTest, ARowThatDoesNotFitHasAnErrorAndItsTokens) {
  const auto stream = OpenRows(2);
  v1::Step step;
  AddDrafts(1, 1023, &step);
  AddDrafts(2, 3, &step);
  const v1::StepReply reply = stream->Run(step);
  EXPECT_LT(reply.ByteSizeLong(), static_cast<std::size_t>(kMiB));
  ASSERT_EQ(reply.rows_size(), 2);
  const v1::RowReply& refused = reply.rows(0);
  EXPECT_EQ(refused.state(), v1::ROW_STATE_ACTIVE);
  EXPECT_EQ(refused.error().code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused.error().place(), "positions");
  EXPECT_THAT(refused.error().message(), HasSubstr("limit max_reply_bytes is 1048576, "));
  EXPECT_EQ(refused.token_count(), 1U);
  EXPECT_EQ(refused.positions_size(), 0);
  EXPECT_EQ(reply.rows(1).positions_size(), 4) << "the others are answered";
  // Smaller steps have its masks.
  step.Clear();
  AddDrafts(1, 100, &step);
  const v1::StepReply again = stream->Run(step);
  EXPECT_EQ(again.rows(0).token_count(), 2U);
  EXPECT_EQ(again.rows(0).positions_size(), 101);
  EXPECT_TRUE(Allows(again.rows(0).positions(100), 'a'));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_P(ReplyBoundTest, RowsAreAnsweredAsLongAsTheyFit) {
  constexpr int kRows = 32;
  const auto stream = OpenRows(kRows);
  v1::Step step;
  for (int row = 1; row <= kRows; ++row) AddDrafts(row, 7, &step);  // 65,824 bytes a row
  const v1::StepReply reply = stream->Run(step);
  EXPECT_LT(reply.ByteSizeLong(), static_cast<std::size_t>(kMiB));
  ASSERT_EQ(reply.rows_size(), kRows);
  int answered = 0;
  for (const v1::RowReply& row : reply.rows()) answered += row.positions_size() == 8 ? 1 : 0;
  EXPECT_EQ(answered, 15);
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_P(ReplyBoundTest, ARowIsDescribedOnce) {
  const auto stream = OpenRows(1);
  v1::Step step;
  for (int i = 0; i < 2'000; ++i) step.add_snapshot(1);
  const v1::StepReply reply = stream->Run(step);
  EXPECT_EQ(reply.snapshots_size(), 1);
  ASSERT_EQ(reply.rows_size(), 1'999);
  EXPECT_EQ(reply.rows(0).state(), v1::ROW_STATE_REFUSED);
  EXPECT_EQ(reply.rows(0).error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_P(ReplyBoundTest, SnapshotsCount) {
  const auto stream = OpenRows(3);
  v1::Step step;
  for (std::uint64_t row = 1; row <= 3; ++row) {
    v1::RowUpdate& update = *step.add_rows();
    update.set_row(row);
    for (int i = 0; i < 100'000; ++i) update.add_tokens('a');
  }
  stream->Run(step);
  step.Clear();
  for (std::uint64_t row = 1; row <= 3; ++row) step.add_snapshot(row);
  const v1::StepReply reply = stream->Run(step);
  EXPECT_EQ(reply.snapshots_size(), 2);
  ASSERT_EQ(reply.rows_size(), 1);
  EXPECT_EQ(reply.rows(0).row(), 3U);
  EXPECT_EQ(reply.rows(0).error().code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(reply.rows(0).error().message(), HasSubstr("max_reply_bytes"));
  EXPECT_TRUE(stream->Finish().ok());
}

// Two bytes of a step were 500 of a server's memory.
TEST_P(ReplyBoundTest, AStepOfTooManyRowsEndsItsStream) {
  const auto stream = OpenRows(1);
  v1::DecodeRequest request;
  request.mutable_step()->set_step(2);
  for (int i = 0; i < 100'000; ++i) request.mutable_step()->add_rows();
  EXPECT_TRUE(stream->Send(request));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("may name 17408 rows"));
  running_.ExpectServes();
}

INSTANTIATE_TEST_SUITE_P(Transports, ReplyBoundTest, testing::Values(Via::kGrpc, Via::kMemory),
                         [](const auto& test) { return NameOf(test.param); });

std::int64_t HeldFor(memory::Part part, const RunningServer& running) {
  return running.server().accountant().Read().held[static_cast<std::size_t>(part)];
}

// Callers that do not read their replies, with a window of 0.
TEST(UnreadReplyTest, TakeNoMoreThanTheirShare) {
  Config config;
  config.max_unread_reply_bytes = kMiB;
  const RunningServer running(config);
  constexpr int kCalls = 100;
  constexpr int kThatFit = kMiB / (257 * 128);
  {
    RawHttp2 attacker(running.address(), /*window=*/0);
    for (int i = 0; i < kCalls; ++i) {
      const std::uint32_t call = attacker.Open("/maskd.v1.TokenizerService/ListTokens");
      ASSERT_EQ(attacker.Send(call, GrpcFrame(""), /*last=*/true, kPatience), 5U);
    }
    EXPECT_TRUE(attacker.Take(
        [](const RawHttp2::Seen& seen) { return seen.calls.size() == kCalls; }, kPatience));
    EXPECT_EQ(attacker.seen().ended(), kCalls - kThatFit);
    EXPECT_EQ(attacker.seen().data_bytes, 0);
    EXPECT_LE(running.server().calls().unread().bytes(), kMiB);
    EXPECT_EQ(HeldFor(memory::Part::kReplies, running), std::int64_t{kThatFit} * 257 * 128);
    grpc::ClientContext context;
    v1::ListTokensResponse response;
    const grpc::Status refused = running.tokenizers()->ListTokens(&context, {}, &response);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(refused.error_message(), HasSubstr("max_unread_reply_bytes"));
    running.ExpectServes();
  }
  // Who goes takes its replies along.
  for (const absl::Time end = absl::Now() + kPatience; absl::Now() < end;) {
    if (running.server().calls().unread().bytes() == 0) break;
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_EQ(running.server().calls().unread().bytes(), 0);
  grpc::ClientContext context;
  v1::ListTokensResponse response;
  EXPECT_TRUE(running.tokenizers()->ListTokens(&context, {}, &response).ok());
  EXPECT_EQ(response.tokens_size(), 257);
}

// A message of a megabyte that were a gigabyte.
TEST(CompressionTest, ACompressedRequestIsRefused) {
  const RunningServer running;
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("regex", std::string(10'000, 'a'));
  v1::CompileResponse response;
  const grpc::Status status = running.compiler()->Compile(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("gzip"));
  running.ExpectServes();
}

// Calls that announce 16 MiB and send all but the last byte.
TEST(UnfinishedMessageTest, AreReceivedInSlotsOnly) {
  Config config;
  config.max_receiving_bytes = 2 * config.max_message_bytes;
  const RunningServer running(config);
  constexpr int kCalls = 10;
  constexpr std::uint32_t kBytes = 8 << 20;
  RawHttp2 attacker(running.address(), /*window=*/65'535);
  const std::string message = GrpcHeader(kBytes + 1) + std::string(kBytes, 'a');
  std::size_t sent = 0;
  for (int i = 0; i < kCalls; ++i) {
    const std::uint32_t call = attacker.Open("/maskd.v1.CompileService/Compile");
    sent +=
        attacker.Send(call, message, /*last=*/false, i < 2 ? kPatience : absl::Milliseconds(300));
  }
  // Two in full, and of the others what may be sent unasked.
  EXPECT_GE(sent, 2 * std::size_t{kBytes});
  EXPECT_LE(sent, 2 * message.size() + kCalls * std::size_t{65'535});
  EXPECT_EQ(running.server().calls().slots().held(), 2);
  EXPECT_EQ(HeldFor(memory::Part::kRequests, running), 0) << "none has been read";
  running.ExpectServes();
}

TEST(OpenCallsTest, HaveABoundForEachConnection) {
  Config config;
  config.max_streams = 10;
  const RunningServer running(config);
  RawHttp2 attacker(running.address(), /*window=*/65'535);
  ASSERT_TRUE(
      attacker.Take([](const RawHttp2::Seen& seen) { return seen.max_calls >= 0; }, kPatience));
  EXPECT_EQ(attacker.seen().max_calls, 522);
  for (int i = 0; i < 2'000; ++i) attacker.Open("/maskd.v1.CompileService/Compile");
  // This gRPC closes the connection.
  const bool refused = attacker.Take(
      [](const RawHttp2::Seen& seen) { return seen.ended() >= 2'000 - 522; }, kPatience);
  EXPECT_TRUE(refused || attacker.is_closed());
  running.ExpectServes();
}

}  // namespace
}  // namespace maskd::service
