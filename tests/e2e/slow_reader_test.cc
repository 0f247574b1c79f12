// A client that does not read: it is not read from either, and costs the server and the other
// streams nothing.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "service/calls/decode_stream.h"
#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using std::chrono::milliseconds;

constexpr int kUnreadRows = 512;
constexpr int kSteps = 20'000;  // more than all buffers between the two hold
constexpr milliseconds kQuiet{500};

v1::Step OpenUnread() {
  v1::Step step = OpeningStep(OpenOf(0, "choice", R"(["abc"])"));
  for (std::uint64_t row = 1; row < kUnreadRows; ++row)
    *step.add_open() = OpenOf(row, "choice", R"(["abc"])");
  return step;
}

v1::DecodeRequest AskForAllRows(int number) {
  v1::DecodeRequest request;
  request.mutable_step()->set_step(static_cast<std::uint64_t>(number));
  for (std::uint64_t row = 0; row < kUnreadRows; ++row)
    request.mutable_step()->add_rows()->set_row(row);
  return request;
}

// The count once it has not moved for a while.
int WaitUntilQuiet(const std::atomic<int>& count) {
  for (int before = -1; before != count.load();) {
    before = count;
    std::this_thread::sleep_for(kQuiet);
  }
  return count;
}

TEST(SlowReaderTest, IsNotReadFromUntilItReads) {
  const RunningServer running;
  TestStream stream(ConnectTo(running.address()));
  stream.Greet();
  stream.Run(OpenUnread());
  std::atomic<int> sent = 0;
  std::atomic<bool> stop = false;
  std::thread sender([&] {
    while (!stop && sent < kSteps && stream.Send(AskForAllRows(2 + sent))) ++sent;
  });
  EXPECT_LT(WaitUntilQuiet(sent), kSteps) << "the server takes steps that nobody reads";
  running.ExpectServes();
  // Whoever reads again has every reply, in order.
  std::atomic<int> received = 0;
  std::thread reader([&] {
    v1::DecodeResponse response;
    for (; stream.Read(&response); ++received) {
      EXPECT_EQ(response.step().step(), static_cast<std::uint64_t>(2 + received));
      EXPECT_EQ(response.step().rows_size(), kUnreadRows);
    }
  });
  stop = true;
  sender.join();
  stream.EndSending();
  reader.join();
  EXPECT_EQ(received, sent);
  EXPECT_TRUE(stream.Finish().ok());
}

// Whether a stream has had a place now.
bool FindsAPlace(const RunningServer& running) {
  TestStream stream(ConnectTo(running.address()));
  v1::DecodeRequest hello;
  hello.mutable_hello()->set_logits_width(257);
  v1::DecodeResponse response;
  return stream.Send(hello) && stream.Read(&response) && response.has_welcome();
}

// Its steps are as many as the server has read; then it is idle, however much waits to be read.
TEST(SlowReaderTest, HasNoPlaceForEverWhereIdleStreamsHaveNone) {
  Config config;
  config.idle_ms = 200;
  config.max_streams = 1;
  const RunningServer running(config);
  TestStream stream(ConnectTo(running.address()));
  stream.Greet();
  stream.Run(OpenUnread());
  std::thread sender([&] {
    for (int sent = 0; sent < kSteps && stream.Send(AskForAllRows(2 + sent));) ++sent;
  });
  while (!FindsAPlace(running)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  sender.join();
  // What had left the server before is read still.
  v1::DecodeResponse response;
  int received = 0;
  while (stream.Read(&response)) ++received;
  EXPECT_GE(received, 1);
  EXPECT_FALSE(stream.Finish().ok());
}

// A reply for each of so many steps waits in the server, at most, and one more is made.
TEST(SlowReaderTest, FewRepliesWaitForIt) {
  const RunningServer running;
  TestStream stream(ConnectTo(running.address()));
  stream.Greet();
  stream.Run(OpenUnread());
  const std::int64_t reply = [&] {
    v1::Step step;
    for (std::uint64_t row = 0; row < kUnreadRows; ++row) step.add_rows()->set_row(row);
    return static_cast<std::int64_t>(stream.Run(step).ByteSizeLong());
  }();
  std::atomic<int> sent = 0;
  std::atomic<bool> stop = false;
  std::thread sender([&] {
    while (!stop && sent < kSteps && stream.Send(AskForAllRows(3 + sent))) ++sent;
  });
  EXPECT_LT(WaitUntilQuiet(sent), kSteps);
  const std::int64_t held =
      running.server().accountant().Read().held[static_cast<std::size_t>(memory::Part::kReplies)];
  EXPECT_GT(held, 0);
  EXPECT_LE(held, static_cast<std::int64_t>(DecodeStream::kMaxQueued) * (reply + 64));
  stop = true;
  std::thread reader([&] {
    v1::DecodeResponse response;
    while (stream.Read(&response)) {
    }
  });
  sender.join();
  stream.EndSending();
  reader.join();
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(SlowReaderTest, DoesNotHoldUpTheEndOfTheServer) {
  Config config;
  config.drain_ms = 300;
  RunningServer running(config);
  TestStream stream(ConnectTo(running.address()));
  stream.Greet();
  stream.Run(OpenUnread());
  std::atomic<int> sent = 0;
  std::thread sender([&] {
    while (sent < kSteps && stream.Send(AskForAllRows(2 + sent))) ++sent;
  });
  EXPECT_LT(WaitUntilQuiet(sent), kSteps);
  running.server().Drain();  // which does end
  sender.join();
  EXPECT_FALSE(stream.Finish().ok());
}

}  // namespace
}  // namespace maskd::service
