// What the thread beside a stream tells and is told. spread_rules_test.cc has streams that move.
#include "client/cpp/failover/server_watch.h"

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/cpp/failover/load_asker.h"
#include "tests/client/scripted_server.h"
#include "tests/service/base/no_threads.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;

absl::StatusOr<std::vector<std::string>> Itself(const std::string& address) {
  return std::vector<std::string>{address};
}

ServerWatch::Options OptionsOf(std::vector<std::string> addresses, absl::Duration every,
                               Resolver resolve = Itself) {
  ServerWatch::Options options;
  options.addresses = std::move(addresses);
  options.every = every;
  options.resolve = std::move(resolve);
  return options;
}

TEST(ServerWatchTest, ServersAreEachOnceInOrderWhateverTheirNames) {
  const Resolver resolve =
      [](const std::string& address) -> absl::StatusOr<std::vector<std::string>> {
    if (address == "many") return std::vector<std::string>{"c", "a"};
    if (address == "none") return absl::UnavailableError("no such name");
    return std::vector<std::string>{address};
  };
  EXPECT_THAT(ServerWatch::ServersOf({"b", "many", "a", "none"}, resolve),
              ElementsAre("a", "b", "c", "none"));
  EXPECT_THAT(ServerWatch::ServersOf({}, resolve), ElementsAre());
}

// Names that the system's resolver takes its time for: the stream that goes waits for one of them.
TEST(ServerWatchTest, ItsEndWaitsForOneAnswerAtMost) {
  absl::Notification looks;
  std::atomic<int> asked = 0;
  auto watch = std::make_unique<ServerWatch>(OptionsOf(
      std::vector<std::string>(2000, "a"), absl::ZeroDuration(), [&](const std::string& address) {
        if (asked++ == 0) looks.Notify();
        absl::SleepFor(absl::Milliseconds(1));
        return Itself(address);
      }));
  looks.WaitForNotification();
  watch.reset();
  EXPECT_LT(asked, 2000);
}

TEST(ServerWatchTest, WantsNothingOfAStreamThatIsAloneAndTakesWhatItIsGiven) {
  ServerWatch watch(OptionsOf({"a"}, absl::Hours(1)));
  EXPECT_THAT(watch.servers(), ElementsAre()) << "no look was taken yet";
  v1::Welcome welcome;
  welcome.set_stream_number(3);
  watch.Use("a", welcome);
  watch.Touch();
  EXPECT_FALSE(watch.has_news());
  EXPECT_FALSE(watch.WantsGrammars());
  watch.Give({{}, {}});  // nobody asked
  EXPECT_FALSE(watch.Take().has_value());
  watch.LeaveAlone("a");
}

TEST(ServerWatchTest, WithoutAThreadThereAreNoLooks) {
  std::atomic<int> asked = 0;
  {
    const service::NoThreads none;
    ServerWatch watch(OptionsOf({"a", "b"}, absl::ZeroDuration(), [&](const std::string& address) {
      ++asked;
      return Itself(address);
    }));
    watch.Use("a", {});
    EXPECT_FALSE(watch.has_news());
  }
  EXPECT_EQ(asked, 0);
}

// Servers that say they have more streams than there can be: sums of those stay numbers.
TEST(LoadAskerTest, FiguresThatCannotBeAreBounded) {
  std::vector<std::unique_ptr<ScriptedServer>> servers;
  std::vector<std::string> addresses;
  const std::vector<std::uint32_t> streams = {0, 1U << 31, 0x7FFFFFFF, 0xFFFFFFFF};
  for (const std::uint32_t count : streams) {
    servers.push_back(std::make_unique<ScriptedServer>(
        Script{.get_load =
                   [count](const auto& request, v1::GetLoadResponse& response) {
                     response.set_open_streams(count);
                     if (request.has_stream_number()) response.set_rank(0xFFFFFFFF);
                     return grpc::Status::OK;
                   }},
        absl::StrCat(".load", servers.size())));
    addresses.push_back(servers.back()->address());
  }
  LoadAsker asker;
  const LoadAsker::Own own{addresses[3], 1};
  const LoadAsker::Loads loads = asker.Ask(addresses, own, absl::Seconds(20));
  ASSERT_EQ(loads.streams.size(), 4U);
  EXPECT_EQ(loads.streams[0], 0);
  for (int i = 1; i < 4; ++i) {
    ASSERT_TRUE(loads.streams[i].has_value());
    EXPECT_GT(*loads.streams[i], 1000);
    EXPECT_LT(*loads.streams[i], std::numeric_limits<int>::max() / 256) << "256 servers' sum";
  }
  ASSERT_TRUE(loads.rank.has_value());
  EXPECT_GT(*loads.rank, 1000);
  EXPECT_TRUE(loads.IsUneven());
  EXPECT_EQ(loads.PlaceFor(addresses[3]), addresses[0]);
}

}  // namespace
}  // namespace maskd::client
