// Which way a stream's steps go: through shared memory where both sides can, over gRPC otherwise.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/memory_call.h"
#include "client/cpp/client.h"
#include "client/cpp/connect/socket_path.h"
#include "ring/handover.h"
#include "service/process/server.h"

namespace maskd::client {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(20);
constexpr std::uint32_t kWidth = 320;
constexpr TokenId kA = 'a';

std::string Socket() {
  return (std::filesystem::temp_directory_path() / absl::StrCat("maskd_transport.", getpid(), ".s"))
      .string();
}

std::unique_ptr<service::Server> Serve(bool shared_memory = true) {
  service::Config config;
  config.listen = {absl::StrCat("unix:", Socket())};
  config.insecure_listen = {"127.0.0.1:0"};
  config.metrics_listen.clear();
  config.shared_memory = shared_memory;
  auto server = service::Server::Start(config);
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

std::unique_ptr<MaskStream> OpenAt(const std::string& address, StreamOptions options) {
  options.logits_width = kWidth;
  options.shared_memory = true;
  const auto client = Client::Connect({.address = address});
  EXPECT_TRUE(client.ok()) << client.status();
  auto stream = (*client)->OpenStream(options);
  EXPECT_TRUE(stream.ok()) << stream.status();
  return *std::move(stream);
}

// Opens rows 1 to `rows` and asks for all of them `steps` times.
void Use(MaskStream& stream, int rows, int steps) {
  v1::Grammar grammar;
  grammar.set_kind("regex");
  grammar.set_source("[a-z]{1,200}");
  Step step;
  for (int row = 1; row <= rows; ++row) step.Open(static_cast<RowId>(row), grammar);
  step.WaitForCompile(kTimeout);
  StepResult result;
  for (int i = 0; i < steps; ++i) {
    ASSERT_TRUE(stream.Submit(step).ok());
    const absl::Status collected = stream.Collect(kTimeout, result);
    ASSERT_TRUE(collected.ok()) << collected;
    ASSERT_EQ(result.rows().size(), static_cast<std::size_t>(rows));
    step.Clear();
    for (const RowResult& row : result.rows()) {
      ASSERT_TRUE(row.error.ok()) << row.error;
      step.Take(row.row, {&kA, 1});
    }
  }
}

TEST(TransportTest, IsSharedMemoryWhereBothCan) {
  const auto server = Serve();
  for (const char* prefix : {"unix:", "unix://"}) {
    const auto stream = OpenAt(absl::StrCat(prefix, Socket()), {});
    EXPECT_TRUE(stream->uses_shared_memory());
    EXPECT_FALSE(stream->welcome().has_shared_memory()) << "the token is spent";
    Use(*stream, 8, 100);
    EXPECT_TRUE(stream->Close(kTimeout).ok());
  }
}

TEST(TransportTest, IsGrpcWhereTheServerLendsNone) {
  const auto server = Serve(/*shared_memory=*/false);
  const auto stream = OpenAt(absl::StrCat("unix:", Socket()), {});
  EXPECT_FALSE(stream->uses_shared_memory());
  Use(*stream, 1, 5);
  EXPECT_TRUE(stream->Close(kTimeout).ok());
}

TEST(TransportTest, IsGrpcWhereTheSecondSocketCannotBeReached) {
  const auto server = Serve();
  std::filesystem::remove(Socket() + ring::kSocketSuffix);
  const auto stream = OpenAt(absl::StrCat("unix:", Socket()), {});
  EXPECT_FALSE(stream->uses_shared_memory());
  Use(*stream, 1, 5);
  EXPECT_TRUE(stream->Close(kTimeout).ok());
}

TEST(TransportTest, IsGrpcOverTcp) {
  const auto server = Serve();
  for (const char* host : {"127.0.0.1:", "dns:///localhost:"}) {
    const auto stream = OpenAt(absl::StrCat(host, server->ports()[1]), {});
    EXPECT_FALSE(stream->uses_shared_memory());
    Use(*stream, 1, 5);
    EXPECT_TRUE(stream->Close(kTimeout).ok());
  }
}

TEST(TransportTest, RepliesAreReadAheadFromSharedMemoryToo) {
  const auto server = Serve();
  const auto stream = OpenAt(absl::StrCat("unix:", Socket()), {.read_ahead = true});
  EXPECT_TRUE(stream->uses_shared_memory());
  Use(*stream, 8, 100);
  // A reply that has been read is handed over without a wait.
  Step step;
  StepResult result;
  // On a busy machine the reply may take longer than the engine does.
  absl::Duration waited = absl::InfiniteDuration();
  for (int i = 1; i <= 50 && waited > absl::ZeroDuration(); ++i) {
    ASSERT_TRUE(stream->Submit(step).ok());
    absl::SleepFor(i * absl::Milliseconds(20));
    ASSERT_TRUE(stream->Collect(kTimeout, result).ok());
    waited = stream->waited();
  }
  EXPECT_EQ(waited, absl::ZeroDuration());
  EXPECT_TRUE(stream->Close(kTimeout).ok());
}

TEST(TransportTest, CollectKeepsItsDeadline) {
  const auto server = Serve();
  const auto stream = OpenAt(absl::StrCat("unix:", Socket()), {});
  v1::Grammar slow;
  slow.set_kind("regex");
  slow.set_source("[ab]*a[ab]{18}c(x|y){1,900}");
  Step step;
  step.Open(1, slow).WaitForCompile(absl::Milliseconds(300));
  ASSERT_TRUE(stream->Submit(step).ok());
  StepResult result;
  absl::Status collected = stream->Collect(absl::Microseconds(1), result);
  if (!collected.ok()) {
    EXPECT_TRUE(absl::IsDeadlineExceeded(collected)) << collected;
    collected = stream->Collect(kTimeout, result);
  }
  EXPECT_TRUE(collected.ok()) << "it may still be collected: " << collected;
}

// More than the server's ring holds, while nobody reads: replies are kept meanwhile.
TEST(TransportTest, StepsInFlightMayBeMoreThanTheRingsHold) {
  const auto server = Serve();
  const auto stream = OpenAt(absl::StrCat("unix:", Socket()), {.short_forms = false});
  constexpr int kRows = 4000;
  Use(*stream, kRows, 2);
  Step step;
  for (int row = 1; row <= kRows; ++row) step.Take(static_cast<RowId>(row), {&kA, 1});
  for (int i = 0; i < MaskStream::kMaxInFlight; ++i) {
    const auto sent = stream->Submit(step);
    ASSERT_TRUE(sent.ok()) << sent.status();
  }
  StepResult result;
  for (int i = 0; i < MaskStream::kMaxInFlight; ++i) {
    const absl::Status collected = stream->Collect(kTimeout, result);
    ASSERT_TRUE(collected.ok()) << collected;
    ASSERT_EQ(result.rows().size(), kRows);
    ASSERT_EQ(result.rows()[0].token_count, static_cast<std::uint32_t>(i) + 2);
  }
  EXPECT_TRUE(stream->Close(kTimeout).ok());
}

// With replies that nobody has collected in the ring, and steps that nobody has answered.
TEST(TransportTest, AStreamMayBeClosedWithStepsInFlight) {
  const auto server = Serve();
  for (int in_flight : {1, 10, MaskStream::kMaxInFlight}) {
    const auto stream = OpenAt(absl::StrCat("unix:", Socket()), {.short_forms = false});
    Use(*stream, 2000, 1);
    Step step;
    for (int row = 1; row <= 2000; ++row) step.Take(static_cast<RowId>(row), {&kA, 1});
    for (int i = 0; i < in_flight; ++i) ASSERT_TRUE(stream->Submit(step).ok());
    const absl::Status closed = stream->Close(kTimeout);
    EXPECT_TRUE(closed.ok()) << closed;
  }
}

TEST(FetchMemoryTest, TheSecondSocketIsBesideTheFirst) {
  const std::string address = absl::StrCat("unix:", Socket());
  v1::SharedMemory offer;
  offer.set_token(std::string(ring::kTokenBytes, 't'));
  for (const std::string& suffix : {std::string(), std::string("/"), std::string("/../other.sock"),
                                    std::string("x/y"), std::string("x\0y", 3)}) {
    offer.set_socket_suffix(suffix);
    const auto memory = FetchMemory(address, offer, SteadyTime::Now() + kTimeout);
    EXPECT_TRUE(absl::IsInternal(memory.status())) << suffix << ": " << memory.status();
  }
  offer.set_socket_suffix(ring::kSocketSuffix);
  const auto nobody = FetchMemory(address, offer, SteadyTime::Now() + kTimeout);
  EXPECT_TRUE(absl::IsUnavailable(nobody.status())) << nobody.status();
}

TEST(SocketPathTest, IsWhatGrpcMakesOfTheAddress) {
  EXPECT_EQ(SocketPathOf("unix:/a/b"), "/a/b");
  EXPECT_EQ(SocketPathOf("unix:///a/b"), "/a/b");
  EXPECT_EQ(SocketPathOf("unix:b"), "b");
  EXPECT_EQ(SocketPathOf("unix-abstract:b"), std::nullopt);
  EXPECT_EQ(SocketPathOf("localhost:7411"), std::nullopt);
}

}  // namespace
}  // namespace maskd::client
