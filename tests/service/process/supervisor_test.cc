#include "service/process/supervisor.h"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/service/process/notify_listener.h"

namespace maskd::service {
namespace {

TEST(SupervisorTest, IsToldEachMessageInADatagramOfItsOwn) {
  const NotifyListener listener;
  const Supervisor supervisor(listener.name());
  supervisor.Ready();
  supervisor.Reloading();
  supervisor.Alive();
  supervisor.Stopping();
  EXPECT_EQ(listener.Next(), "READY=1");
  EXPECT_THAT(listener.Next(), testing::MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
  EXPECT_EQ(listener.Next(), "WATCHDOG=1");
  EXPECT_EQ(listener.Next(), "STOPPING=1");
  EXPECT_EQ(listener.Next(), "");
}

TEST(SupervisorTest, ThereNeedBeNone) {
  Supervisor(std::nullopt).Ready();
  Supervisor("").Ready();
  Supervisor("/nonexistent/notify").Ready();
  Supervisor(std::string(200, 'x')).Ready();
}

}  // namespace
}  // namespace maskd::service
