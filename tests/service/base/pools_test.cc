#include "service/base/pools.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/sequences/row_counts.h"

namespace maskd::service {
namespace {

TEST(PoolsTest, AreTwoFamiliesOneAfterTheOther) {
  std::vector<std::string> said;
  for (const metrics::Figure& figure : PoolFigures({{"a", 1, 2}, {"b", 3, 4}})) {
    EXPECT_STREQ(figure.label, "pool");
    said.push_back(std::string(figure.name.name) + " " + figure.label_value + " " +
                   std::to_string(static_cast<int>(figure.value)));
  }
  EXPECT_THAT(said, testing::ElementsAre("maskd_pool_in_use a 1", "maskd_pool_in_use b 3",
                                         "maskd_pool_limit a 2", "maskd_pool_limit b 4"));
}

TEST(FullestStreamTest, IsTheOneWithMostRowsThatIsStillThere) {
  OpenRows small(nullptr);
  small.Set(2);
  {
    OpenRows large(nullptr);
    large.Set(5);
    EXPECT_EQ(FullestStream(), 5);
    large.Set(1);
    EXPECT_EQ(FullestStream(), 2);
    large.Set(9);
  }
  EXPECT_EQ(FullestStream(), 2);
  small.Set(0);
  EXPECT_EQ(FullestStream(), 0);
}

}  // namespace
}  // namespace maskd::service
