#include "memory/part.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace maskd::memory {
namespace {

TEST(PartTest, EachHasANameOfItsOwn) {
  std::set<std::string> names(kPartNames.begin(), kPartNames.end());
  EXPECT_EQ(names.size(), kPartCount);
  EXPECT_STREQ(NameOf(Part::kGrammars), "grammars");
  EXPECT_STREQ(NameOf(Part::kRows), "rows");
  EXPECT_STREQ(NameOf(Part::kWarmUp), "warm_up");
  EXPECT_STREQ(NameOf(Part::kSharedMemory), "shared_memory");
  EXPECT_EQ(static_cast<std::size_t>(Part::kSharedMemory) + 1, kPartCount) << "the last one";
}

}  // namespace
}  // namespace maskd::memory
