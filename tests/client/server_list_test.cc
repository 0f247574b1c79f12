#include "client/cpp/failover/server_list.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/base/steady_time.h"
#include "client/cpp/base/wire_status.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const SteadyTime kNow = SteadyTime::Now();

// A refusal that says when to ask again.
absl::Status Full(absl::Duration after) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(absl::ToInt64Seconds(after));
  return FromWire(ErrorWith(grpc::StatusCode::RESOURCE_EXHAUSTED, "full", retry));
}

TEST(ServerListTest, AsksInOrderFromTheOneInUseOn) {
  ServerList servers({"a", "b", "c"});
  EXPECT_EQ(servers.address(), "a");
  servers.GoOn();
  EXPECT_THAT(servers.ToAsk(kNow), ElementsAre("b", "c", "a"));
  servers.Use("c");
  EXPECT_THAT(servers.ToAsk(kNow), ElementsAre("c", "a", "b"));
}

TEST(ServerListTest, AServerThatNobodyListedMayBeUsed) {
  ServerList servers({"a"});
  servers.Use("x");
  EXPECT_EQ(servers.address(), "x");
  EXPECT_THAT(servers.all(), ElementsAre("a", "x"));
}

TEST(ServerListTest, ARefusedServerIsAskedAgainWhenItSaidAndNotBefore) {
  ServerList servers({"a", "b"});
  servers.Note("a", Full(absl::Seconds(5)), kNow);
  EXPECT_THAT(servers.ToAsk(kNow + absl::Seconds(5) - absl::Nanoseconds(1)), ElementsAre("b"));
  EXPECT_THAT(servers.ToAsk(kNow + absl::Seconds(5)), ElementsAre("a", "b"));
}

TEST(ServerListTest, AnErrorWithoutATimeTakesTheTimeBack) {
  ServerList servers({"a"});
  servers.Note("a", Full(absl::Seconds(5)), kNow);
  servers.Note("a", absl::UnavailableError("gone"), kNow);
  EXPECT_THAT(servers.ToAsk(kNow), ElementsAre("a"));
}

TEST(ServerListTest, TheFirstRefusalCountsWhereAllHaveRefused) {
  ServerList servers({"a", "b"});
  servers.Note("a", Full(absl::Seconds(5)), kNow);
  EXPECT_FALSE(servers.First().has_value()) << "b may be asked";
  servers.Note("b", Full(absl::Seconds(3)), kNow);
  const auto first = servers.First();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->until, kNow + absl::Seconds(3));
  EXPECT_EQ(first->error.message(), "full");
  EXPECT_THAT(servers.ToAsk(kNow), IsEmpty());
}

TEST(ServerListTest, TheOneInUseStaysWhateverTheNamesSay) {
  std::mt19937 random(1);
  ServerList servers({"a", "b"});
  servers.Use("b");
  servers.Replace({"c", "d"}, random);
  EXPECT_EQ(servers.address(), "b");
  EXPECT_THAT(servers.all(), UnorderedElementsAre("b", "c", "d"));
  servers.Replace({}, random);
  EXPECT_THAT(servers.all(), UnorderedElementsAre("b", "c", "d"));
  servers.Shuffle(random);
  EXPECT_EQ(servers.address(), "b");
}

}  // namespace
}  // namespace maskd::client
