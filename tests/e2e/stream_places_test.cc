// Who has a place among the streams, and for how long.

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

constexpr std::int64_t kHour = 3'600'000;

TEST(StreamPlacesTest, CallsThatSayNothingHoldNoPlace) {
  Config config;
  config.hello_ms = kHour;
  config.max_streams = 2;
  const RunningServer running(config);
  std::vector<std::unique_ptr<TestStream>> silent;
  for (int i = 0; i < 64; ++i) silent.push_back(std::make_unique<TestStream>(running.channel()));
  running.ExpectServes();
  running.server().Drain();  // they do not hold it up
  for (const auto& stream : silent)
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST(StreamPlacesTest, AHelloThatDoesNotComeEndsTheStream) {
  Config config;
  config.hello_ms = 20;
  const RunningServer running(config);
  TestStream silent(running.channel());
  v1::DecodeResponse response;
  EXPECT_FALSE(silent.Read(&response));
  const grpc::Status status = silent.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << status.error_message();
  EXPECT_EQ(status.error_message(), "hello: limit hello_ms is 20");
}

class IdleTest : public testing::TestWithParam<Via> {};

INSTANTIATE_TEST_SUITE_P(Transports, IdleTest, testing::Values(Via::kGrpc, Via::kMemory),
                         [](const auto& test) { return NameOf(test.param); });

// However much time there was for its hello.
TEST_P(IdleTest, AStreamThatSendsNothingEnds) {
  Config config;
  config.hello_ms = 3'600'000;
  config.idle_ms = 50;
  const RunningServer running(config);
  TestStream stream(running.channel(), running.memory_at(GetParam()));
  stream.Greet();
  v1::DecodeResponse response;
  EXPECT_FALSE(stream.Read(&response));
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
}

// The hello is read when the stream has ended, whose places are gone: the server lives.
TEST_P(IdleTest, AHelloThatComesAsItsTimeEndsIsNoHarm) {
  Config config;
  config.hello_ms = 1;
  const RunningServer running(config);
  for (int tries = 0; tries < 400; ++tries) {
    TestStream stream(running.channel(), running.memory_at(GetParam()));
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 3 * tries));
    v1::DecodeRequest request;
    request.mutable_hello()->set_logits_width(257);
    v1::DecodeResponse response;
    if (stream.Send(request)) stream.Read(&response);
  }
}

TEST_P(IdleTest, ByDefaultAStreamMayBeIdle) {
  Config config;
  config.hello_ms = 1;  // the timer that would end it comes at once
  const RunningServer running(config);
  for (int tries = 0; tries < 1000; ++tries) {
    TestStream stream(running.channel(), running.memory_at(GetParam()));
    v1::DecodeRequest request;
    request.mutable_hello()->set_logits_width(257);
    v1::DecodeResponse response;
    if (!stream.Send(request) || !stream.Read(&response)) continue;  // it was too slow
    for (int i = 0; i < 50; ++i) stream.Run(v1::Step());
    EXPECT_TRUE(stream.Finish().ok());
    return;
  }
  FAIL() << "no hello within a millisecond";
}

TEST(StreamPlacesTest, OnePeerHasItsShareOfStreams) {
  Config config;
  config.max_peer_streams = 1;
  const RunningServer running(config);
  TestStream first(running.channel());
  first.Greet();
  TestStream second(running.channel());
  v1::DecodeRequest hello;
  hello.mutable_hello()->set_logits_width(257);
  EXPECT_TRUE(second.Send(hello));
  EXPECT_EQ(second.Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  ExpectServes(ConnectTo("127.0.0.1:" + std::to_string(running.server().ports()[1])));
  EXPECT_TRUE(first.Finish().ok());
  running.ExpectServes();
}

}  // namespace
}  // namespace maskd::service
