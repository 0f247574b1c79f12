#include "cpu/processor_count.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace maskd {
namespace {

struct QuotaCase {
  const char* name;
  std::map<std::string, std::string> files;
  std::optional<double> quota;
};

class ProcessorQuotaTest : public testing::TestWithParam<QuotaCase> {};

TEST_P(ProcessorQuotaTest, TheSmallestQuotaCounts) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / (std::string("quota_") + GetParam().name);
  for (const auto& [path, text] : GetParam().files) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  EXPECT_EQ(ProcessorQuota(root), GetParam().quota);
  std::filesystem::remove_all(root);
}

INSTANTIATE_TEST_SUITE_P(
    Groups, ProcessorQuotaTest,
    testing::ValuesIn(std::vector<QuotaCase>{
        {"Version2",
         {{"proc/self/cgroup", "0::/pod/app\n"},
          {"sys/fs/cgroup/pod/app/cpu.max", "250000 100000\n"},
          {"sys/fs/cgroup/pod/cpu.max", "max 100000\n"}},
         2.5},
        {"AnAncestorBounds",
         {{"proc/self/cgroup", "0::/pod/app\n"},
          {"sys/fs/cgroup/pod/app/cpu.max", "max 100000\n"},
          {"sys/fs/cgroup/pod/cpu.max", "400000 100000\n"}},
         4},
        {"WithinAContainer",
         {{"proc/self/cgroup", "0::/../outer\n"}, {"sys/fs/cgroup/cpu.max", "50000 100000\n"}},
         0.5},
        {"Unbounded",
         {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "max 100000\n"}},
         std::nullopt},
        {"Version1",
         {{"proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n"},
          {"sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "300000\n"},
          {"sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n"}},
         3},
        {"Version1Unbounded",
         {{"proc/self/cgroup", "5:cpu:/\n"},
          {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
          {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
         std::nullopt},
        {"None", {}, std::nullopt},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ProcessorCountTest, IsNoMoreThanTheMachineHas) {
  EXPECT_GE(ProcessorCount(), 1);
  EXPECT_LE(ProcessorCount(), static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace maskd
