// More connections than there may be, and more than there are descriptors for.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ring/unique_fd.h"
#include "tests/e2e/running_server.h"
#include "tests/e2e/server_program.h"

namespace maskd::service {
namespace {

using ring::UniqueFd;
using testing::HasSubstr;

constexpr int kSilent = 1'100;

// A connection that says nothing. Waits for room among those that are not accepted yet.
UniqueFd Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

// As many as this test needs at its own end.
void RaiseDescriptors() {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GT(limit.rlim_cur, static_cast<rlim_t>(2 * kSilent));
}

// Waits until the other end has closed it.
void AwaitEnd(const UniqueFd& fd) {
  char byte = 0;
  while (recv(fd.get(), &byte, 1, 0) > 0) {
  }
}

class DescriptorsTest : public testing::TestWithParam<rlim_t> {};

TEST_P(DescriptorsTest, WhoComesAfterSilentOnesIsServed) {
  RaiseDescriptors();
  ServerProgram program({.descriptors = GetParam()});
  ASSERT_TRUE(IsLive(ConnectTo(program.address())));
  const auto open_all_along = ConnectTo(program.address());
  ExpectServes(open_all_along);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < kSilent; ++i) silent.push_back(Connect(program.socket()));
  AwaitEnd(silent.back());  // it was one too many
  ExpectServes(open_all_along);
  silent.clear();
  const auto after = ConnectTo(program.address());
  EXPECT_TRUE(IsLive(after));
  ExpectServes(after);
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ulimit, DescriptorsTest, testing::Values(64, 1024));

TEST(ConnectionLimitTest, OnePeerHasItsShareAndTheOthersTheirs) {
  Config config;
  config.max_connections = 50;
  config.max_peer_connections = 4;
  const RunningServer running(config, RunningServer::Metrics::kOn);
  const std::string path = running.address().substr(5);
  std::vector<UniqueFd> held;
  for (int i = 0; i < 4; ++i) held.push_back(Connect(path));
  const UniqueFd refused = Connect(path);
  AwaitEnd(refused);
  ExpectServes(ConnectTo(absl::StrCat("127.0.0.1:", running.server().ports()[1])));
  const std::string page = Scrape(running.server().metrics_port());
  EXPECT_THAT(page, HasSubstr("maskd_connections_open "));
  EXPECT_THAT(page, HasSubstr(
                        "maskd_connections_refused_total{reason=\"max_peer_connections\"} 1"));
  EXPECT_THAT(page, HasSubstr("maskd_connections_refused_total{reason=\"max_connections\"} 0"));
  EXPECT_THAT(page, HasSubstr("maskd_log_lines_dropped_total "));
}

TEST(ConnectionLimitTest, SharedMemoryIsForThoseOfThisMachineAlone) {
  const RunningServer running;
  for (const auto& [address, offered] :
       {std::pair(running.address(), true),
        std::pair(absl::StrCat("127.0.0.1:", running.server().ports()[1]), false)}) {
    TestStream stream(ConnectTo(address));
    v1::DecodeRequest request;
    request.mutable_hello()->set_logits_width(257);
    request.mutable_hello()->set_shared_memory(true);
    ASSERT_TRUE(stream.Send(request));
    v1::DecodeResponse response;
    ASSERT_TRUE(stream.Read(&response));
    EXPECT_EQ(response.welcome().has_shared_memory(), offered) << address;
  }
}

}  // namespace
}  // namespace maskd::service
