// One Decode call under a server that answers late, too much or not at all, and the connection that
// it is made on.
#include "client/cpp/calls/decode_call.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "gtest/gtest.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/ping_answers.h"
#include "client/cpp/connect/channel.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

constexpr int kMessageBytes = 64 << 20;

SteadyTime Soon() { return SteadyTime::Now() + absl::Seconds(30); }

v1::DecodeRequest StepOf(std::uint64_t number, std::size_t bytes = 0) {
  v1::DecodeRequest request;
  request.mutable_step()->set_step(number);
  if (bytes > 0) request.mutable_step()->add_open()->set_grammar_id(std::string(bytes, 'x'));
  return request;
}

absl::Status WriteNow(DecodeCall& call, const v1::DecodeRequest& request,
                      SteadyTime deadline = Soon()) {
  return call.Write(request, request.ByteSizeLong(), deadline);
}

std::uint64_t NumberOf(grpc::ByteBuffer& bytes) {
  v1::DecodeResponse response;
  grpc::ProtoBufferReader reader(&bytes);
  EXPECT_TRUE(response.ParseFromZeroCopyStream(&reader));
  return response.step().step();
}

// Answers each step with its number.
grpc::Status Echo(ServerStream& stream) {
  v1::DecodeRequest request;
  while (stream.Read(&request)) {
    v1::DecodeResponse response;
    response.mutable_step()->set_step(request.step().step());
    stream.Write(response);
  }
  return grpc::Status::OK;
}

std::unique_ptr<DecodeCall> StartOn(const ScriptedServer& server) {
  auto call = std::make_unique<DecodeCall>(MakeChannel(server.address(), kMessageBytes), true);
  EXPECT_TRUE(call->Start(Soon()).ok());
  return call;
}

TEST(DecodeCallTest, MessagesGoBothWaysInOrderUntilItIsFinished) {
  const ScriptedServer server({.decode = Echo});
  const auto call = StartOn(server);
  for (std::uint64_t i = 1; i <= 50; ++i) ASSERT_TRUE(WriteNow(*call, StepOf(i)).ok());
  for (std::uint64_t i = 1; i <= 50; ++i) {
    grpc::ByteBuffer bytes;
    ASSERT_TRUE(call->Read(bytes, Soon(), i % 2 == 0 ? Soon() : SteadyTime::LongAgo()).ok());
    EXPECT_EQ(NumberOf(bytes), i);
  }
  EXPECT_TRUE(call->Finish(Soon()).ok());
  EXPECT_TRUE(call->Finish(Soon()).ok()) << "again";
  grpc::ByteBuffer bytes;
  EXPECT_TRUE(absl::IsCancelled(call->Read(bytes, Soon(), SteadyTime::LongAgo())));
  EXPECT_TRUE(absl::IsCancelled(WriteNow(*call, StepOf(51))));
}

TEST(DecodeCallTest, AnInterruptEndsTheReadOfNowOrTheNextOne) {
  const ScriptedServer server({.decode = Echo});
  const auto call = StartOn(server);
  grpc::ByteBuffer bytes;
  call->Interrupt();
  call->Interrupt();  // one and the same
  const auto interrupted = call->ReadUntilInterrupted(bytes);
  ASSERT_TRUE(interrupted.ok()) << interrupted.status();
  EXPECT_FALSE(*interrupted);
  std::thread other([&] { call->Interrupt(); });
  const auto waited = call->ReadUntilInterrupted(bytes);
  other.join();
  ASSERT_TRUE(waited.ok()) << waited.status();
  EXPECT_FALSE(*waited);
  ASSERT_TRUE(WriteNow(*call, StepOf(7)).ok());
  const auto read = call->ReadUntilInterrupted(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read);
  EXPECT_EQ(NumberOf(bytes), 7);
  call->Interrupt();  // none comes for it: the call may go
}

