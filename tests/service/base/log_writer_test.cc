// A log whose reader is slow, gone, or was never there.
#include "service/base/log_writer.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "ring/unique_fd.h"

namespace maskd::service {
namespace {

using ring::UniqueFd;

constexpr std::chrono::seconds kPatience{60};

Clock::TimePoint Soon() { return Clock::Steady()->Now() + kPatience; }

std::string Notice(std::int64_t dropped) { return absl::StrCat("dropped ", dropped, "\n"); }

struct Pipe {
  Pipe() {
    std::array<int, 2> ends = {};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    reader = UniqueFd(ends[0]);
    writer = UniqueFd(ends[1]);
  }

  // What comes until `is_all` says that it is all.
  [[nodiscard]] std::string ReadUntil(const std::function<bool(const std::string&)>& is_all) const {
    std::string text;
    std::array<char, 4096> buffer = {};
    while (!is_all(text)) {
      const ssize_t count = read(reader.get(), buffer.data(), buffer.size());
      if (count <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  [[nodiscard]] std::string ReadUntil(const std::string& end) const {
    return ReadUntil([&](const std::string& text) { return absl::StrContains(text, end); });
  }

  UniqueFd reader;
  UniqueFd writer;
};

// The lines that whole notices in `text` say were dropped.
std::int64_t DroppedIn(const std::string& text) {
  std::int64_t sum = 0;
  for (const absl::string_view line : absl::StrSplit(text.substr(0, text.rfind('\n') + 1), '\n')) {
    std::int64_t count = 0;
    absl::string_view number = line;
    if (absl::ConsumePrefix(&number, "dropped ") && absl::SimpleAtoi(number, &count)) sum += count;
  }
  return sum;
}

class LogWriterTest : public testing::Test {
 protected:
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }
};

TEST_F(LogWriterTest, WritesLinesInOrder) {
  const Pipe pipe;
  LogWriter writer(pipe.writer.get(), &Notice);
  writer.Add("one\n");
  writer.Add("two\n");
  EXPECT_TRUE(writer.Flush(Soon()));
  EXPECT_EQ(pipe.ReadUntil("two\n"), "one\ntwo\n");
  EXPECT_EQ(writer.dropped(), 0);
}

TEST_F(LogWriterTest, AReaderThatStallsCostsLinesAndNobodyWaits) {
  const Pipe pipe;
  LogWriter writer(pipe.writer.get(), &Notice);
  const std::string line = std::string(1000, 'x') + "\n";
  // The pipe's buffer, the queue, and some more.
  for (int i = 0; i < 4000; ++i) writer.Add(line);
  const std::int64_t dropped = writer.dropped();
  EXPECT_GT(dropped, 1000);
  EXPECT_FALSE(writer.Flush(Clock::Steady()->Now()));
  // In one notice or in several: its thread may have begun before the last line came.
  const auto are_all = [&](const std::string& text) { return DroppedIn(text) >= dropped; };
  EXPECT_EQ(DroppedIn(pipe.ReadUntil(are_all)), dropped) << "it says so once it is read again";
}

TEST_F(LogWriterTest, AReaderThatHasGoneIsNoSignal) {
  Pipe pipe;
  pipe.reader = UniqueFd();
  LogWriter writer(pipe.writer.get(), &Notice);
  writer.Add("one\n");
  writer.Add("two\n");
  EXPECT_TRUE(writer.Flush(Soon()));
  EXPECT_EQ(writer.dropped(), 2);
}

TEST_F(LogWriterTest, AClosedDescriptorAndAFullDiskDropLines) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  constexpr int kNone = 1 << 20;
  for (const int fd : {kNone, full.get()}) {
    LogWriter writer(fd, &Notice);
    writer.Add("one\n");
    EXPECT_TRUE(writer.Flush(Soon()));
    EXPECT_EQ(writer.dropped(), 1);
  }
}

TEST_F(LogWriterTest, ALineIsWrittenWholeToAPipeThatDoesNotBlock) {
  const Pipe pipe;
  ASSERT_EQ(fcntl(pipe.writer.get(), F_SETFL, O_NONBLOCK), 0);
  LogWriter writer(pipe.writer.get(), &Notice);
  const std::string line = std::string(300'000, 'x') + "\n";
  writer.Add(line);
  EXPECT_EQ(pipe.ReadUntil("\n"), line);
}

TEST_F(LogWriterTest, MayEndWhileItsReaderStalls) {
  const Pipe pipe;
  LogWriter writer(pipe.writer.get(), &Notice);
  for (int i = 0; i < 200; ++i) writer.Add(std::string(1000, 'x') + "\n");
}

}  // namespace
}  // namespace maskd::service
