#include "ring/shared_memory.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace maskd::ring {
namespace {

constexpr RingSizes kSizes = {.to_server = 4096, .to_client = 8192};

UniqueFd Memory(std::size_t bytes, int seals) {
  UniqueFd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

TEST(SharedMemoryTest, BothSidesSeeTheSame) {
  auto made = SharedMemory::Create(kSizes);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->to_server().size(), 4096U);
  EXPECT_EQ(made->to_client().size(), 8192U);
  const auto mapped = SharedMemory::Map(made->TakeFd(), kSizes);
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  made->words().to_server.written = 7;
  made->to_client().back() = 9;
  EXPECT_EQ(mapped->words().to_server.written, 7U);
  EXPECT_EQ(mapped->to_client().back(), 9);
}

TEST(SharedMemoryTest, NobodyCanShortenIt) {
  auto made = SharedMemory::Create(kSizes);
  ASSERT_TRUE(made.ok()) << made.status();
  const UniqueFd fd = made->TakeFd();
  EXPECT_NE(ftruncate(fd.get(), 0), 0);
  EXPECT_NE(ftruncate(fd.get(), 1 << 20), 0);
  EXPECT_NE(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(made->to_client().back(), 0);
  // What can be done is to take pages away, which reads as zeros.
  made->to_server().front() = 1;
  ASSERT_EQ(fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                      static_cast<off_t>(kSizes.total())),
            0);
  EXPECT_EQ(made->to_server().front(), 0);
}

struct RefusedCase {
  const char* name;
  RingSizes sizes;
};

class RefusedSizesTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedSizesTest, AreAnError) {
  EXPECT_TRUE(absl::IsInvalidArgument(SharedMemory::Create(GetParam().sizes).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(SharedMemory::Map(UniqueFd(), GetParam().sizes).status()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, RefusedSizesTest,
                         testing::ValuesIn(std::vector<RefusedCase>{
                             {"Zero", {.to_server = 0, .to_client = 4096}},
                             {"NoPowerOfTwo", {.to_server = 4096, .to_client = 12288}},
                             {"BelowAPage", {.to_server = 2048, .to_client = 4096}},
                             {"TooLarge", {.to_server = 4096, .to_client = 1U << 31}},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(SharedMemoryTest, MemoryThatIsNotSealedOrOfAnotherSizeIsRefused) {
  const auto map = [](UniqueFd fd) { return SharedMemory::Map(std::move(fd), kSizes).status(); };
  constexpr int kAll = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  EXPECT_TRUE(map(Memory(kSizes.total(), kAll)).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(map(Memory(kSizes.total(), F_SEAL_GROW))));
  EXPECT_TRUE(absl::IsInvalidArgument(map(Memory(kSizes.total() - 1, kAll))));
  EXPECT_TRUE(absl::IsInvalidArgument(map(UniqueFd())));
  EXPECT_TRUE(absl::IsInvalidArgument(map(UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC)))));
  EXPECT_TRUE(absl::IsInvalidArgument(map(UniqueFd(open("/dev/zero", O_RDWR | O_CLOEXEC)))));
}

}  // namespace
}  // namespace maskd::ring
