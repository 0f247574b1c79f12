#include "memory/process_memory.h"

#include <cstring>
#include <ctime>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace maskd::memory {
namespace {

TEST(ProcessMemoryTest, SeesWhatIsTouched) {
  constexpr std::size_t kBytes = 64 << 20;
  const ProcessMemory before = ReadProcessMemory();
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  const ProcessMemory after = ReadProcessMemory();
  munmap(memory, kBytes);
  EXPECT_GT(after.anonymous - before.anonymous, static_cast<std::int64_t>(kBytes) * 9 / 10);
  EXPECT_GT(before.file, 0);
  EXPECT_EQ(after.resident, after.anonymous + after.file + after.shared);
}

TEST(ProcessFiguresTest, AreThoseOfThisProcess) {
  const ProcessFigures figures = ReadProcessFigures();
  EXPECT_GT(figures.resident_bytes, 1 << 20);
  EXPECT_GE(figures.virtual_bytes, figures.resident_bytes);
  EXPECT_GE(figures.threads, 1);
  EXPECT_GE(figures.open_fds, 3);
  EXPECT_GE(figures.max_fds, figures.open_fds);
  EXPECT_GE(figures.cpu_seconds, 0);
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_LE(figures.start_seconds, now + 2);
  EXPECT_GT(figures.start_seconds, now - 3600);
}

}  // namespace
}  // namespace maskd::memory
