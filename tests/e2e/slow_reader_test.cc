// A client that does not read: it is not read from either, and costs the server and the other
// streams nothing.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using std::chrono::milliseconds;

constexpr int kRows = 512;
constexpr int kSteps = 20'000;  // more than all buffers between the two hold
constexpr milliseconds kQuiet{500};

v1::Step OpenRows() {
  v1::Step step = OpeningStep(OpenOf(0, "choice", R"(["abc"])"));
  for (std::uint64_t row = 1; row < kRows; ++row)
    *step.add_open() = OpenOf(row, "choice", R"(["abc"])");
  return step;
}

v1::DecodeRequest AskForAllRows(int number) {
  v1::DecodeRequest request;
  request.mutable_step()->set_step(static_cast<std::uint64_t>(number));
  for (std::uint64_t row = 0; row < kRows; ++row) request.mutable_step()->add_rows()->set_row(row);
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
  stream.Run(OpenRows());
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
      EXPECT_EQ(response.step().rows_size(), kRows);
    }
  });
  stop = true;
  sender.join();
  stream.EndSending();
  reader.join();
  EXPECT_EQ(received, sent);
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(SlowReaderTest, DoesNotHoldUpTheEndOfTheServer) {
  Config config;
  config.drain_ms = 300;
  RunningServer running(config);
  TestStream stream(ConnectTo(running.address()));
  stream.Greet();
  stream.Run(OpenRows());
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
