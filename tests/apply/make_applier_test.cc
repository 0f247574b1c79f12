#include "client/apply/make_applier.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/apply/cpu_applier.h"

namespace maskd::client {
namespace {

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

TEST(MakeApplier, AVariantFollowsAColon) {
  const auto portable = MakeApplier("cpu:portable");
  ASSERT_TRUE(portable.ok()) << portable.status();
  EXPECT_TRUE(MakeApplier("cpu:2").ok());
  EXPECT_THAT(std::string(MakeApplier("cpu:0").status().message()),
              HasSubstr("threads: 0 is not between 1 and 256"));
  const absl::Status unknown = MakeApplier("cpu:neon9").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("kernels \"neon9\" are not known"));
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("; supported: auto, cpu"));
}

TEST(MakeApplier, SupportedListStartsWithAutoAndCpu) {
  const std::vector<std::string> names = SupportedAppliers();
  ASSERT_GE(names.size(), 2);
  EXPECT_EQ(names[0], "auto");
  EXPECT_EQ(names[1], "cpu");
}

// peers.md A7 and D4: refused at start, with the asked one, the device and the supported list.
TEST(MakeApplier, A7UnknownNameIsRefusedAtStart) {
  for (const char* name : {"cuda", "CPU", "", "auto:1"}) {
    const absl::Status status = MakeApplier(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(status.message(), "applier \"" + std::string(name) + "\" is not known on " +
                                    CpuDevice() +
                                    "; supported: " + absl::StrJoin(SupportedAppliers(), ", "));
  }
}

// The environment as a test needs it, put back afterwards.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, /*overwrite=*/1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// peers.md D2: by API, by the environment, by the engine's own configuration.
TEST(MakeConfiguredApplier, D2TheEnvironmentComesBeforeTheConfiguration) {
  {
    const Variable nothing("MASKD_APPLIER", "");
    EXPECT_TRUE(MakeConfiguredApplier("").ok());
    EXPECT_TRUE(MakeConfiguredApplier("cpu").ok());
    EXPECT_FALSE(MakeConfiguredApplier("cuda").ok());
  }
  const Variable set("MASKD_APPLIER", "triton");
  EXPECT_THAT(std::string(MakeConfiguredApplier("cpu").status().message()),
              HasSubstr("applier \"triton\" is not known"));
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
