#include "service/callers/connections.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ring/unique_fd.h"
#include "tests/service/base/hand_clock.h"

namespace maskd::service {
namespace {

using ring::UniqueFd;
using Verdict = Connections::Verdict;

std::string Me() { return absl::StrCat("uid:", getuid()); }

// A connection over a Unix socket of this process with itself.
struct Pair {
  Pair() {
    std::array<int, 2> ends = {};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    ours = UniqueFd(ends[0]);
    theirs = UniqueFd(ends[1]);
  }
  UniqueFd ours;
  UniqueFd theirs;
};

TEST(ConnectionsTest, SaysWhoIsAtTheOtherEnd) {
  Connections connections;
  const Pair pair;
  ASSERT_EQ(connections.Admit(pair.ours.get()), Verdict::kAdmitted);
  const Peer peer = connections.PeerOf(absl::StrCat("fd:", pair.ours.get()));
  EXPECT_TRUE(peer.is_local);
  EXPECT_EQ(peer.name, Me());
  for (const char* unknown : {"fd:99999", "fd:x", "ipv4:127.0.0:80", "ipv6:[::1:80", ""}) {
    EXPECT_FALSE(connections.PeerOf(unknown).is_local) << unknown;
    EXPECT_EQ(connections.PeerOf(unknown).name, "") << unknown;
  }
}

TEST(ConnectionsTest, OneOfIpIsKnownByItsAddress) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener.get(), plain, size), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), plain, &size), 0);
  const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(client.get(), plain, size), 0);
  const UniqueFd server(accept(listener.get(), nullptr, nullptr));
  const Peer peer = PeerOfSocket(server.get());
  EXPECT_FALSE(peer.is_local);
  EXPECT_EQ(peer.name, "127.0.0.1");
}

TEST(ConnectionsTest, NoMoreThanTheLimitAndAgainOnceOneHasGone) {
  HandClock clock;
  Connections connections(&clock);
  connections.SetLimits({.in_all = 2, .of_a_peer = 5});
  const Pair first;
  Pair second;
  const Pair third;
  EXPECT_EQ(connections.Admit(first.ours.get()), Verdict::kAdmitted);
  EXPECT_EQ(connections.Admit(second.ours.get()), Verdict::kAdmitted);
  EXPECT_EQ(connections.Admit(third.ours.get()), Verdict::kTooMany);
  EXPECT_EQ(connections.refused(Verdict::kTooMany), 1);
  second.ours = UniqueFd();  // whoever has it closes it
  clock.Advance(Connections::kSweep);
  EXPECT_EQ(connections.Admit(third.ours.get()), Verdict::kAdmitted);
  EXPECT_EQ(connections.CountOpen(), 2);
  const std::vector<Pool> pools = connections.pools();
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_STREQ(pools[0].name, "connections");
  EXPECT_EQ(pools[0].in_use, 2);
  EXPECT_EQ(pools[0].limit, 2);
  EXPECT_STREQ(pools[1].name, "peer_connections");
  EXPECT_EQ(pools[1].in_use, 2) << "this user has both";
  EXPECT_EQ(pools[1].limit, 5);
}

TEST(ConnectionsTest, OnePeerHasItsShareAlone) {
  HandClock clock;
  Connections connections(&clock);
  connections.SetLimits({.in_all = 5, .of_a_peer = 1});
  const Pair first;
  const Pair second;
  EXPECT_EQ(connections.Admit(first.ours.get()), Verdict::kAdmitted);
  EXPECT_EQ(connections.Admit(second.ours.get()), Verdict::kTooManyOfPeer);
  EXPECT_EQ(connections.refused(Verdict::kTooManyOfPeer), 1);
  EXPECT_EQ(connections.refused(Verdict::kTooMany), 0);
}

TEST(ConnectionsTest, ANumberThatIsUsedAgainIsAnotherConnection) {
  HandClock clock;
  Connections connections(&clock);
  connections.SetLimits({.in_all = 5, .of_a_peer = 1});
  Pair first;
  const int number = first.ours.get();
  EXPECT_EQ(connections.Admit(number), Verdict::kAdmitted);
  first.ours = UniqueFd();
  const Pair second;
  const UniqueFd same(dup2(second.ours.get(), number));
  EXPECT_EQ(connections.Admit(same.get()), Verdict::kAdmitted);
  EXPECT_EQ(connections.CountOpen(), 1);
}

struct LimitsCase {
  const char* name;
  std::int64_t in_all, of_a_peer, free_fds;
  int expected_in_all, expected_of_a_peer;
};

class LimitsTest : public testing::TestWithParam<LimitsCase> {};

TEST_P(LimitsTest, FitTheDescriptors) {
  const LimitsCase& c = GetParam();
  const auto limits = Connections::LimitsFor(c.in_all, c.of_a_peer, c.free_fds);
  EXPECT_EQ(limits.in_all, c.expected_in_all);
  EXPECT_EQ(limits.of_a_peer, c.expected_of_a_peer);
}

INSTANTIATE_TEST_SUITE_P(Descriptors, LimitsTest,
                         testing::ValuesIn(std::vector<LimitsCase>{
                             {"Plenty", 1024, 512, 1'000'000, 1024, 512},
                             {"Few", 1024, 512, 30, 30, 15},
                             {"None", 1024, 512, -5, 1, 1},
                             {"APeerMayHaveAll", 100, 1024, 40, 40, 40},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd::service
