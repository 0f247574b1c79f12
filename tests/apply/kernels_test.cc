// Every kernel gives, bit for bit, what the portable one gives, over random masks of every density,
// vocabulary and padding; and what a loop over single tokens gives.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "client/apply/cpu_kernels.h"
#include "client/apply/mask_rows.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

// Bytes past the row that no kernel may touch.
constexpr std::size_t kGuardBytes = 64;
constexpr std::uint32_t kMinusInfinity = 0xFF80FC00;

struct Row {
  std::vector<std::byte> bytes;
  std::vector<std::int32_t> words;
  std::int64_t vocab_size;
  std::int64_t width;

  [[nodiscard]] std::vector<std::byte> MaskedBy(RowKernel kernel) const {
    std::vector<std::byte> masked = bytes;
    kernel({.elements = masked.data(),
            .words = words.data(),
            .vocab_size = vocab_size,
            .width = width,
            .minus_infinity = kMinusInfinity});
    return masked;
  }

  // The meaning, one token at a time.
  [[nodiscard]] std::vector<std::byte> MaskedByToken(std::int64_t element_bytes) const {
    std::vector<std::byte> masked = bytes;
    for (std::int64_t token = 0; token < width; ++token) {
      const bool allowed = token < vocab_size &&
                           ((static_cast<std::uint32_t>(words[token / 32]) >> (token % 32)) & 1);
      for (std::int64_t i = 0; !allowed && i < element_bytes; ++i)
        masked[token * element_bytes + i] = static_cast<std::byte>(kMinusInfinity >> (8 * i));
    }
    return masked;
  }
};

Row RandomRow(std::mt19937_64& random, std::int64_t element_bytes) {
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  Row row;
  row.vocab_size = 1 + static_cast<std::int64_t>(below(below(2) == 0 ? 70 : 6000));
  row.width = row.vocab_size + static_cast<std::int64_t>(below(2) == 0 ? 0 : below(100));
  row.bytes.resize(static_cast<std::size_t>(row.width * element_bytes) + kGuardBytes);
  for (std::byte& byte : row.bytes) byte = static_cast<std::byte>(random());
  row.words.resize(static_cast<std::size_t>(MaskWordCount(row.vocab_size)));
  const std::uint64_t zeros = below(4);  // how common words of all zeros and all ones are
  const std::uint64_t ones = below(4);
  const bool wide = below(3) == 0;  // words of which only one token is forbidden
  for (std::int32_t& word : row.words) {
    word = static_cast<std::int32_t>(wide ? ~(1U << below(32)) : random());
    if (below(4) < zeros) word = 0;
    if (below(4) < ones) word = -1;
  }
  return row;
}

class KernelTest : public testing::TestWithParam<const CpuKernel*> {
 protected:
  void SetUp() override {
    if (!cpu::Supports(GetParam()->level))
      GTEST_SKIP() << "NOT TESTED HERE: this processor lacks " << GetParam()->level;
  }
};

TEST_P(KernelTest, SameAsPortableAndAsTokenByToken) {
  std::mt19937_64 random(20261121);
  for (int i = 0; i < 2000; ++i) {
    const Row row32 = RandomRow(random, 4);
    ASSERT_EQ(row32.MaskedBy(GetParam()->mask_32bit),
              row32.MaskedBy(kPortableCpuKernel.mask_32bit));
    ASSERT_EQ(row32.MaskedBy(GetParam()->mask_32bit), row32.MaskedByToken(4)) << row32.vocab_size;
    const Row row16 = RandomRow(random, 2);
    ASSERT_EQ(row16.MaskedBy(GetParam()->mask_16bit),
              row16.MaskedBy(kPortableCpuKernel.mask_16bit));
    ASSERT_EQ(row16.MaskedBy(GetParam()->mask_16bit), row16.MaskedByToken(2)) << row16.vocab_size;
  }
}

TEST_P(KernelTest, FillsExactlyTheBytes) {
  constexpr std::uint32_t kPattern = 0x04030201;
  for (std::int64_t bytes = 0; bytes < 10'000; bytes += bytes < 300 ? 2 : 62) {
    std::vector<std::byte> filled(static_cast<std::size_t>(bytes) + kGuardBytes);
    GetParam()->fill(filled.data() + 1, bytes, kPattern);
    for (std::int64_t i = 0; i + 1 < std::ssize(filled); ++i) {
      const auto expected = static_cast<std::byte>(i < bytes ? 1 + i % 4 : 0);
      ASSERT_EQ(filled[static_cast<std::size_t>(i) + 1], expected) << i << " of " << bytes;
    }
    ASSERT_EQ(filled[0], std::byte{0});
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelTest,
                         testing::ValuesIn(CpuKernels().begin(), CpuKernels().end()),
                         [](const auto& test) { return std::string(test.param->level); });

TEST(Kernels, ThePortableOneIsLastAndAlwaysThere) {
  EXPECT_EQ(CpuKernels().back()->level, "portable");
  EXPECT_TRUE(cpu::Supports(CpuKernels().back()->level));
}

TEST(Kernels, BestIsTheFirstSupported) {
  for (const CpuKernel* kernel : CpuKernels()) {
    if (!cpu::Supports(kernel->level)) continue;
    EXPECT_EQ(BestCpuKernel().level, kernel->level);
    break;
  }
}

}  // namespace
}  // namespace maskd::client
