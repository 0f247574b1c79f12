#include "cache/negative_cache.h"

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

namespace maskd::cache {
namespace {

using std::chrono::seconds;

constexpr NegativeCache::TimePoint kStart{};

TEST(NegativeCacheTest, ForgetsAfterItsTime) {
  NegativeCache cache(10, seconds(60));
  cache.Put("a", absl::InvalidArgumentError("bad"), kStart);
  EXPECT_EQ(cache.Find("a", kStart + seconds(59))->message(), "bad");
  EXPECT_FALSE(cache.Find("a", kStart + seconds(60)).has_value());
  EXPECT_EQ(cache.size(), 0U);
}

TEST(NegativeCacheTest, PuttingAgainDoesNotProlong) {
  NegativeCache cache(10, seconds(60));
  cache.Put("a", absl::InvalidArgumentError("bad"), kStart);
  cache.Put("a", absl::InvalidArgumentError("bad"), kStart + seconds(30));
  EXPECT_FALSE(cache.Find("a", kStart + seconds(61)).has_value());
}

TEST(NegativeCacheTest, HoldsNoMoreThanItsBound) {
  NegativeCache cache(3, seconds(60));
  for (int i = 0; i < 10; ++i)
    cache.Put(absl::StrCat(i), absl::InvalidArgumentError("bad"), kStart + seconds(i));
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_FALSE(cache.Find("6", kStart + seconds(10)).has_value());
  EXPECT_TRUE(cache.Find("7", kStart + seconds(10)).has_value());
}

}  // namespace
}  // namespace maskd::cache
