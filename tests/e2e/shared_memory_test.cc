// Shared memory as a client may use and misuse it: who is offered some, and what comes of writing
// into it what one likes. What streams do through it otherwise is tested with those over gRPC.

#include "ring/shared_memory.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/channel.h"
#include "ring/doorbell.h"
#include "ring/handover.h"
#include "ring/unique_fd.h"
#include "service/streams/memory_offers.h"
#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

constexpr absl::Duration kMostWait = absl::Seconds(30);

v1::DecodeRequest AskingHello(std::uint32_t width = 257) {
  v1::DecodeRequest hello;
  hello.mutable_hello()->set_logits_width(width);
  hello.mutable_hello()->set_shared_memory(true);
  return hello;
}

// Says hello, asking for memory.
v1::Welcome Ask(TestStream* stream, std::uint32_t width = 257) {
  EXPECT_TRUE(stream->Send(AskingHello(width)));
  v1::DecodeResponse response;
  EXPECT_TRUE(stream->Read(&response));
  return response.welcome();
}

ring::RingSizes SizesOf(const v1::SharedMemory& offer) {
  return {.to_server = offer.to_server_bytes(), .to_client = offer.to_client_bytes()};
}

absl::StatusOr<ring::UniqueFd> FetchFrom(const RunningServer& running,
                                         const v1::SharedMemory& offer) {
  return ring::Fetch(running.memory_at(Via::kMemory) + offer.socket_suffix(), offer.token(),
                     kMostWait);
}

absl::StatusOr<ring::SharedMemory> MapFrom(const RunningServer& running,
                                           const v1::SharedMemory& offer) {
  auto fd = FetchFrom(running, offer);
  if (!fd.ok()) return fd.status();
  return ring::SharedMemory::Map(*std::move(fd), SizesOf(offer));
}

std::string RowStep(std::uint64_t number) {
  v1::DecodeRequest request;
  request.mutable_step()->set_step(number);
  request.mutable_step()->add_rows()->set_row(1);
  return request.SerializeAsString();
}

TEST(MemoryOfferTest, ComesToWhoAsksOverAUnixSocketAlone) {
  const RunningServer running;
  TestStream asks(running.channel());
  const v1::SharedMemory offer = Ask(&asks).shared_memory();
  EXPECT_EQ(offer.socket_suffix(), ".ring");
  EXPECT_EQ(offer.token().size(), 32U);
  TestStream asks_not(running.channel());
  EXPECT_FALSE(asks_not.Greet().has_shared_memory());
  TestStream remote(ConnectTo(absl::StrCat("127.0.0.1:", running.server().ports()[1])));
  EXPECT_FALSE(Ask(&remote).has_shared_memory());
  remote.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
}

TEST(MemoryOfferTest, CanBeTurnedOff) {
  Config config;
  config.shared_memory = false;
  const RunningServer running(config);
  TestStream stream(running.channel());
  EXPECT_FALSE(Ask(&stream).has_shared_memory());
  EXPECT_NE(access((running.memory_at(Via::kMemory) + ring::kSocketSuffix).c_str(), F_OK), 0);
}

TEST(MemoryOfferTest, IsGoodOnceAndForItsStreamAlone) {
  const RunningServer running;
  TestStream stream(running.channel());
  const v1::SharedMemory offer = Ask(&stream).shared_memory();
  v1::SharedMemory guess = offer;
  guess.mutable_token()->back() ^= 1;
  EXPECT_TRUE(absl::IsUnavailable(FetchFrom(running, guess).status()));
  EXPECT_TRUE(FetchFrom(running, offer).ok());
  EXPECT_TRUE(absl::IsUnavailable(FetchFrom(running, offer).status()));
}