// gRPC buffers some of what it is given; a step of many megabytes waits for the server to read.
TEST(DecodeCallTest, AWriteThatDoesNotLeaveInTimeIsTheEnd) {
  absl::Notification over;
  const ScriptedServer server({.decode = [&over](ServerStream&) {
    over.WaitForNotification();
    return grpc::Status::OK;
  }});
  const auto call = StartOn(server);
  ASSERT_TRUE(WriteNow(*call, StepOf(1, 3 << 20)).ok());
  absl::Status written;
  for (std::uint64_t i = 2; i < 100 && written.ok(); ++i)
    written = WriteNow(*call, StepOf(i, 3 << 20), SteadyTime::Now() + absl::Milliseconds(50));
  EXPECT_TRUE(absl::IsDeadlineExceeded(written)) << written;
  // Later calls give the same, however long they might wait.
  EXPECT_EQ(WriteNow(*call, StepOf(100), SteadyTime::Never()), written);
  grpc::ByteBuffer bytes;
  EXPECT_EQ(call->Read(bytes, SteadyTime::Never(), SteadyTime::LongAgo()), written);
  EXPECT_EQ(call->ReadUntilInterrupted(bytes).status(), written);
  EXPECT_EQ(call->Finish(SteadyTime::Never()), written);
  over.Notify();
}

// A server that does not answer the goodbye: gRPC would end the process over a later write.
TEST(DecodeCallTest, NothingIsWrittenBehindTheGoodbye) {
  absl::Notification over;
  const ScriptedServer server({.decode = [&over](ServerStream&) {
    over.WaitForNotification();
    return grpc::Status::OK;
  }});
  const auto call = StartOn(server);
  ASSERT_TRUE(WriteNow(*call, StepOf(1)).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(call->Finish(SteadyTime::Now() + absl::Milliseconds(20))));
  EXPECT_TRUE(absl::IsCancelled(WriteNow(*call, StepOf(2))));
  over.Notify();
  EXPECT_TRUE(call->Finish(Soon()).ok());
}

TEST(DecodeCallTest, GoesWhateverIsUnderWay) {
  absl::Notification over;
  const ScriptedServer silent({.decode = [&over](ServerStream&) {
    over.WaitForNotification();
    return grpc::Status::OK;
  }});
  const auto channel = MakeChannel(silent.address(), kMessageBytes);
  {
    const DecodeCall never_started(channel, false);
  }
  {
    DecodeCall call(channel, true);
    ASSERT_TRUE(call.Start(Soon()).ok());
    ASSERT_TRUE(WriteNow(call, StepOf(1, 3 << 20)).ok());
    call.Interrupt();
  }
  {
    DecodeCall call(MakeChannel("unix:/nonexistent/maskd.sock", kMessageBytes), true);
    EXPECT_TRUE(absl::IsUnavailable(call.Start(Soon())));
    EXPECT_TRUE(absl::IsUnavailable(WriteNow(call, StepOf(1))));
    EXPECT_TRUE(absl::IsUnavailable(call.Finish(Soon())));
  }
  over.Notify();
}

TEST(PingAnswersTest, GoesAtOnceWhateverItsChannelIsDoing) {
  const ScriptedServer server({.decode = Echo});
  for (const std::string& address : {server.address(), std::string("unix:/nonexistent/a.sock")}) {
    const auto channel = MakeChannel(address, kMessageBytes);
    for (int i = 0; i < 100; ++i) {
      const PingAnswers unseen(channel);
      if (i == 50) channel->GetState(/*try_to_connect=*/true);
    }
  }
}

TEST(ChannelTest, MessagesAreBoundedAsItWasTold) {
  constexpr std::size_t kReplyBytes = 9 << 20;  // beyond the 4 MiB that gRPC takes by itself
  const ScriptedServer server({.compile = [](const auto&, v1::CompileResponse& response) {
    response.set_grammar_id(std::string(kReplyBytes, 'x'));
    return grpc::Status::OK;
  }});
  for (const bool fits : {true, false}) {
    const int bytes = static_cast<int>(kReplyBytes) + (fits ? 1000 : -1000);
    const auto stub = v1::CompileService::NewStub(MakeChannel(server.address(), bytes));
    grpc::ClientContext context;
    v1::CompileResponse response;
    const grpc::Status status = stub->Compile(&context, {}, &response);
    EXPECT_EQ(status.error_code(),
              fits ? grpc::StatusCode::OK : grpc::StatusCode::RESOURCE_EXHAUSTED)
        << status.error_message();
    EXPECT_EQ(response.grammar_id().size(), fits ? kReplyBytes : 0);
  }
}

}  // namespace
}  // namespace maskd::client
