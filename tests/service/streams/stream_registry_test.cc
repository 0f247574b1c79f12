#include "service/streams/stream_registry.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/load_error.h"

namespace maskd::service {
namespace {

void Ignore(StreamRegistry::Notice /*notice*/) {}

TEST(StreamRegistryTest, AStreamTooManyIsRefusedAtItsHelloUntilOneEnds) {
  StreamRegistry registry({.in_all = 1, .of_a_peer = 1});
  auto first = std::make_optional(registry.Add("a", &Ignore));
  ASSERT_TRUE(first->ok());
  auto second = registry.Add("a", &Ignore);
  ASSERT_TRUE(second.ok()) << "who has not said hello has no place";
  ASSERT_TRUE((*first)->TakePlace().ok());
  const absl::Status refused = second->TakePlace();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_TRUE(cache::RetryAfterMs(refused).has_value());
  first.reset();
  EXPECT_TRUE(second->TakePlace().ok());
}

TEST(StreamRegistryTest, OnePeerHasItsShare) {
  StreamRegistry registry({.in_all = 10, .of_a_peer = 1});
  auto first = registry.Add("a", &Ignore);
  auto second = std::make_optional(registry.Add("a", &Ignore));
  auto other = registry.Add("b", &Ignore);
  EXPECT_TRUE(first->TakePlace().ok());
  EXPECT_TRUE(absl::IsResourceExhausted((*second)->TakePlace()));
  EXPECT_TRUE(other->TakePlace().ok());
}

TEST(StreamRegistryTest, SaysHowManyThereAreAndWhichOfThemAStreamIs) {
  StreamRegistry registry({.in_all = 10, .of_a_peer = 10});
  auto first = std::make_optional(registry.Add("a", &Ignore));
  auto apart = registry.Add("page", &Ignore, nullptr, /*is_apart=*/true);
  auto silent = registry.Add("a", &Ignore);
  auto second = registry.Add("b", &Ignore);
  for (auto* stream : {&*first, &apart, &second}) ASSERT_TRUE((*stream)->TakePlace().ok());
  const auto rank = [&registry](std::optional<std::uint64_t> number) {
    const auto load = registry.GetLoad(number);
    EXPECT_TRUE(load.ok() && load->placed == registry.CountPlaced());
    return load->rank;
  };
  EXPECT_EQ(rank((*first)->number()), 1);
  EXPECT_EQ(rank(second->number()), 2);
  EXPECT_EQ(rank(silent->number()), std::nullopt) << "it has no place";
  EXPECT_EQ(rank(apart->number()), std::nullopt) << "its place is elsewhere";
  EXPECT_EQ(rank(99), std::nullopt);
  EXPECT_EQ(rank(std::nullopt), std::nullopt);
  first.reset();
  EXPECT_EQ(rank(second->number()), 1) << "an older one has gone";
  registry.Drain();
  EXPECT_TRUE(absl::IsUnavailable(registry.GetLoad(second->number()).status()));
}

TEST(StreamRegistryTest, SaysWhatIsTakenOfEachLimit) {
  StreamRegistry registry({.in_all = 10, .of_a_peer = 4});
  std::vector<StreamRegistry::Registration> streams;
  for (const char* peer : {"a", "a", "b", "c"}) {
    auto added = registry.Add(peer, &Ignore);
    ASSERT_TRUE(added.ok()) << added.status();
    streams.push_back(*std::move(added));
    if (std::string(peer) != "c") ASSERT_TRUE(streams.back().TakePlace().ok());
  }
  std::vector<std::string> said;
  for (const Pool& pool : registry.pools())
    said.push_back(absl::StrCat(pool.name, " ", pool.in_use, "/", pool.limit));
  EXPECT_THAT(said, testing::ElementsAre("streams 3/10", "peer_streams 2/4",
                                         "streams_before_hello 1/1024"));
}

TEST(StreamRegistryTest, OneThatIsApartTakesNoPlaceOfAll) {
  StreamRegistry registry({.in_all = 1, .of_a_peer = 1});
  auto apart = registry.Add("page", &Ignore, nullptr, /*is_apart=*/true);
  auto engine = registry.Add("a", &Ignore);
  auto second = std::make_optional(registry.Add("page", &Ignore, nullptr, /*is_apart=*/true));
  EXPECT_TRUE(apart->TakePlace().ok());
  EXPECT_TRUE(engine->TakePlace().ok()) << "the one place is free";
  EXPECT_TRUE((*second)->TakePlace().ok()) << "although the one place is taken";
  second.reset();
  auto other = registry.Add("b", &Ignore);
  EXPECT_TRUE(absl::IsResourceExhausted(other->TakePlace())) << "its end gives none back";
}

TEST(StreamRegistryTest, OfManyWithoutHelloTheOldestGoes) {
  StreamRegistry registry({.in_all = 2, .of_a_peer = 2});
  std::vector<StreamRegistry::Registration> silent;
  std::vector<std::size_t> ended;
  for (std::size_t i = 0; i < StreamRegistry::kMaxBeforeHello + 3; ++i) {
    auto added = registry.Add("a", [&ended, i](StreamRegistry::Notice notice) {
      EXPECT_EQ(notice, StreamRegistry::Notice::kCallEnd);
      ended.push_back(i);
    });
    ASSERT_TRUE(added.ok()) << added.status();
    if (i == 0) ASSERT_TRUE(added->TakePlace().ok());
    silent.push_back(*std::move(added));
  }
  EXPECT_THAT(ended, testing::ElementsAre(1, 2)) << "not the one with a place";
  EXPECT_TRUE(absl::IsResourceExhausted(registry.Late()));
  EXPECT_TRUE(silent.back().TakePlace().ok());
}

TEST(StreamRegistryTest, DrainTellsEachStreamOnceAndRefusesNewOnes) {
  StreamRegistry registry({});
  std::vector<StreamRegistry::Notice> told;
  {
    auto one = registry.Add("a", [&](StreamRegistry::Notice notice) { told.push_back(notice); });
    auto two = registry.Add("a", [&](StreamRegistry::Notice notice) { told.push_back(notice); });
    ASSERT_TRUE(one->TakePlace().ok());
    registry.Drain();
    registry.Drain();
    EXPECT_TRUE(absl::IsUnavailable(registry.Add("a", &Ignore).status()));
    EXPECT_TRUE(absl::IsUnavailable(registry.Late()));
  }
  EXPECT_THAT(told, testing::ElementsAre(StreamRegistry::Notice::kGoAway,
                                         StreamRegistry::Notice::kCallEnd));
}

TEST(StreamRegistryTest, WaitsUntilTheLastStreamHasGone) {
  StreamRegistry registry({});
  auto stream = std::make_optional(registry.Add("a", &Ignore));
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  registry.WaitUntilEmpty(soon);
  EXPECT_GE(std::chrono::steady_clock::now(), soon);
  std::thread leaver([&stream] { stream.reset(); });
  registry.WaitUntilEmpty(std::chrono::steady_clock::now() + std::chrono::hours(1));
  leaver.join();
}

}  // namespace
}  // namespace maskd::service