TEST(MemoryOfferTest, IsRefusedByAStepOverGrpc) {
  const RunningServer running;
  TestStream stream(running.channel());
  const v1::SharedMemory offer = Ask(&stream).shared_memory();
  stream.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
  EXPECT_TRUE(absl::IsUnavailable(FetchFrom(running, offer).status()));
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(MemoryOfferTest, EndsWithItsStream) {
  const RunningServer running;
  v1::SharedMemory offer;
  {
    TestStream stream(running.channel());
    offer = Ask(&stream).shared_memory();
    EXPECT_TRUE(stream.Finish().ok());
  }
  EXPECT_TRUE(absl::IsUnavailable(FetchFrom(running, offer).status()));
}

// A reply of 2.5 MB through a ring of 1 MiB, and a step of 400 KiB through one of 256 KiB.
TEST(MemoryStreamTest, MessagesMayBeLargerThanTheRing) {
  const RunningServer running;
  TestStream stream(running.channel(), running.memory_at(Via::kMemory));
  Ask(&stream, /*width=*/257 + 65'536);
  ASSERT_TRUE(stream.uses_memory());
  constexpr int kDrafts = 300;
  const std::string list = absl::StrCat("[\"", std::string(400 << 10, 'a'), "\"]");
  v1::Step step = OpeningStep(OpenOf(1, "choice", list));
  v1::RowUpdate& update = *step.add_rows();
  update.set_row(1);
  for (int i = 0; i < kDrafts; ++i) update.mutable_drafts()->add_tokens('a');
  const v1::StepReply reply = stream.Run(step);
  ASSERT_EQ(reply.rows(0).state(), v1::ROW_STATE_ACTIVE) << reply.rows(0).error().message();
  ASSERT_EQ(reply.rows(0).positions_size(), 1 + kDrafts);
  const v1::Position& last = reply.rows(0).positions(kDrafts);
  EXPECT_EQ(last.dense().size(), std::size_t{8228});
  EXPECT_TRUE(Allows(last, 'a'));
  EXPECT_FALSE(Allows(last, 'b'));
  EXPECT_TRUE(stream.Finish().ok());
}

// Pages of memory that a descriptor keeps.
std::int64_t BytesBehind(const ring::UniqueFd& fd) {
  struct stat file = {};
  EXPECT_EQ(fstat(fd.get(), &file), 0);
  return std::int64_t{512} * file.st_blocks;
}

// Takes the memory and runs one step, whose reply stays unread.
struct KeptStream {
  explicit KeptStream(const RunningServer& running) : stream(running.channel()) {
    const v1::SharedMemory offer = Ask(&stream).shared_memory();
    auto fetched = FetchFrom(running, offer);
    EXPECT_TRUE(fetched.ok()) << fetched.status();
    fd = ring::UniqueFd(dup(fetched->get()));
    auto memory = ring::SharedMemory::Map(*std::move(fetched), SizesOf(offer));
    EXPECT_TRUE(memory.ok()) << memory.status();
    channel = std::make_unique<ring::Channel>(*std::move(memory), ring::Side::kClient, 1 << 20);
  }

  void Send(const std::string& step) {
    channel->StartWrite(step);
    EXPECT_TRUE(*channel->ContinueWrite());
  }

  bool Receive() {
    for (const absl::Time end = absl::Now() + kMostWait; absl::Now() < end;) {
      const auto message = channel->TryRead();
      if (!message.ok()) return false;
      if (message->has_value()) return true;
      if (!channel->Sleep(ring::kBytes, absl::Milliseconds(10)).ok()) return false;
    }
    return false;
  }

  TestStream stream;
  ring::UniqueFd fd;
  std::unique_ptr<ring::Channel> channel;
};

// The client keeps every descriptor; the server's pages go back with the stream.
TEST(EndedMemoryTest, IsGivenBackWhateverTheClientKeeps) {
  const RunningServer running;
  const std::int64_t before = ring::SharedMemory::alive_bytes();
  std::vector<ring::UniqueFd> kept;
  std::int64_t most = 0;
  for (int i = 0; i < 200; ++i) {
    KeptStream one(running);
    one.Send(RowStep(1));
    EXPECT_TRUE(one.Receive());
    most = std::max(most, BytesBehind(one.fd));
    EXPECT_TRUE(one.stream.Finish().ok());
    kept.push_back(std::move(one.fd));
  }
  EXPECT_GE(most, 3 * 4096);
  std::int64_t bytes = 0;
  for (const ring::UniqueFd& fd : kept) bytes += BytesBehind(fd);
  EXPECT_LE(bytes, std::int64_t{MemoryOffers::kMaxEnded} * 4096);
  EXPECT_LE(ring::SharedMemory::alive_bytes() - before,
            std::int64_t{MemoryOffers::kMaxEnded} * 4096);
}

TEST(EndedMemoryTest, ItsLastRepliesCanBeRead) {
  const RunningServer running;
  KeptStream one(running);
  for (std::uint64_t step = 1; step <= 3; ++step) one.Send(RowStep(step));
  EXPECT_TRUE(one.stream.Finish().ok());
  for (int reply = 0; reply < 3; ++reply) EXPECT_TRUE(one.Receive()) << reply;
}

// A stream that its client has left takes no place.
TEST(MemoryStreamTest, EndsWithItsClient) {
  Config config;
  config.max_streams = 1;
  const RunningServer running(config);
  for (int i = 0; i < 5; ++i) {
    bool opened = false;
    for (const absl::Time end = absl::Now() + kMostWait; !opened && absl::Now() < end;) {
      TestStream stream(running.channel(), running.memory_at(Via::kMemory));
      stream.Send(AskingHello());
      v1::DecodeResponse response;
      opened = stream.Read(&response);
      if (opened) stream.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
    }
    ASSERT_TRUE(opened) << i;
  }
}

// A client's own end of the memory, on a stream with row 1 open.
class RawMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    stream_ = std::make_unique<TestStream>(running_.channel());
    auto memory = MapFrom(running_, Ask(stream_.get()).shared_memory());
    ASSERT_TRUE(memory.ok()) << memory.status();
    channel_ = std::make_unique<ring::Channel>(*std::move(memory), ring::Side::kClient, 64 << 20);
    v1::DecodeRequest open;
    *open.mutable_step() = OpeningStep(OpenOf(1, "choice", R"(["abc"])"));
    open.mutable_step()->set_step(1);
    const std::string bytes = open.SerializeAsString();
    channel_->StartWrite(bytes);
    ASSERT_TRUE(*channel_->ContinueWrite());
    v1::DecodeResponse reply;
    ASSERT_TRUE(Receive(&reply));
    ASSERT_EQ(reply.step().rows(0).state(), v1::ROW_STATE_ACTIVE);
  }

  bool Receive(v1::DecodeResponse* reply) {
    for (const absl::Time end = absl::Now() + kMostWait; absl::Now() < end;) {
      const auto message = channel_->TryRead();
      if (!message.ok()) return false;
      if (message->has_value()) return reply->ParseFromString(std::string(**message));
      if (!channel_->Sleep(ring::kBytes, end - absl::Now()).ok()) return false;
    }
    return false;
  }

  // Sends steps until the server takes no more for half a second; the last may be on its way.
  std::uint64_t FillUp() {
    for (std::uint64_t step = 2;; ++step) {
      pending_ = RowStep(step);
      channel_->StartWrite(pending_);
      for (int quiet = 0; !*channel_->ContinueWrite(); ++quiet) {
        if (quiet == 5) return step;
        EXPECT_TRUE(channel_->Sleep(ring::kRoom, absl::Milliseconds(100)).ok());
      }
    }
  }

  RunningServer running_;
  std::unique_ptr<TestStream> stream_;
  std::unique_ptr<ring::Channel> channel_;
  std::string pending_;
};

