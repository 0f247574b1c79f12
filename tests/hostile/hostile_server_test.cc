// What a server that is another process, and keeps to no rule, can do to the client library:
// nothing but errors. Each call comes back in its time, with an error or with masks of the size
// that was asked for, and what the client holds does not grow.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "client/cpp/client.h"
#include "tests/hostile/process.h"

namespace maskd::hostile {
namespace {

using client::MaskStream;
using client::RowResult;
using client::Step;
using client::StepResult;

constexpr std::uint32_t kProcesses = 40;
constexpr std::uint32_t kStreams = 8;  // of a process
constexpr std::uint32_t kWidth = 257;
constexpr std::size_t kWords = 9;
// Of each call. One that does not keep it is ended with the test, by ctest.
constexpr absl::Duration kTimeout = absl::Milliseconds(20);

class HostileServerTest : public testing::Test {
 protected:
  HostileServerTest()
      : socket_((std::filesystem::temp_directory_path() /
                 absl::StrCat("maskd_hostile.", getpid(), ".sock"))
                    .string()) {}
  ~HostileServerTest() override { std::filesystem::remove(socket_); }

  // Uses a stream until it has ended or answers no more.
  void Use(MaskStream& stream) {
    Step step;
    StepResult result;
    absl::Status status;
    for (int late = 0; late < 3 && (status.ok() || absl::IsDeadlineExceeded(status));) {
      step.Clear();
      step.Take(1, {});
      status = stream.Submit(step).status();
      if (!status.ok()) break;
      status = stream.Collect(kTimeout, result);
      if (status.ok()) Look(result);
      late += status.ok() ? 0 : 1;
    }
    ++endings_[static_cast<std::size_t>(status.code())];
    stream.Close(kTimeout).IgnoreError();
  }

  void Look(const StepResult& result) {
    ++answered_;
    for (const RowResult& row : result.rows()) {
      for (const client::MaskView& mask : row.masks)
        if (!mask.full() && !mask.invalid()) ASSERT_EQ(mask.words().size(), kWords);
    }
  }

  // Opens streams until the server has died.
  void UseAll(std::uint32_t seed) {
    std::filesystem::remove(socket_);
    Process server({HOSTILE_SERVER, socket_, absl::StrCat(seed), absl::StrCat(kStreams)});
    // A client that does not find it tries again after a second.
    for (int i = 0; i < 10'000 && !std::filesystem::exists(socket_); ++i)
      absl::SleepFor(absl::Milliseconds(1));
    const auto client = client::Client::Connect(
        {.address = "unix:" + socket_, .connect_timeout = absl::Seconds(60)});
    ASSERT_TRUE(client.ok()) << client.status();
    for (std::uint32_t i = 0; i < 2 * kStreams && !server.Ended().has_value(); ++i) {
      auto stream = (*client)->OpenStream({.logits_width = kWidth,
                                           .dictionary_size = 16,
                                           .read_ahead = (seed + i) % 2 == 0,
                                           .shared_memory = true,
                                           .open_timeout = absl::Seconds(2)});
      if (stream.ok()) Use(**stream);
    }
  }

  const std::string socket_;
  int answered_ = 0;
  std::vector<int> endings_ = std::vector<int>(20);
};

TEST_F(HostileServerTest, IsAnErrorInTimeAndNothingWorse) {
  ASSERT_NO_FATAL_FAILURE(UseAll(1));
  const Holdings before = HoldingsOf(getpid());
  for (std::uint32_t process = 1; process < kProcesses; ++process)
    ASSERT_NO_FATAL_FAILURE(UseAll(1 + process * kStreams));
  Holdings after = HoldingsOf(getpid());
  // gRPC's own threads leave when they have been idle for a while.
  for (int i = 0; i < 300 && after.threads > before.threads + 8; ++i) {
    absl::SleepFor(absl::Milliseconds(100));
    after = HoldingsOf(getpid());
  }
  EXPECT_LT(after.resident_kib, before.resident_kib + (256 << 10));
  EXPECT_LE(after.descriptors, before.descriptors + 16);
  EXPECT_LE(after.threads, before.threads + 8);
  EXPECT_GT(answered_, static_cast<int>(kProcesses)) << "it answers now and then";
  EXPECT_GT(endings_[static_cast<std::size_t>(absl::StatusCode::kInternal)], 20);
}

}  // namespace
}  // namespace maskd::hostile
