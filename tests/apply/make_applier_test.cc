#include "client/apply/make_applier.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
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

// An applier that this tree does not have: it greys out what is forbidden, as a viewer would, and
// counts what it was given.
class GreyApplier final : public Applier {
 public:
  static absl::StatusOr<std::unique_ptr<Applier>> Make(absl::string_view shade) {
    if (shade == "none") return absl::InvalidArgumentError("no shade");
    return std::make_unique<GreyApplier>();
  }
  [[nodiscard]] absl::string_view name() const override { return "grey"; }

 private:
  absl::Status ApplyChecked(const MaskRows& masks, const Logits& logits,
                            const Logits& /*output*/) const override {
    auto* const numbers = static_cast<float*>(logits.data);
    for (const MaskRow& row : masks.rows)
      for (const std::int32_t id : row.ids())
        numbers[row.logits_row() * logits.row_stride + id] /= 2;
    return absl::OkStatus();
  }
};

// peers.md B8: an applier from outside the tree, which looks at logits, chosen by name.
TEST(AddApplier, B8AnEnginesOwnIsChosenAsTheOthersAre) {
  ASSERT_EQ(AddApplier("grey", &GreyApplier::Make), absl::OkStatus());
  EXPECT_EQ(SupportedAppliers().back(), "grey");
  const auto applier = MakeConfiguredApplier("grey:light");
  ASSERT_TRUE(applier.ok()) << applier.status();
  EXPECT_EQ((*applier)->name(), "grey");
  std::vector<float> logits(6, 1.0F);
  const std::vector<std::int32_t> ids = {2};
  const std::vector<MaskRow> rows = {MaskRow::Forbidden(1, ids)};
  const Logits plane{.data = logits.data(), .row_count = 2, .width = 3, .row_stride = 3};
  ASSERT_EQ((*applier)->Apply({.vocab_size = 3, .rows = rows}, plane), absl::OkStatus());
  EXPECT_THAT(logits, testing::ElementsAre(1, 1, 1, 1, 1, 0.5F));
  // What every applier is refused, it is never shown.
  EXPECT_FALSE((*applier)->Apply({.vocab_size = 4, .rows = rows}, plane).ok());
  EXPECT_THAT(std::string(MakeApplier("grey:none").status().message()), HasSubstr("no shade"));
}

TEST(AddApplier, ANameIsTakenOnce) {
  for (const char* name : {"auto", "cpu", "opencl"}) {
    EXPECT_EQ(AddApplier(name, &GreyApplier::Make).code(), absl::StatusCode::kAlreadyExists)
        << name;
  }
  for (const char* name : {"", "grey:light"})
    EXPECT_EQ(AddApplier(name, &GreyApplier::Make).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(AddApplier("paint", nullptr).message(), "make: is null");
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
