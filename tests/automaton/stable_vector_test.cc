#include "grammar_core/base/stable_vector.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace maskd {
namespace {

template <typename Vector>
class StableVectorTest : public testing::Test {};
using Vectors = testing::Types<StableVector<std::uint32_t>, StableVector<std::uint32_t, 2>,
                               StableVector<std::uint32_t, 1, 3>, StableVector<std::uint32_t, 2, 4>,
                               StableVector<std::uint32_t, 3>>;
TYPED_TEST_SUITE(StableVectorTest, Vectors);

TYPED_TEST(StableVectorTest, ElementsKeepTheirPlaceAndValueAcrossChunks) {
  constexpr std::uint32_t kCount = 3'000'000;  // past any table of a fixed number of small chunks
  TypeParam numbers;
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

TYPED_TEST(StableVectorTest, ChunksHoldWhatIsThereAndNotMuchMore) {
  TypeParam numbers;
  EXPECT_EQ(numbers.chunk_bytes(), 0);
  for (std::uint32_t i = 1; i <= 100'000; ++i) {
    numbers.Append();
    const auto held = static_cast<std::int64_t>(i * sizeof(std::uint32_t));
    ASSERT_GE(numbers.chunk_bytes(), held);
    ASSERT_LE(numbers.chunk_bytes(), 2 * held + 256);
  }
}

struct Counted {
  static inline int alive = 0;
  Counted() { ++alive; }
  ~Counted() { --alive; }
};

TEST(StableVectorEndTest, EndsEveryElementOnce) {
  for (const int count : {0, 1, 64, 65, 1000}) {
    {
      StableVector<Counted, 2> vector;
      for (int i = 0; i < count; ++i) vector.Append();
      ASSERT_GE(Counted::alive, count);
    }
    ASSERT_EQ(Counted::alive, 0) << count;
  }
}

// Under LeakSanitizer the whole program fails at its end where a vector that is in use is taken for
// lost, or what it alone owns.
TEST(StableVectorEndTest, OneThatIsInUseIsNotLost) {
  static auto* const in_use = new StableVector<std::unique_ptr<int>>();
  for (int i = 0; i < 1000; ++i) in_use->Append() = std::make_unique<int>(i);
  EXPECT_EQ(*(*in_use)[999], 999);
}

}  // namespace
}  // namespace maskd
