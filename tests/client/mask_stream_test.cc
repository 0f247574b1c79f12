#include "client/cpp/streams/mask_stream.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/cpp/base/errors.h"
#include "client/cpp/client.h"
#include "tests/client/scripted_server.h"
#include "tests/service/base/no_threads.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(10);

// Each by the calling thread alone, and with replies read between its calls.
class MaskStreamTest : public testing::TestWithParam<bool> {
 protected:
  static absl::StatusOr<std::unique_ptr<MaskStream>> OpenOn(const ScriptedServer& server,
                                                            StreamOptions options = {}) {
    options.read_ahead = GetParam();
    if (options.logits_width == 0) options.logits_width = 32;
    auto client = Client::Connect({.address = server.address()});
    if (!client.ok()) return client.status();
    return (*client)->OpenStream(options);
  }
};

INSTANTIATE_TEST_SUITE_P(ReadAhead, MaskStreamTest, testing::Bool());

// One active row with a mask of one word: the step's number.
v1::DecodeResponse ReplyTo(const v1::Step& step) {
  v1::DecodeResponse response;
  response.mutable_step()->set_step(step.step());
  v1::RowReply& row = *response.mutable_step()->add_rows();
  row.set_row(step.rows(0).row());
  row.set_state(v1::ROW_STATE_ACTIVE);
  const auto word = static_cast<std::uint32_t>(step.step());
  row.add_positions()->set_dense(&word, sizeof(word));
  return response;
}

// Answers every step until the client half-closes.
grpc::Status Serve(ServerStream& stream) {
  Welcome(stream, 1);
  v1::DecodeRequest request;
  while (stream.Read(&request)) stream.Write(ReplyTo(request.step()));
  return grpc::Status::OK;
}

TEST_P(MaskStreamTest, SaysHelloAndKeepsTheWelcome) {
  v1::Hello hello;
  const ScriptedServer server({.decode = [&hello](ServerStream& stream) {
    hello = Welcome(stream, 4008);
    v1::DecodeRequest request;
    stream.Read(&request);
    return grpc::Status::OK;
  }});
  const auto stream =
      OpenOn(server, {.tokenizer = "llama3", .tokenizer_hash = "ab", .logits_width = 128'256});
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ((*stream)->welcome().mask_words(), 4008U);
  ASSERT_TRUE((*stream)->Close(kTimeout).ok());
  EXPECT_EQ(hello.protocol_version(), 1U);
  EXPECT_EQ(hello.tokenizer(), "llama3");
  EXPECT_EQ(hello.tokenizer_hash(), "ab");
  EXPECT_EQ(hello.logits_width(), 128'256U);
}

// What a client would make too large, or write past its end, by a welcome's word.
TEST_P(MaskStreamTest, AWelcomeThatWasNotAskedForIsInternal) {
  using Change = void (*)(v1::Welcome&);
  for (const Change change :
       {Change([](v1::Welcome& welcome) { welcome.set_mask_words(2); }),
        Change([](v1::Welcome& welcome) { welcome.set_mask_words(1U << 31); }),
        Change([](v1::Welcome& welcome) { welcome.mutable_tokenizer()->set_vocab_size(33); }),
        Change([](v1::Welcome& welcome) { welcome.mutable_tokenizer()->set_vocab_size(-1); }),
        Change([](v1::Welcome& welcome) { welcome.set_dictionary_size(257); })}) {
    const ScriptedServer server({.decode = [change](ServerStream& stream) {
      v1::DecodeRequest request;
      stream.Read(&request);
      v1::DecodeResponse response;
      response.mutable_welcome()->set_mask_words(1);
      change(*response.mutable_welcome());
      stream.Write(response);
      return grpc::Status::OK;
    }});
    EXPECT_TRUE(absl::IsInternal(OpenOn(server).status()));
  }
}

// A server from before there was shared memory refuses the field that it does not know.
TEST_P(MaskStreamTest, AsksAnOlderServerAgainWithoutSharedMemory) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    v1::DecodeRequest hello;
    stream.Read(&hello);
    if (hello.hello().shared_memory())
      return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "hello: field 9 is not known");
    v1::DecodeResponse welcome;
    welcome.mutable_welcome()->set_mask_words(1);
    stream.Write(welcome);
    return grpc::Status::OK;
  }});
  const auto stream = OpenOn(server, {.logits_width = 32, .shared_memory = true});
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_FALSE((*stream)->uses_shared_memory());
}

