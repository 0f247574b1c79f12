// What a unary call is made of: messages from and to bytes, its queue, the names of methods.
#include "service/calls/call_work.h"

#include <memory>
#include <string>

#include <grpcpp/alarm.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include "maskd/v1/compile_service.pb.h"
#include "service/calls/event_queue.h"
#include "service/calls/raw_methods.h"

namespace maskd::service {
namespace {

grpc::ByteBuffer BytesOf(const std::string& text) {
  const grpc::Slice slice(text);
  return {&slice, 1};
}

class SomeCall final : public CallView {
 public:
  [[nodiscard]] const Caller& caller() const override { return caller_; }
  absl::Status CountReply(std::int64_t /*bytes*/) override { return absl::OkStatus(); }

 private:
  const Caller caller_;
};

TEST(CallWorkTest, AMessageComesBackFromItsBytes) {
  v1::CompileRequest request;
  request.set_tokenizer("llama3");
  grpc::ByteBuffer bytes;
  ASSERT_TRUE(WriteMessage(request, &bytes).ok());
  v1::CompileRequest read;
  ASSERT_TRUE(ReadMessage(&bytes, &read).ok());
  EXPECT_EQ(read.tokenizer(), "llama3");
  grpc::ByteBuffer empty = BytesOf("");
  EXPECT_TRUE(ReadMessage(&empty, &read).ok()) << "all is absent";
  EXPECT_EQ(read.tokenizer(), "");
}

TEST(CallWorkTest, BytesOfNoMessageAreTheCallersFault) {
  for (const char* text : {"\xff",
                           "\x0a\x05"
                           "abc",
                           "\x0b"}) {
    grpc::ByteBuffer bytes = BytesOf(text);
    v1::CompileRequest request;
    EXPECT_TRUE(absl::IsInvalidArgument(ReadMessage(&bytes, &request))) << text;
  }
}

TEST(CallWorkTest, WorkThatWaitsForNothingAnswersWhatItRead) {
  const auto run = [](const v1::CompileRequest& request, CallView& /*call*/,
                      v1::CompileResponse* response) {
    response->set_grammar_id(request.grammar_id());
    return request.grammar_id().empty() ? absl::NotFoundError("none") : absl::OkStatus();
  };
  for (const char* id : {"abc", ""}) {
    SomeCall call;
    WorkAtOnce<v1::CompileRequest, v1::CompileResponse, decltype(run)> work(&run);
    v1::CompileRequest request;
    request.set_grammar_id(id);
    grpc::ByteBuffer bytes;
    ASSERT_TRUE(WriteMessage(request, &bytes).ok());
    ASSERT_TRUE(work.Begin(call, &bytes).ok());
    EXPECT_EQ(work.awaited(), nullptr);
    const absl::Status status = work.Answer(call, absl::OkStatus(), &bytes);
    EXPECT_EQ(status.ok(), *id != 0) << status;
    if (!status.ok()) continue;
    v1::CompileResponse response;
    ASSERT_TRUE(ReadMessage(&bytes, &response).ok());
    EXPECT_EQ(response.grammar_id(), id);
  }
}

TEST(EventQueueTest, GivesItsEventsAndEnds) {
  const std::unique_ptr<grpc::CompletionQueue> queue = MakeEventQueue();
  grpc::Alarm alarm;
  int tag = 0;
  alarm.Set(queue.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), &tag);
  void* came = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue->Next(&came, &ok));
  EXPECT_EQ(came, &tag);
  EXPECT_TRUE(ok);
  queue->Shutdown();
  EXPECT_FALSE(queue->Next(&came, &ok));
}

TEST(RawMethodsTest, AreNumberedAsTheyCome) {
  RawMethods methods;
  EXPECT_EQ(methods.Add("/maskd.v1.Some/One"), 0);
  EXPECT_EQ(methods.Add("/maskd.v1.Other/Two"), 1);
  EXPECT_EQ(methods.count(), 2);
}

}  // namespace
}  // namespace maskd::service
