// Many callers that wait: for a change of health, and for one compile.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include <gtest/gtest.h>

#include "tests/e2e/running_server.h"
#include "tests/e2e/server_program.h"

namespace maskd::service {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// More than a connection may have calls, and than there are threads.
constexpr int kConnections = 4;
constexpr int kWatchers = 350;

// A call of Watch that is never looked at again.
struct Watcher {
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;
};

std::unique_ptr<Watcher> Watch(const std::shared_ptr<grpc::Channel>& channel) {
  auto watcher = std::make_unique<Watcher>();
  const auto stub = Health::NewStub(channel);
  HealthCheckRequest request;
  request.set_service("readiness");
  watcher->reader = stub->Watch(&watcher->context, request);
  HealthCheckResponse response;
  EXPECT_TRUE(watcher->reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  return watcher;
}

TEST(WaitingCallersTest, WatchersLeaveEverythingElseServing) {
  const RunningServer running;
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < kConnections; ++i) {
    channels.push_back(ConnectTo(running.address()));
    for (int j = 0; j < kWatchers; ++j) watchers.push_back(Watch(channels.back()));
  }
  const auto another = ConnectTo(running.address());
  EXPECT_TRUE(IsLive(another));
  ExpectServes(another);
  running.server().Drain();
  for (const auto& watcher : watchers) {
    HealthCheckResponse response;
    ASSERT_TRUE(watcher->reader->Read(&response));
    EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
    EXPECT_FALSE(watcher->reader->Read(&response));
  }
}

TEST(WaitingCallersTest, WatchersThatLeaveMakeRoom) {
  const RunningServer running;
  for (int i = 0; i < 3; ++i) {
    std::vector<std::unique_ptr<Watcher>> watchers;
    for (int j = 0; j < kWatchers; ++j) watchers.push_back(Watch(running.channel()));
    for (const auto& watcher : watchers) watcher->context.TryCancel();
  }
  EXPECT_TRUE(IsLive(running.channel()));
}

// A grammar whose compile takes seconds.
v1::CompileRequest SlowRequest() {
  std::string product = R"({"allOf":[)";
  constexpr int kFactors = 8;
  for (int i = 0; i < kFactors; ++i) {
    absl::StrAppend(&product, i == 0 ? "" : ",", R"({"oneOf":[)");
    for (int j = 0; j < kFactors; ++j) {
      absl::StrAppend(&product, j == 0 ? "" : ",", R"({"properties":{"p)", i, R"(":{"const":)", j,
                      "}}}");
    }
    product += "]}";
  }
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("json_schema", product + "]}");
  return request;
}

// A call on a queue of its test's.
template <typename Response>
struct AsyncCall {
  grpc::ClientContext context;
  Response response;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
};

TEST(WaitingCallersTest, AThousandCallersOfOneGrammarAreServedByOneCompile) {
  constexpr int kCallers = 1'000;
  Config config;
  config.compile_threads = 1;
  const RunningServer running(config, RunningServer::Metrics::kOn);
  const auto other = ConnectTo(running.address());
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<AsyncCall<v1::CompileResponse>>> calls;
  std::vector<std::unique_ptr<v1::CompileService::Stub>> stubs;
  const auto call = [&](int i, const v1::CompileRequest& request) {
    auto& made = calls.emplace_back(std::make_unique<AsyncCall<v1::CompileResponse>>());
    made->reader = stubs[static_cast<std::size_t>(i) % stubs.size()]->AsyncCompile(&made->context,
                                                                                   request, &queue);
    made->reader->Finish(&made->response, &made->status, made.get());
  };
  for (int i = 0; i < kConnections; ++i)
    stubs.push_back(v1::CompileService::NewStub(ConnectTo(running.address())));
  call(0, SlowRequest());  // the one compile thread is at it
  // Its text is too long for the thread of short ones.
  v1::CompileRequest other_request;
  *other_request.mutable_grammar() = GrammarOf("choice", R"(["a","b"])" + std::string(2'000, ' '));
  for (int i = 0; i < kCallers; ++i) call(i, other_request);
  EXPECT_TRUE(IsLive(other));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
  }
  for (std::size_t i = 1; i < calls.size(); ++i)
    ASSERT_TRUE(calls[i]->status.ok()) << i << ": " << calls[i]->status.error_message();
  const std::string page = Scrape(running.server().metrics_port());
  EXPECT_NE(page.find("maskd_compiles_total{code=\"OK\",kind=\"choice\"} 1\n"), std::string::npos)
      << page;
}

}  // namespace
}  // namespace maskd::service