TEST_P(MaskStreamTest, ARefusedHelloIsTheErrorOfOpen) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    v1::DecodeRequest request;
    stream.Read(&request);
    google::rpc::ErrorInfo info;
    info.set_reason("WIDTH_TOO_SMALL");
    return ErrorWith(grpc::StatusCode::INVALID_ARGUMENT, "hello.logits_width: 5", info);
  }});
  const absl::Status status = OpenOn(server, {.logits_width = 5}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "hello.logits_width: 5");
  EXPECT_EQ(ErrorReason(status), "WIDTH_TOO_SMALL");
}

TEST_P(MaskStreamTest, SubmitAndCollectStepByStep) {
  const ScriptedServer server({.decode = Serve});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  StepResult result;
  for (int number = 1; number <= 5; ++number) {
    step.Clear();
    step.Take(7, {});
    const auto submitted = (*stream)->Submit(step);
    ASSERT_TRUE(submitted.ok()) << submitted.status();
    EXPECT_EQ(*submitted, static_cast<std::uint64_t>(number));
    ASSERT_TRUE((*stream)->Collect(kTimeout, result).ok());
    EXPECT_EQ(result.step(), *submitted);
    const RowResult* const row = result.Find(7);
    ASSERT_NE(row, nullptr);
    EXPECT_TRUE(row->has_mask());
    EXPECT_THAT(row->masks[0].words(), ElementsAre(number));
  }
  EXPECT_EQ((*stream)->in_flight(), 0);
  EXPECT_TRUE((*stream)->Close(kTimeout).ok());
}

TEST_P(MaskStreamTest, StepsMayBeSentBeforeRepliesAreRead) {
  const ScriptedServer server({.decode = Serve});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(1, {});
  for (int i = 0; i < MaskStream::kMaxInFlight; ++i) ASSERT_TRUE((*stream)->Submit(step).ok());
  EXPECT_EQ((*stream)->in_flight(), MaskStream::kMaxInFlight);
  EXPECT_TRUE(absl::IsFailedPrecondition((*stream)->Submit(step).status()));
  StepResult result;
  for (int i = 1; i <= MaskStream::kMaxInFlight; ++i) {
    ASSERT_TRUE((*stream)->Collect(kTimeout, result).ok());
    EXPECT_EQ(result.step(), static_cast<std::uint64_t>(i));
  }
}

TEST_P(MaskStreamTest, CollectWithoutAStepIsRefused) {
  const ScriptedServer server({.decode = Serve});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  StepResult result;
  EXPECT_TRUE(absl::IsFailedPrecondition((*stream)->Collect(kTimeout, result)));
}

TEST_P(MaskStreamTest, ALateReplyIsCollectedByALaterCall) {
  absl::Notification late;
  const ScriptedServer server({.decode = [&late](ServerStream& stream) {
    Welcome(stream, 1);
    v1::DecodeRequest request;
    while (stream.Read(&request)) {
      late.WaitForNotification();
      stream.Write(ReplyTo(request.step()));
    }
    return grpc::Status::OK;
  }});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(1, {});
  ASSERT_TRUE((*stream)->Submit(step).ok());
  StepResult result;
  EXPECT_TRUE(absl::IsDeadlineExceeded((*stream)->Collect(absl::Milliseconds(10), result)));
  EXPECT_EQ((*stream)->in_flight(), 1);
  EXPECT_GE((*stream)->waited(), absl::Milliseconds(9));
  late.Notify();
  EXPECT_TRUE((*stream)->Collect(kTimeout, result).ok());
  EXPECT_EQ(result.step(), 1U);
}

// What the engine's own time has hidden is no waiting.
TEST_P(MaskStreamTest, AReplyThatIsThereIsNotWaitedFor) {
  if (!GetParam()) return;  // nobody receives before Collect()
  const ScriptedServer server({.decode = Serve});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(1, {});
  StepResult result;
  // On a busy machine the reply may take longer than the engine does.
  absl::Duration waited = absl::InfiniteDuration();
  for (int i = 1; i <= 50 && waited > absl::ZeroDuration(); ++i) {
    ASSERT_TRUE((*stream)->Submit(step).ok());
    absl::SleepFor(i * absl::Milliseconds(20));
    ASSERT_TRUE((*stream)->Collect(kTimeout, result).ok());
    waited = (*stream)->waited();
  }
  EXPECT_EQ(waited, absl::ZeroDuration());
}

TEST_P(MaskStreamTest, AStreamThatSleepsAtOnceIsAnsweredToo) {
  const ScriptedServer server({.decode = Serve});
  const auto stream = OpenOn(server, {.awake = absl::ZeroDuration()});
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(1, {});
  StepResult result;
  ASSERT_TRUE((*stream)->Submit(step).ok());
  EXPECT_TRUE((*stream)->Collect(kTimeout, result).ok());
}

