#include "service/process/health_probe.h"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

Config Asking(std::vector<std::string> listen, const std::string& name) {
  Config config;
  config.listen = std::move(listen);
  config.health = name;
  return config;
}

TEST(HealthProbeTest, SaysHowARunningServerStands) {
  const RunningServer running;
  for (const char* name : {"readiness", "liveness", ""}) {
    const auto asked = AskHealth(Asking({running.address()}, name));
    ASSERT_TRUE(asked.ok()) << asked.status();
    EXPECT_TRUE(*asked) << name;
  }
  const auto strange = AskHealth(Asking({running.address()}, "other"));
  EXPECT_TRUE(absl::IsNotFound(strange.status())) << strange.status();
}

TEST(HealthProbeTest, AsksWhereNoCertificateIsNeeded) {
  const RunningServer running;
  const auto asked = AskHealth(Asking({"127.0.0.1:1", running.address()}, "readiness"));
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_TRUE(*asked);
  EXPECT_TRUE(absl::IsFailedPrecondition(AskHealth(Asking({"127.0.0.1:1"}, "readiness")).status()));
}

TEST(HealthProbeTest, NoServerIsNoAnswer) {
  const auto asked = AskHealth(Asking({"unix:/nonexistent/maskd.sock"}, "readiness"));
  EXPECT_TRUE(absl::IsUnavailable(asked.status())) << asked.status();
  EXPECT_THAT(std::string(asked.status().message()), HasSubstr("unix:/nonexistent/maskd.sock"));
}

TEST(HealthProbeTest, ADrainedServerIsNotReady) {
  Config config;
  config.drain_ms = 3'600'000;
  RunningServer running(config);
  TestStream stream(running.channel());
  stream.Greet();
  std::thread drain([&] { running.server().Drain(); });
  v1::DecodeResponse told;
  EXPECT_TRUE(stream.Read(&told));
  const auto ready = AskHealth(Asking({running.address()}, "readiness"));
  const auto live = AskHealth(Asking({running.address()}, "liveness"));
  EXPECT_TRUE(stream.Finish().ok());
  drain.join();
  ASSERT_TRUE(ready.ok() && live.ok()) << ready.status() << live.status();
  EXPECT_FALSE(*ready);
  EXPECT_TRUE(*live);
}

}  // namespace
}  // namespace maskd::service
