#include "service/stream_registry.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
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
  EXPECT_EQ(told, 2);
}

TEST(StreamRegistryTest, WaitsUntilTheLastStreamHasGone) {
  StreamRegistry registry(10);
  auto stream = std::make_optional(registry.Add([] {}));
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  registry.WaitUntilEmpty(soon);
  EXPECT_GE(std::chrono::steady_clock::now(), soon);
  std::thread leaver([&stream] { stream.reset(); });
  registry.WaitUntilEmpty(std::chrono::steady_clock::now() + std::chrono::hours(1));
  leaver.join();
}

}  // namespace
}  // namespace maskd::service
