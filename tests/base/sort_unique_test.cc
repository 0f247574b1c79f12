#include "grammar_core/base/sort_unique.h"

#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

TEST(SortUniqueTest, IsASet) {
  std::mt19937 random(1);
  for (int run = 0; run < 1000; ++run) {
    std::vector<int> values(random() % 10);
    for (int& value : values) value = static_cast<int>(random() % 8);
    const std::set<int> expected(values.begin(), values.end());
    SortUnique(&values);
    EXPECT_EQ(values, std::vector<int>(expected.begin(), expected.end()));
  }
}

}  // namespace
}  // namespace maskd
