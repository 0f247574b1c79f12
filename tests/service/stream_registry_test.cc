#include "service/stream_registry.h"

#include <atomic>
#include <latch>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "cache/load_error.h"

namespace maskd::service {
namespace {

TEST(StreamRegistryTest, AStreamTooManyIsRefusedUntilOneEnds) {
  StreamRegistry registry(1);
  auto first = std::make_optional(registry.Add([] {}));
  ASSERT_TRUE(first->ok());
  const auto refused = registry.Add([] {});
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  EXPECT_TRUE(cache::RetryAfterMs(refused.status()).has_value());
  first.reset();
  EXPECT_TRUE(registry.Add([] {}).ok());
}

TEST(StreamRegistryTest, DrainTellsEachStreamOnceAndRefusesNewOnes) {
  StreamRegistry registry(10);
  std::atomic<int> told = 0;
  {
    const auto one = registry.Add([&] { ++told; });
    const auto two = registry.Add([&] { ++told; });
    registry.Drain();
    registry.Drain();
    EXPECT_TRUE(absl::IsUnavailable(registry.Add([] {}).status()));
  }
  EXPECT_EQ(told, 2) << "a registration's end waits for its notice";
}

TEST(StreamRegistryTest, OneStuckPeerHoldsUpNobodyElse) {
  StreamRegistry registry(10);
  std::latch release(1);
  std::latch told(1);
  auto stuck = registry.Add([&] { release.wait(); });
  const auto healthy = registry.Add([&] { told.count_down(); });
  registry.Drain();
  told.wait();
  release.count_down();
}

}  // namespace
}  // namespace maskd::service
