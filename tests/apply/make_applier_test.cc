#include "client/apply/make_applier.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/apply/cpu_applier.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(MakeApplier, AutoIsTheCpuWhereThereIsNothingElse) {
  const auto applier = MakeApplier("auto");
  ASSERT_TRUE(applier.ok()) << applier.status();
  EXPECT_EQ((*applier)->name(), "cpu");
}

TEST(MakeApplier, CpuByName) {
  const auto applier = MakeApplier("cpu");
  ASSERT_TRUE(applier.ok()) << applier.status();
  EXPECT_EQ((*applier)->name(), "cpu");
}

TEST(MakeApplier, SupportedListStartsWithAuto) {
  EXPECT_THAT(SupportedAppliers(), ElementsAre("auto", "cpu"));
}

// peers.md A7 and D4: refused at start, with the asked one, the device and the supported list.
TEST(MakeApplier, A7UnknownNameIsRefusedAtStart) {
  for (const char* name : {"opencl", "cuda", "CPU", ""}) {
    const absl::Status status = MakeApplier(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(status.message(), "applier \"" + std::string(name) + "\" is not known on " +
                                    CpuDevice() + "; supported: auto, cpu");
  }
}

TEST(MakeCpuApplier, UnknownKernelNamesItAndThoseThereAre) {
  const absl::Status status = MakeCpuApplierWithKernel("neon9").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("kernels \"neon9\" are not known on this processor"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("portable"));
}

}  // namespace
}  // namespace maskd::client