TEST_F(RawMemoryTest, AStepOverGrpcEndsIt) {
  v1::DecodeRequest request;
  request.ParseFromString(RowStep(2));
  stream_->Send(request);
  const grpc::Status status = stream_->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("shared memory"));
}

TEST_F(RawMemoryTest, AClientThatDoesNotReadIsNotReadFromUntilItReads) {
  const std::uint64_t last = FillUp();
  running_.ExpectServes();
  bool sent = false;
  for (std::uint64_t step = 2; step <= last; ++step) {
    v1::DecodeResponse reply;
    ASSERT_TRUE(Receive(&reply));
    ASSERT_EQ(reply.step().step(), step);
    if (!sent) sent = *channel_->ContinueWrite();
  }
  EXPECT_TRUE(sent);
  EXPECT_TRUE(stream_->Finish().ok());
}

TEST(SlowMemoryReaderTest, DoesNotHoldUpTheEndOfTheServer) {
  Config config;
  config.drain_ms = 300;
  RunningServer running(config);
  TestStream stream(running.channel());
  auto memory = MapFrom(running, Ask(&stream).shared_memory());
  ASSERT_TRUE(memory.ok()) << memory.status();
  ring::Channel channel(*std::move(memory), ring::Side::kClient, 1 << 20);
  std::string step;
  for (std::uint64_t number = 1, quiet = 0; quiet < 5; ++number) {
    step = RowStep(number);
    channel.StartWrite(step);
    for (quiet = 0; quiet < 5 && !*channel.ContinueWrite(); ++quiet)
      ASSERT_TRUE(channel.Sleep(ring::kRoom, absl::Milliseconds(100)).ok());
  }
  running.server().Drain();  // which does end
  EXPECT_FALSE(stream.Finish().ok());
}

struct BadWordsCase {
  const char* name;
  std::function<void(const ring::SharedMemory& memory)> write;
  grpc::StatusCode code;
  const char* says;
};

class BadMemoryTest : public testing::TestWithParam<BadWordsCase> {};

