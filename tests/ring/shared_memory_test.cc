#include "ring/shared_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

// Pages of memory that a descriptor keeps.
std::int64_t BytesBehind(const UniqueFd& fd) {
  struct stat file = {};
  EXPECT_EQ(fstat(fd.get(), &file), 0);
  return std::int64_t{512} * file.st_blocks;
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

struct UnreadCase {
  const char* name;
  std::uint32_t read;
  std::uint32_t written;
  std::int64_t kept_pages;  // of the ring's four
};

class UnreadTest : public testing::TestWithParam<UnreadCase> {};

// The other side keeps the descriptor, and has what it has still to read.
TEST_P(UnreadTest, PagesStayAndAllOthersGo) {
  constexpr RingSizes kRings = {.to_server = 8192, .to_client = 16384};
  constexpr std::uint32_t kMask = kRings.to_client - 1;
  const std::int64_t before = SharedMemory::alive_bytes();
  UniqueFd fd;
  {
    auto made = SharedMemory::Create(kRings);
    ASSERT_TRUE(made.ok()) << made.status();
    fd = made->TakeFd();
    std::ranges::fill(made->to_server(), 1);
    std::ranges::fill(made->to_client(), 1);
    made->words().to_client.read = GetParam().read;
    made->words().to_client.written = GetParam().written;
    EXPECT_EQ(BytesBehind(fd), static_cast<std::int64_t>(kRings.total()));
    EXPECT_EQ(SharedMemory::alive_bytes() - before, static_cast<std::int64_t>(kRings.total()));
    made->GiveBackAllButUnread();
    EXPECT_EQ(BytesBehind(fd), 4096 * (1 + GetParam().kept_pages));
    EXPECT_EQ(SharedMemory::alive_bytes() - before, 4096 * (1 + GetParam().kept_pages));
    EXPECT_EQ(made->words().to_client.written, GetParam().written);
    if (GetParam().written - GetParam().read <= kRings.to_client)
      for (std::uint32_t at = GetParam().read; at != GetParam().written; ++at)
        ASSERT_EQ(made->to_client()[at & kMask], 1) << at;
  }
  EXPECT_EQ(BytesBehind(fd), 0) << "its end gives all of it back";
  EXPECT_EQ(SharedMemory::alive_bytes(), before);
}

INSTANTIATE_TEST_SUITE_P(Words, UnreadTest,
                         testing::ValuesIn(std::vector<UnreadCase>{
                             {"Nothing", 5000, 5000, 0},
                             {"WhatCannotBe", 5, 4, 0},
                             {"InsideAPage", 100, 4000, 1},
                             {"UpToAPagesEnd", 100, 4096, 1},
                             {"OverTwoPages", 4000, 5000, 2},
                             {"OverTheRingsEnd", 16000, 17000, 2},
                             {"OverTheEndOfTheirCount", 0xFFFFFF00, 0x100, 2},
                             {"AllOfTheRing", 5000, 5000 + 16384, 4},
                             {"AllButAPage", 8192, 8192 + 12288, 3},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd::ring
