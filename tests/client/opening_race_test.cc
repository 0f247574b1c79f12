#include "client/cpp/failover/opening_race.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <gtest/gtest.h>

#include "client/cpp/base/steady_time.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);

std::unique_ptr<MaskStream::Opening> BeginCall(const std::string& address) {
  return std::make_unique<MaskStream::Opening>(
      address, 4 << 20, StreamOptions{.logits_width = 32, .open_timeout = kPatience});
}

// Answers the hello and waits for the client's end.
grpc::Status Greet(ServerStream& stream) {
  v1::DecodeRequest request;
  stream.Read(&request);
  v1::DecodeResponse response;
  v1::Welcome& welcome = *response.mutable_welcome();
  welcome.set_mask_words(1);
  welcome.mutable_tokenizer()->set_vocab_size(32);
  stream.Write(response);
  stream.Read(&request);
  return grpc::Status::OK;
}

// Reads the hello and says nothing until the client has gone.
grpc::Status Ignore(ServerStream& stream) {
  v1::DecodeRequest request;
  while (stream.Read(&request)) {
  }
  return grpc::Status::OK;
}

TEST(OpeningRaceTest, EachServerThatIsNotThereIsTold) {
  OpeningRace race({"unix:/no/such/a", "unix:/no/such/b"}, &BeginCall);
  for (const std::string address : {"unix:/no/such/a", "unix:/no/such/b"}) {
    EXPECT_FALSE(race.is_over());
    const auto attempt = race.Next(SteadyTime::Now() + kPatience);
    ASSERT_TRUE(attempt.has_value());
    EXPECT_EQ(attempt->address, address);
    EXPECT_EQ(attempt->stream.status().code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(race.is_over());
  EXPECT_FALSE(race.Next(SteadyTime::Now() + kPatience).has_value());
}

TEST(OpeningRaceTest, ASilentServerIsNotWaitedFor) {
  const ScriptedServer silent({.decode = &Ignore}, ".race_silent");
  const ScriptedServer other({.decode = &Greet}, ".race_other");
  OpeningRace race({silent.address(), other.address()}, &BeginCall);
  const auto attempt = race.Next(SteadyTime::Now() + kPatience);
  ASSERT_TRUE(attempt.has_value());
  EXPECT_EQ(attempt->address, other.address());
  EXPECT_TRUE(attempt->stream.ok()) << attempt->stream.status();
  EXPECT_FALSE(race.is_over()) << "the first one has not answered";
}

TEST(OpeningRaceTest, NobodyAnswersBeforeTheDeadline) {
  const ScriptedServer silent({.decode = &Ignore}, ".race_silent");
  OpeningRace race({silent.address()}, &BeginCall);
  EXPECT_FALSE(race.Next(SteadyTime::Now() + absl::Milliseconds(20)).has_value());
  EXPECT_FALSE(race.is_over());
}

}  // namespace
}  // namespace maskd::client
