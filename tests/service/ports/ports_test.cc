// The addresses of a server, and the server's threads for its streams, as each starts and ends.
#include "service/ports/ports.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "maskd/v1/mask_service.grpc.pb.h"
#include "service/admin/server_plugins.h"
#include "service/base/log.h"
#include "service/calls/mask_service.h"
#include "tests/base/test_folder.h"
#include "tests/service/base/no_threads.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct RightsCase {
  std::optional<std::int64_t> mode;
  std::optional<std::int64_t> group;
  mode_t rights;
};

TEST(SocketRightsTest, AGroupThatIsNamedMayConnect) {
  for (const RightsCase& one : {RightsCase{{}, {}, 0700}, RightsCase{{}, 7, 0770},
                                RightsCase{0777, {}, 0777}, RightsCase{0700, 7, 0700}}) {
    Config config;
    config.socket_mode = one.mode;
    config.socket_group = one.group;
    const ring::SocketRights rights = SocketRightsOf(config);
    EXPECT_EQ(rights.mode, one.rights);
    EXPECT_EQ(rights.group.has_value(), one.group.has_value());
  }
}

// A server of MaskService at a socket of its own.
class PortsTest : public testing::Test {
 protected:
  PortsTest() : shelf_(*TokenizerStore::Load({}, 1 << 20)), grammars_(config_, nullptr) {
    SilenceLog();
    config_.listen = {"unix:" + socket_};
    config_.warm_up_ms = 0;
  }

  // What the load of a server is, asked over its socket.
  grpc::Status AskOver(const std::string& address) {
    const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    v1::GetLoadResponse response;
    return v1::MaskService::NewStub(channel)->GetLoad(&context, {}, &response);
  }

  const TestFolder folder_;
  const std::string socket_ = folder_.Path("sock");
  Config config_;
  TokenizerShelf shelf_;
  metrics::Metrics metrics_{"1"};
  GrammarStore grammars_;
  Connections connections_;
  Admission admission_;
  const Gate gate_{&connections_, &admission_};
};

TEST_F(PortsTest, AConnectionIsServedFromStartToClose) {
  config_.insecure_listen = {"127.0.0.1:0"};
  UnaryCalls calls(config_, [this](const auto& context) { return gate_.Admit(context); });
  MaskService masks(config_, &shelf_, &grammars_, &gate_, &metrics_);
  Ports ports(config_, &connections_);
  ASSERT_TRUE(ports.Open().ok());
  ASSERT_EQ(ports.ports().size(), 2U);
  EXPECT_GT(ports.ports()[1], 0);
  const auto builder = BuilderWithoutPlugins();
  masks.AddTo(&calls);
  calls.Listen(builder.get());
  masks.Listen(builder.get());
  ports.SetUp(builder.get());
  const auto server = builder->BuildAndStart();
  ASSERT_TRUE(calls.Start().ok());
  ASSERT_TRUE(masks.Start([&](auto* queue, int* live) { calls.Accept(queue, live); }).ok());
  ASSERT_TRUE(ports.Start(server.get()).ok());
  const std::string tcp = absl::StrCat("127.0.0.1:", ports.ports()[1]);
  EXPECT_TRUE(AskOver("unix:" + socket_).ok());
  EXPECT_TRUE(AskOver(tcp).ok());
  // The answer may be here before the loop waits again.
  while (ports.activity().since().has_value()) std::this_thread::yield();
  ports.Close();
  EXPECT_EQ(AskOver(tcp).error_code(), grpc::StatusCode::UNAVAILABLE);
  struct stat file{};
  EXPECT_NE(stat(socket_.c_str(), &file), 0) << "its file is gone";
  server->Shutdown(std::chrono::system_clock::now());
  masks.Join();
  calls.Join();
}

TEST_F(PortsTest, SaysWhichAddressCannotBeHad) {
  Ports first(config_, &connections_);
  ASSERT_TRUE(first.Open().ok());
  Ports second(config_, &connections_);
  const absl::Status taken = second.Open();
  EXPECT_TRUE(absl::IsUnavailable(taken)) << taken;
  EXPECT_THAT(std::string(taken.message()),
              StartsWith("--listen: cannot listen on unix:" + socket_));
  config_.listen = {"unix:" + folder_.Path("none/sock")};
  EXPECT_THAT(Ports(config_, &connections_).Open().message(), HasSubstr("none/sock"));
  config_.listen = {"127.0.0.1:0"};  // without TLS
  EXPECT_TRUE(absl::IsInvalidArgument(Ports(config_, &connections_).Open()));
}

TEST_F(PortsTest, WithoutAThreadNothingIsAccepted) {
  Ports ports(config_, &connections_);
  ASSERT_TRUE(ports.Open().ok());
  const auto server = BuilderWithoutPlugins()->BuildAndStart();
  const NoThreads none;
  const absl::Status started = ports.Start(server.get());
  EXPECT_TRUE(absl::IsUnavailable(started)) << started;
  EXPECT_THAT(std::string(started.message()), StartsWith("--listen: "));
  ports.Close();
}

TEST_F(PortsTest, AnAddressForAdminsHasLimitsOfItsOwn) {
  config_.admin_listen = {"unix:" + folder_.Path("admin")};
  Ports ports(config_, &connections_, Audience::kAdmins);
  ASSERT_TRUE(ports.Open().ok());
  const auto server = BuilderWithoutPlugins()->BuildAndStart();
  ASSERT_TRUE(ports.Start(server.get()).ok());
  EXPECT_LT(connections_.limits().in_all, config_.max_connections);
  EXPECT_LT(connections_.limits().of_a_peer, connections_.limits().in_all);
  ports.Close();
}

// A start that fails half way leaves calls that wait to be accepted, and ends all the same.
TEST_F(PortsTest, StreamsWithoutAThreadAreAnErrorAndEnd) {
  config_.stream_threads = 2;
  MaskService masks(config_, &shelf_, &grammars_, &gate_, &metrics_);
  const auto builder = BuilderWithoutPlugins();
  masks.Listen(builder.get());
  const auto server = builder->BuildAndStart();
  {
    const NoThreads none;
    EXPECT_TRUE(absl::IsUnavailable(masks.Start([](auto* /*queue*/, int* /*live*/) {})));
  }
  server->Shutdown(std::chrono::system_clock::now());
  masks.Join();
}

TEST_F(PortsTest, EachPoolOfStreamsIsNamedWithItsBound) {
  config_.stream_threads = 3;
  config_.mask_threads = 0;
  config_.max_streams = 5;
  const MaskService masks(config_, &shelf_, &grammars_, &gate_, &metrics_);
  EXPECT_EQ(masks.thread_count(), 3);
  EXPECT_EQ(masks.queued_bytes(), 0);
  for (const Pool& pool : masks.pools()) {
    EXPECT_EQ(pool.in_use, 0) << pool.name;
    EXPECT_GT(pool.limit, 0) << pool.name;
    EXPECT_STRNE(pool.name, "mask_threads") << "there are none";
  }
}

}  // namespace
}  // namespace maskd::service