TEST_P(BadMemoryTest, EndsItsStreamAndNoOther) {
  const RunningServer running;
  TestStream good(running.channel(), running.memory_at(Via::kMemory));
  good.Greet();
  good.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
  TestStream bad(running.channel());
  const auto memory = MapFrom(running, Ask(&bad).shared_memory());
  ASSERT_TRUE(memory.ok()) << memory.status();
  std::atomic<bool> over = false;
  std::thread writing([&] {
    while (!over) {
      GetParam().write(*memory);
      ring::Wake(&memory->words().server_bell);
    }
  });
  v1::DecodeResponse none;
  while (bad.Read(&none)) {
  }
  over = true;
  writing.join();
  const grpc::Status status = bad.Finish();
  EXPECT_EQ(status.error_code(), GetParam().code) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr(GetParam().says));
  v1::Step step;
  step.add_rows()->set_row(1);
  EXPECT_EQ(good.Run(step).rows(0).state(), v1::ROW_STATE_ACTIVE);
  EXPECT_TRUE(good.Finish().ok());
}

INSTANTIATE_TEST_SUITE_P(
    Words, BadMemoryTest,
    testing::ValuesIn(std::vector<BadWordsCase>{
        {"MoreThanTheRingHolds",
         [](const ring::SharedMemory& memory) { memory.words().to_server.written = 1U << 31; },
         grpc::StatusCode::DATA_LOSS, "cannot be"},
        {"ReadBeforeItWasWritten",
         [](const ring::SharedMemory& memory) {
           const std::string step = RowStep(1);
           memory.to_server()[0] = static_cast<std::uint8_t>(step.size());
           std::ranges::copy(step, memory.to_server().begin() + 4);
           memory.words().to_client.read = 5;
           memory.words().to_server.written = static_cast<std::uint32_t>(4 + step.size());
         },
         grpc::StatusCode::DATA_LOSS, "cannot be"},
        {"ALengthAboveTheLimit",
         [](const ring::SharedMemory& memory) {
           memory.to_server()[3] = 0x7F;
           memory.words().to_server.written = 4;
         },
         grpc::StatusCode::RESOURCE_EXHAUSTED, "larger than max"},
        {"NoMessage",
         [](const ring::SharedMemory& memory) {
           memory.to_server()[0] = 3;
           memory.to_server()[4] = 0xFF;
           memory.words().to_server.written = 7;
         },
         grpc::StatusCode::INVALID_ARGUMENT, "no DecodeRequest"},
        {"RingsForNothing", [](const ring::SharedMemory&) {}, grpc::StatusCode::DATA_LOSS,
         "rings for nothing"},
    }),
    [](const auto& test) { return test.param.name; });

// Random bytes all over the memory, while a step is under way and others are answered.
TEST(HostileMemoryTest, RandomScribblesHurtNobodyElse) {
  const RunningServer running;
  TestStream good(running.channel(), running.memory_at(Via::kMemory));
  good.Greet();
  good.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
  const std::string valid = RowStep(1);
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    TestStream bad(running.channel());
    const auto memory = MapFrom(running, Ask(&bad).shared_memory());
    ASSERT_TRUE(memory.ok()) << memory.status();
    std::uint32_t written = 0;
    for (int turn = 0; turn < 20; ++turn) {
      const auto ring = memory->to_server();
      ring[written % ring.size()] = static_cast<std::uint8_t>(valid.size());
      for (std::size_t i = 1; i < 4; ++i) ring[(written + i) % ring.size()] = 0;
      for (std::size_t i = 0; i < valid.size(); ++i) {
        const bool scribble = random() % 8 == 0;
        ring[(written + 4 + i) % ring.size()] =
            static_cast<std::uint8_t>(scribble ? random() : valid[i]);
      }
      written += random() % 32 == 0 ? random() : 4 + static_cast<std::uint32_t>(valid.size());
      memory->words().to_server.written = written;
      if (random() % 32 == 0) memory->words().to_client.read = random();
      if (random() % 8 == 0) memory->words().server_bell = random();
      ring::Wake(&memory->words().server_bell);
    }
    v1::Step step;
    step.add_rows()->set_row(1);
    ASSERT_EQ(good.Run(step).rows(0).state(), v1::ROW_STATE_ACTIVE);
    // Half of them leave without a word.
    if (seed % 2 == 0) bad.EndSending();
  }
  EXPECT_TRUE(good.Finish().ok());
  running.ExpectServes();
}

}  // namespace
}  // namespace maskd::service
