#include "memory/byte_size.h"

#include <vector>

#include <gtest/gtest.h>

namespace maskd::memory {
namespace {

struct SizeCase {
  const char* name;
  const char* text;
  std::optional<std::int64_t> bytes;
};

class ByteSizeTest : public testing::TestWithParam<SizeCase> {};

TEST_P(ByteSizeTest, IsReadAsWritten) {
  EXPECT_EQ(ParseByteSize(GetParam().text), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(Texts, ByteSizeTest,
                         testing::ValuesIn(std::vector<SizeCase>{
                             {"Plain", "1073741824", 1 << 30},
                             {"Bytes", "7B", 7},
                             {"Mebibytes", "512MiB", 512 << 20},
                             {"Gibibytes", "1GiB", 1 << 30},
                             {"Gigabytes", "2GB", 2'000'000'000},
                             {"Kilobytes", "3kB", 3000},
                             {"Zero", "0", 0},
                             {"Largest", "9223372036854775807", 9223372036854775807},
                             {"TooLarge", "8388608TiB", std::nullopt},
                             {"TooManyDigits", "9223372036854775808", std::nullopt},
                             {"Nothing", "", std::nullopt},
                             {"UnitAlone", "GiB", std::nullopt},
                             {"Negative", "-1", std::nullopt},
                             {"Fraction", "1.5GiB", std::nullopt},
                             {"Blank", "1 GiB", std::nullopt},
                             {"UnknownUnit", "1gib", std::nullopt},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd::memory
