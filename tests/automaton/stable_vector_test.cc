#include "grammar_core/base/stable_vector.h"

#include <vector>

#include <gtest/gtest.h>

namespace maskd {
namespace {

TEST(StableVectorTest, ElementsKeepTheirPlaceAndValueAcrossChunks) {
  constexpr std::uint32_t kCount = 3'000'000;  // past any table of a fixed number of small chunks
  StableVector<std::uint32_t> numbers;
  std::vector<const std::uint32_t*> places;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    std::uint32_t& number = numbers.Append();
    number = i;
    places.push_back(&number);
  }
  ASSERT_EQ(numbers.size(), kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(numbers[i], i);
    ASSERT_EQ(&numbers[i], places[i]);
  }
}

}  // namespace
}  // namespace maskd
