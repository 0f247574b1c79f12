// A FailoverStream whose only server says of its rows what cannot be.
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "client/cpp/failover/failover_stream.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

constexpr std::uint32_t kWidth = 257;
constexpr std::uint32_t kMaskWords = 9;

v1::RowReply& Answer(std::uint64_t row, std::uint32_t token_count, v1::DecodeResponse& response) {
  v1::RowReply& reply = *response.mutable_step()->add_rows();
  reply.set_row(row);
  reply.set_state(v1::ROW_STATE_ACTIVE);
  reply.set_token_count(token_count);
  reply.add_positions()->set_full(true);
  return reply;
}

// Opens rows as it is told, and then has them refuse a token that nobody has sent.
grpc::Status Lie(ServerStream& stream) {
  Welcome(stream, kMaskWords);
  v1::DecodeRequest request;
  while (stream.Read(&request)) {
    v1::DecodeResponse response;
    response.mutable_step()->set_step(request.step().step());
    for (const v1::OpenRow& open : request.step().open())
      Answer(open.row(), static_cast<std::uint32_t>(open.tokens_size()), response);
    for (const v1::RowUpdate& update : request.step().rows()) {
      v1::RowReply& row = Answer(update.row(), 1'000'000, response);
      row.mutable_error()->set_code(3);
      row.mutable_error()->set_place("tokens[1000000]");
      row.mutable_error()->mutable_token()->set_index(1'000'000);
    }
    stream.Write(response);
  }
  return grpc::Status::OK;
}

// Whoever went from one lie to the next without end would be ended by ctest.
TEST(LyingServerTest, IsLeftAndWhereThereIsNoOtherThatIsAnError) {
  const ScriptedServer server({.decode = Lie});
  auto stream =
      FailoverStream::Open({.addresses = {server.address()}, .stream = {.logits_width = kWidth}});
  ASSERT_TRUE(stream.ok()) << stream.status();
  StepResult result;
  Step step;
  step.Open(1, v1::Grammar());
  ASSERT_TRUE((*stream)->Submit(step).ok());
  ASSERT_TRUE((*stream)->Collect(absl::Seconds(20), result).ok());
  step.Clear();
  const TokenId token = 5;
  step.Take(1, {&token, 1});
  ASSERT_TRUE((*stream)->Submit(step).ok());
  const absl::Status collected = (*stream)->Collect(absl::Milliseconds(200), result);
  EXPECT_TRUE(absl::IsInternal(collected) || absl::IsDeadlineExceeded(collected)) << collected;
  EXPECT_GT((*stream)->moves(), 0);
  EXPECT_EQ((*stream)->welcome().mask_words(), kMaskWords);
}

}  // namespace
}  // namespace maskd::client
