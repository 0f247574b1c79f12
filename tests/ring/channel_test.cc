#include "ring/channel.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/doorbell.h"

namespace maskd::ring {
namespace {

constexpr RingSizes kSizes = {.to_server = 4096, .to_client = 4096};
constexpr std::size_t kMostBytes = 1 << 20;
constexpr absl::Duration kPatience = absl::Seconds(20);
// No sleep ends by itself here: a ring or a wake-up that is lost is never made up for.
constexpr absl::Duration kNoBound = absl::Hours(24);

// Who sets the clock back by a day, behind so many looks at it.
constexpr int kNever = -1;
std::atomic<int> looks_before_set_back = kNever;

// Two ends of one memory, and a third mapping for whoever does not keep to the rules.
class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    auto memory = SharedMemory::Create(kSizes);
    ASSERT_TRUE(memory.ok()) << memory.status();
    const UniqueFd fd = memory->TakeFd();
    auto mapped = SharedMemory::Map(UniqueFd(dup(fd.get())), kSizes);
    ASSERT_TRUE(mapped.ok()) << mapped.status();
    auto hostile = SharedMemory::Map(UniqueFd(dup(fd.get())), kSizes);
    ASSERT_TRUE(hostile.ok()) << hostile.status();
    server_ = std::make_unique<Channel>(*std::move(memory), Side::kServer, kMostBytes, kNoBound);
    client_ = std::make_unique<Channel>(*std::move(mapped), Side::kClient, kMostBytes, kNoBound);
    hostile_ = std::make_unique<SharedMemory>(*std::move(hostile));
  }

  // Sends all of `message`, however long it takes the other side.
  static absl::Status Send(Channel& channel, const std::string& message) {
    channel.StartWrite(message);
    for (;;) {
      const absl::StatusOr<bool> sent = channel.ContinueWrite();
      if (!sent.ok() || *sent) return sent.status();
      if (absl::Status slept = channel.Sleep(kRoom, kPatience); !slept.ok()) return slept;
    }
  }

  static absl::StatusOr<std::string> Receive(Channel& channel) {
    for (const absl::Time deadline = absl::Now() + kPatience; absl::Now() < deadline;) {
      const auto message = channel.TryRead();
      if (!message.ok()) return message.status();
      if (message->has_value()) return std::string(**message);
      if (absl::Status slept = channel.Sleep(kBytes, deadline - absl::Now()); !slept.ok())
        return slept;
    }
    return absl::DeadlineExceededError("nothing came");
  }

  std::unique_ptr<Channel> server_;
  std::unique_ptr<Channel> client_;
  std::unique_ptr<SharedMemory> hostile_;
};

TEST_F(ChannelTest, MessagesComeWholeAndInOrder) {
  for (const std::string& message : {std::string("a"), std::string(), std::string(4000, 'b')}) {
    ASSERT_TRUE(Send(*client_, message).ok());
    EXPECT_EQ(*Receive(*server_), message);
  }
  ASSERT_TRUE(Send(*client_, "first").ok());
  ASSERT_TRUE(Send(*client_, "second").ok());
  EXPECT_EQ(*Receive(*server_), "first");
  EXPECT_EQ(*Receive(*server_), "second");
  EXPECT_FALSE(server_->TryRead()->has_value());
}

TEST_F(ChannelTest, MessagesOfAnySizeGoAndComeBack) {
  std::thread echo([this] {
    for (;;) {
      const auto message = Receive(*server_);
      ASSERT_TRUE(message.ok()) << message.status();
      ASSERT_TRUE(Send(*server_, *message).ok());
      if (message->empty()) return;
    }
  });
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same in every run
  for (int i = 0; i < 3000; ++i) {
    const std::size_t most = i % 100 == 0 ? kMostBytes : i % 10 == 0 ? 20'000 : 300;
    std::string message(1 + random() % most, static_cast<char>(i));
    message.back() = '.';
    ASSERT_TRUE(Send(*client_, message).ok());
    const auto back = Receive(*client_);
    ASSERT_TRUE(back.ok()) << back.status();
    ASSERT_EQ(*back, message);
  }
  ASSERT_TRUE(Send(*client_, "").ok());
  EXPECT_EQ(*Receive(*client_), "");
  echo.join();
}

// Each side sleeps some thousand times at the very moment at which the other one rings. After a
// ring that is lost nothing comes any more, and both sides' patience ends.
TEST_F(ChannelTest, NoRingIsLost) {
  constexpr int kTurns = 20'000;
  std::thread echo([this] {
    for (int i = 0; i < kTurns; ++i) {
      ASSERT_TRUE(Receive(*server_).ok()) << i;
      ASSERT_TRUE(Send(*server_, "pong").ok()) << i;
    }
  });
  int turns = 0;
  while (turns < kTurns && Send(*client_, "ping").ok() && Receive(*client_).ok()) ++turns;
  echo.join();
  EXPECT_EQ(turns, kTurns);
}

TEST_F(ChannelTest, AMessageAboveTheLimitIsAnErrorBeforeItsBytesAreHeld) {
  hostile_->to_server()[0] = 0xFF;
  hostile_->to_server()[1] = 0xFF;
  hostile_->to_server()[2] = 0xFF;
  hostile_->to_server()[3] = 0x7F;
  hostile_->words().to_server.written = 4;
  EXPECT_TRUE(absl::IsResourceExhausted(server_->TryRead().status()));
}