TEST_P(MaskStreamTest, AStepOverTheServersLimitIsNotSent) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    Welcome(stream, 1, /*max_step_bytes=*/100);
    v1::DecodeRequest request;
    while (stream.Read(&request)) stream.Write(ReplyTo(request.step()));
    return grpc::Status::OK;
  }});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  const std::vector<TokenId> tokens(200, 1);
  step.Take(1, tokens);
  const absl::Status status = (*stream)->Submit(step).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("max_step_bytes is 100"));
  step.Clear();
  step.Take(1, {});
  EXPECT_TRUE((*stream)->Submit(step).ok());
  StepResult result;
  EXPECT_TRUE((*stream)->Collect(kTimeout, result).ok());
}

TEST_P(MaskStreamTest, GoAwayIsKeptAndTheReplyStillCollected) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    Welcome(stream, 1);
    v1::DecodeRequest request;
    stream.Read(&request);
    v1::DecodeResponse go_away;
    go_away.mutable_go_away()->set_reason("draining");
    stream.Write(go_away);
    stream.Write(ReplyTo(request.step()));
    return grpc::Status::OK;
  }});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_FALSE((*stream)->go_away().has_value());
  Step step;
  step.Take(1, {});
  ASSERT_TRUE((*stream)->Submit(step).ok());
  StepResult result;
  ASSERT_TRUE((*stream)->Collect(kTimeout, result).ok());
  ASSERT_TRUE((*stream)->go_away().has_value());
  EXPECT_EQ((*stream)->go_away()->reason(), "draining");
}

TEST_P(MaskStreamTest, TheStreamsErrorIsGivenByEveryLaterCall) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    Welcome(stream, 1);
    v1::DecodeRequest request;
    stream.Read(&request);
    return grpc::Status(grpc::StatusCode::ABORTED, "step: 9 is neither the last nor the next");
  }});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(1, {});
  ASSERT_TRUE((*stream)->Submit(step).ok());
  StepResult result;
  const absl::Status status = (*stream)->Collect(kTimeout, result);
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_EQ((*stream)->Collect(kTimeout, result), status);
  EXPECT_EQ((*stream)->Submit(step).status(), status);
  EXPECT_EQ((*stream)->Close(kTimeout), status);
}

TEST_P(MaskStreamTest, AServerThatEndsTheStreamEarlyIsCancelled) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    Welcome(stream, 1);
    return grpc::Status::OK;
  }});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(1, {});
  StepResult result;
  // The end may be here before the step leaves, or after.
  const absl::Status submitted = (*stream)->Submit(step).status();
  EXPECT_TRUE(absl::IsCancelled(submitted.ok() ? (*stream)->Collect(kTimeout, result) : submitted));
}

TEST_P(MaskStreamTest, AReplyOutOfOrderIsInternal) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    Welcome(stream, 1);
    v1::DecodeRequest request;
    stream.Read(&request);
    request.mutable_step()->set_step(2);
    stream.Write(ReplyTo(request.step()));
    return grpc::Status::OK;
  }});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(1, {});
  ASSERT_TRUE((*stream)->Submit(step).ok());
  StepResult result;
  EXPECT_EQ((*stream)->Collect(kTimeout, result),
            absl::InternalError("the reply to step 1 was due, not 2"));
}

// Nor does it take memory or time without end.
TEST_P(MaskStreamTest, AServerThatSendsWhatNobodyAskedForIsInternal) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    Welcome(stream, 1);
    v1::DecodeRequest request;
    stream.Read(&request);
    while (stream.Write(ReplyTo(request.step()))) {
    }
    return grpc::Status::OK;
  }});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(1, {});
  StepResult result;
  absl::Status status;
  for (int i = 0; i < 3 && status.ok(); ++i) {
    status = (*stream)->Submit(step).status();
    if (status.ok()) status = (*stream)->Collect(kTimeout, result);
  }
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_TRUE(absl::IsInternal((*stream)->Close(kTimeout)));
}

TEST_P(MaskStreamTest, AMaskOfTheWrongSizeIsInternal) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    Welcome(stream, 2);
    v1::DecodeRequest request;
    stream.Read(&request);
    stream.Write(ReplyTo(request.step()));
    return grpc::Status::OK;
  }});
  const auto stream = OpenOn(server, {.logits_width = 64});
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(3, {});
  ASSERT_TRUE((*stream)->Submit(step).ok());
  StepResult result;
  EXPECT_EQ((*stream)->Collect(kTimeout, result),
            absl::InternalError("row 3: a mask of 4 bytes where 2 words are due"));
}

