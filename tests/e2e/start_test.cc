// A server that cannot begin says why.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/process/server.h"
#include "tests/e2e/running_server.h"
#include "tests/service/base/no_threads.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

TEST(StartTest, WithoutThreadsIsAnError) {
  Config config;
  config.listen = {"unix:" + SocketPath("m.sock")};
  config.metrics_listen.clear();
  const NoThreads none;
  const auto server = Server::Start(config);
  ASSERT_TRUE(absl::IsUnavailable(server.status())) << server.status();
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("no thread"));
}

}  // namespace
}  // namespace maskd::service