// A sleep that is not woken lasts until ctest ends the test.
TEST_F(ChannelTest, WakeEndsTheSleepOfTheNextOne) {
  server_->Wake();
  EXPECT_TRUE(server_->Sleep(kBytes, absl::InfiniteDuration()).ok());
}

TEST_F(ChannelTest, WakeEndsTheSleepOfNow) {
  for (int i = 0; i < 200; ++i) {
    std::thread waker([&] {
      // Mostly the other thread sleeps by now; where it does not, its next sleep is woken.
      for (int turn = 0; turn < i; ++turn) std::this_thread::yield();
      server_->Wake();
    });
    EXPECT_TRUE(server_->Sleep(kBytes, absl::InfiniteDuration()).ok());
    waker.join();
  }
}

// It would look for a day, and hold a processor.
TEST_F(ChannelTest, WhoStaysAwakeKeepsToItsTimeWhenTheClockIsSetBack) {
  looks_before_set_back = 1;
  EXPECT_FALSE(server_->StayAwake(kBytes, absl::Milliseconds(5)));
  looks_before_set_back = kNever;
}

TEST_F(ChannelTest, WhoStaysAwakeSeesBytesWakeUpsAndTheTime) {
  EXPECT_FALSE(server_->StayAwake(kBytes, absl::Milliseconds(5))) << "it is time";
  client_->StartWrite("step");
  ASSERT_TRUE(client_->ContinueWrite().ok());
  EXPECT_TRUE(server_->StayAwake(kBytes, kPatience));
  ASSERT_TRUE(server_->TryRead().ok());
  std::thread waker([this] {
    absl::SleepFor(absl::Milliseconds(5));
    server_->Wake();
  });
  EXPECT_FALSE(server_->StayAwake(kBytes, kPatience));
  waker.join();
  EXPECT_TRUE(server_->Sleep(kBytes, kPatience).ok()) << "which is woken by the same";
}

// It gives its processor away once, and is not back before its time: on a busy machine it is late,
// and sleeps no more often.
TEST_F(ChannelTest, ASleeperTakesNoProcessorTime) {
  const auto given_away = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  const auto before = given_away();
  const absl::Time deadline = absl::Now() + absl::Milliseconds(500);
  int sleeps = 0;
  for (; absl::Now() < deadline; ++sleeps)
    ASSERT_TRUE(server_->Sleep(kBytes, deadline - absl::Now()).ok());
  EXPECT_LE(sleeps, 5);
  EXPECT_GE(given_away() - before, 1);
}

TEST_F(ChannelTest, WhoRingsForNothingIsFound) {
  std::atomic<bool> stop = false;
  std::thread ringing([&] {
    while (!stop) Wake(&hostile_->words().server_bell);
  });
  absl::Status slept;
  for (const absl::Time end = absl::Now() + kPatience; slept.ok() && absl::Now() < end;)
    slept = server_->Sleep(kBytes, absl::Seconds(1));
  stop = true;
  ringing.join();
  EXPECT_TRUE(absl::IsDataLoss(slept)) << slept;
}

// Whoever writes what he likes into the memory gets messages or an error, and nothing worse.
TEST_F(ChannelTest, RandomScribblesAreMessagesOrAnError) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same in every run
  int errors = 0;
  int messages = 0;
  for (int round = 0; round < 3000; ++round) {
    SetUp();
    std::uint32_t written = 0;
    for (int turn = 0; turn < 20; ++turn) {
      const auto ring = hostile_->to_server();
      for (int i = 0; i < 64; ++i)
        ring[random() % ring.size()] = static_cast<std::uint8_t>(random());
      if (random() % 4 != 0) ring[(written + 1) % ring.size()] = 0;
      written = random() % 16 == 0 ? random() : written + random() % 512;
      hostile_->words().to_server.written = written;
      if (random() % 8 == 0) hostile_->words().to_client.read = random();
      const auto message = server_->TryRead();
      if (message.ok() && message->has_value()) {
        ASSERT_LE((*message)->size(), kMostBytes);
        ++messages;
      }
      server_->StartWrite("an answer");
      const auto sent = server_->ContinueWrite();
      if (!message.ok() || !sent.ok()) {
        const absl::Status error = message.ok() ? sent.status() : message.status();
        ASSERT_TRUE(absl::IsDataLoss(error) || absl::IsResourceExhausted(error)) << error;
        ++errors;
        break;
      }
    }
  }
  EXPECT_GT(errors, 1000);
  EXPECT_GT(messages, 100);
}

}  // namespace
}  // namespace maskd::ring

// In the place of the C library's, for this program.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using maskd::ring::looks_before_set_back;
  constexpr time_t kDay = 24 * 60 * 60;
  const int failed = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (failed != 0 || clock != CLOCK_REALTIME || looks_before_set_back < 0) return failed;
  if (looks_before_set_back > 0)
    --looks_before_set_back;
  else
    time->tv_sec -= kDay;
  return failed;
}