TEST_P(MaskStreamTest, ARowFormThatWasNotOfferedIsInternal) {
  const ScriptedServer server({.decode = [](ServerStream& stream) {
    Welcome(stream, 1);
    v1::DecodeRequest request;
    stream.Read(&request);
    v1::DecodeResponse response = ReplyTo(request.step());
    response.mutable_step()->mutable_rows(0)->mutable_positions(0)->set_same_as(1);
    stream.Write(response);
    return grpc::Status::OK;
  }});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(3, {});
  ASSERT_TRUE((*stream)->Submit(step).ok());
  StepResult result;
  EXPECT_TRUE(absl::IsInternal((*stream)->Collect(kTimeout, result)));
}

TEST_P(MaskStreamTest, AReplyWaitsForItsCollect) {
  const ScriptedServer server({.decode = Serve});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  StepResult result;
  for (int i = 1; i <= 200; ++i) {
    step.Take(1, {});
    ASSERT_TRUE((*stream)->Submit(step).ok());
    // With and without the reply at hand; now and then a second step behind the first.
    if (i % 3 == 0) absl::SleepFor(absl::Milliseconds(1));
    if (i % 5 == 0) ASSERT_TRUE((*stream)->Submit(step).ok());
    if (i % 7 == 0) (*stream)->Collect(absl::ZeroDuration(), result).IgnoreError();
    while ((*stream)->in_flight() > 0) ASSERT_TRUE((*stream)->Collect(kTimeout, result).ok());
    step.Clear();
  }
  EXPECT_EQ(result.step(), 240U);
  EXPECT_TRUE((*stream)->Close(kTimeout).ok());
}

TEST_P(MaskStreamTest, AStreamMayBeDroppedWithRepliesOnTheWay) {
  const ScriptedServer server({.decode = Serve});
  const auto stream = OpenOn(server);
  ASSERT_TRUE(stream.ok()) << stream.status();
  Step step;
  step.Take(1, {});
  ASSERT_TRUE((*stream)->Submit(step).ok());
  ASSERT_TRUE((*stream)->Submit(step).ok());
}

TEST_P(MaskStreamTest, NoServerIsUnavailable) {
  EXPECT_TRUE(
      absl::IsUnavailable(MaskStream::Open("unix:/nonexistent/maskd.sock", 1 << 20, {}).status()));
}

TEST_P(MaskStreamTest, AThreadThatCannotBeHadIsAnError) {
  const ScriptedServer server({.decode = Serve});
  const auto before = OpenOn(server);  // gRPC has its threads
  ASSERT_TRUE(before.ok()) << before.status();
  const auto client = Client::Connect({.address = server.address()});
  ASSERT_TRUE(client.ok()) << client.status();
  const service::NoThreads none;
  const absl::Status status =
      (*client)->OpenStream({.logits_width = 32, .read_ahead = GetParam()}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("the system has no thread"));
}

// What goes over the wire for each verb of a step.
TEST(Step, SaysEachVerbOnce) {
  Step step;
  const std::vector<TokenId> first = {5};
  const std::vector<TokenId> second = {6, 7};
  const std::vector<TokenId> stops = {2};
  step.Open(1, "abc", {.tokens = second, .stop_ids = stops})
      .Take(2, first)
      .Rollback(2, 3)
      .Take(2, second)
      .Fork(2, 4)
      .Close(9)
      .WaitForCompile(absl::Seconds(2));
  const v1::Step& message = step.message().step();
  ASSERT_EQ(message.open_size(), 1);
  EXPECT_EQ(message.open(0).grammar_id(), "abc");
  EXPECT_THAT(message.open(0).tokens(), ElementsAre(6, 7));
  EXPECT_THAT(message.open(0).stop_ids(), ElementsAre(2));
  ASSERT_EQ(message.rows_size(), 1);
  EXPECT_EQ(message.rows(0).rollback(), 3U);
  EXPECT_THAT(message.rows(0).tokens(), ElementsAre(5, 6, 7));
  EXPECT_EQ(message.fork(0).parent(), 2U);
  EXPECT_EQ(message.fork(0).child(), 4U);
  EXPECT_THAT(message.close(), ElementsAre(9));
  EXPECT_EQ(message.wait_for_compile_ms(), 2000U);
}

TEST(Step, ClearedIsEmptyAndReusable) {
  Step step;
  EXPECT_TRUE(step.empty());
  step.Take(2, {});
  EXPECT_FALSE(step.empty());
  step.Clear();
  EXPECT_TRUE(step.empty());
  step.Take(2, {});
  EXPECT_EQ(step.message().step().rows_size(), 1);
}

}  // namespace
}  // namespace maskd::client
