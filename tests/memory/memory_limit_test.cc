#include "memory/memory_limit.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace maskd::memory {
namespace {

struct LimitCase {
  const char* name;
  std::map<std::string, std::string> files;
  std::optional<std::int64_t> limit;
};

class ControlGroupTest : public testing::TestWithParam<LimitCase> {};

TEST_P(ControlGroupTest, TheSmallestBoundCounts) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / (std::string("cgroup_") + GetParam().name);
  for (const auto& [path, text] : GetParam().files) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  EXPECT_EQ(ControlGroupLimit(root), GetParam().limit);
  std::filesystem::remove_all(root);
}

INSTANTIATE_TEST_SUITE_P(
    Groups, ControlGroupTest,
    testing::ValuesIn(std::vector<LimitCase>{
        {"Version2",
         {{"proc/self/cgroup", "0::/pod/app\n"},
          {"sys/fs/cgroup/pod/app/memory.max", "2147483648\n"},
          {"sys/fs/cgroup/pod/memory.max", "max\n"}},
         std::int64_t{2} << 30},
        {"AnAncestorBounds",
         {{"proc/self/cgroup", "0::/pod/app\n"},
          {"sys/fs/cgroup/pod/app/memory.max", "max\n"},
          {"sys/fs/cgroup/pod/memory.max", "1048576\n"}},
         1 << 20},
        {"WithinAContainer",
         {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/memory.max", "1048576\n"}},
         1 << 20},
        {"Unbounded",
         {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/memory.max", "max\n"}},
         std::nullopt},
        {"Version1",
         {{"proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n"},
          {"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "4096000\n"},
          {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
         4096000},
        {"Version1WithinAContainer",
         {{"proc/self/cgroup", "4:memory:/docker/abc\n"},
          {"sys/fs/cgroup/memory/memory.limit_in_bytes", "4096000\n"}},
         4096000},
        {"None", {}, std::nullopt},
    }),
    [](const auto& test) { return test.param.name; });

TEST(SystemMemoryLimitTest, IsNoMoreThanTheMachineHas) {
  EXPECT_GT(SystemMemoryLimit(), 0);
  EXPECT_LE(SystemMemoryLimit(), MachineMemory());
}

}  // namespace
}  // namespace maskd::memory
