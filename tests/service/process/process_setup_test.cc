#include "service/process/process_setup.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace maskd::service {
namespace {

// What an exit status says is wrong.
enum Wrong { kNothing, kDescriptor, kNotNull, kNextDescriptor, kPipe, kLimit, kFileSize };

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

std::string FileOf(int fd) {
  std::array<char, 64> path = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return readlink(link.c_str(), path.data(), path.size() - 1) > 0 ? path.data() : "";
}

// In a process of its own, with these descriptors closed.
[[noreturn]] void SetUpWithout(const std::array<bool, 3>& closed) {
  const int next_free = open("/dev/null", O_RDONLY);
  close(next_free);
  for (int fd = 0; fd < 3; ++fd)
    if (closed[static_cast<std::size_t>(fd)]) close(fd);
  SetUpProcess();
  for (int fd = 0; fd < 3; ++fd) {
    if (!IsOpen(fd)) _exit(kDescriptor);
    if (closed[static_cast<std::size_t>(fd)] && FileOf(fd) != "/dev/null") _exit(kNotNull);
  }
  // Nothing else was left open.
  if (open("/dev/null", O_RDONLY) != next_free) _exit(kNextDescriptor);
  _exit(kNothing);
}

TEST(ProcessSetupDeathTest, EachStandardDescriptorIsOpen) {
  for (int set = 0; set < 8; ++set) {
    const std::array<bool, 3> closed = {(set & 1) != 0, (set & 2) != 0, (set & 4) != 0};
    EXPECT_EXIT(SetUpWithout(closed), testing::ExitedWithCode(kNothing), "") << "closed: " << set;
  }
}

[[noreturn]] void WriteToABrokenPipe() {
  SetUpProcess();
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) _exit(kPipe);
  close(ends[0]);
  _exit(write(ends[1], "x", 1) < 0 && errno == EPIPE ? kNothing : kPipe);
}

TEST(ProcessSetupDeathTest, ABrokenPipeIsAnError) {
  EXPECT_EXIT(WriteToABrokenPipe(), testing::ExitedWithCode(kNothing), "");
}

// `ulimit -f`, as a log on disk may meet it.
[[noreturn]] void WriteMoreThanAFileMayHold() {
  SetUpProcess();
  const rlimit most = {.rlim_cur = 1, .rlim_max = 1};
  std::FILE* const file = std::tmpfile();
  if (file == nullptr || setrlimit(RLIMIT_FSIZE, &most) != 0) _exit(kFileSize);
  const int fd = fileno(file);
  if (write(fd, "x", 1) != 1) _exit(kFileSize);
  _exit(write(fd, "x", 1) < 0 && errno == EFBIG ? kNothing : kFileSize);
}

TEST(ProcessSetupDeathTest, AFileThatMayNotGrowIsAnError) {
  EXPECT_EXIT(WriteMoreThanAFileMayHold(), testing::ExitedWithCode(kNothing), "");
}

[[noreturn]] void RaiseTheLimit() {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  before.rlim_cur = before.rlim_max / 2;
  setrlimit(RLIMIT_NOFILE, &before);
  SetUpProcess();
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  _exit(now.rlim_cur == now.rlim_max && now.rlim_max == before.rlim_max ? kNothing : kLimit);
}

TEST(ProcessSetupDeathTest, ThereMayBeAsManyDescriptorsAsTheSystemAllows) {
  EXPECT_EXIT(RaiseTheLimit(), testing::ExitedWithCode(kNothing), "");
}

}  // namespace
}  // namespace maskd::service
