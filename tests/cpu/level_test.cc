#include "cpu/level.h"

#include <array>
#include <string>

#include "gtest/gtest.h"

namespace maskd::cpu {
namespace {

struct Kernel {
  absl::string_view level;
};

constexpr Kernel kFuture = {"avx9000"};
constexpr Kernel kPlain = {kPortable};
constexpr std::array kKernels = {&kFuture, &kPlain};

TEST(LevelTest, PortableIsEverywhereAndAnUnknownLevelNowhere) {
  EXPECT_TRUE(Supports(kPortable));
  EXPECT_FALSE(Supports("avx9000"));
  EXPECT_FALSE(Supports(""));
  EXPECT_FALSE(Supports(kAuto)) << "no level, but a choice among them";
}

TEST(LevelTest, BestIsTheFirstThatIsSupported) {
  EXPECT_EQ(&Best<Kernel>(kKernels), &kPlain);
  EXPECT_EQ(*Find<Kernel>(kKernels, "auto"), &kPlain);
  EXPECT_EQ(*Find<Kernel>(kKernels, "portable"), &kPlain);
}

TEST(LevelTest, WhatIsKnownButNotSupportedIsUnimplemented) {
  const absl::Status status = Find<Kernel>(kKernels, "avx9000").status();
  EXPECT_EQ(status, absl::UnimplementedError("kernels \"avx9000\" are not supported on this "
                                             "processor; supported: auto, portable"));
}

TEST(LevelTest, WhatIsNotKnownIsInvalid) {
  const absl::Status status = Find<Kernel>(kKernels, "AVX2").status();
  EXPECT_EQ(status, absl::InvalidArgumentError("kernels \"AVX2\" are not known on this "
                                               "processor; supported: auto, portable"));
}

}  // namespace
}  // namespace maskd::cpu
