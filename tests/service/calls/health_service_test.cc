// The health service on a server inside this process: a thread that polls a queue as a stream's
// does, and callers who ask, watch and leave.
#include "service/calls/health_service.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "service/admin/server_plugins.h"
#include "service/calls/call_event.h"
#include "tests/service/base/no_threads.h"

namespace maskd::service {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

HealthCheckRequest RequestOf(const std::string& name) {
  HealthCheckRequest request;
  request.set_service(name);
  return request;
}

class HealthServiceTest : public testing::Test {
 protected:
  HealthServiceTest() {
    const auto builder = BuilderWithoutPlugins();
    health_.Listen(builder.get());
    queue_ = builder->AddCompletionQueue();
    server_ = builder->BuildAndStart();
    EXPECT_TRUE(health_.Start().ok());
    health_.Accept(queue_.get(), &live_);
    thread_ = std::thread([this] {
      void* tag = nullptr;
      bool ok = false;
      while (live_ > 0 && queue_->Next(&tag, &ok)) static_cast<CallEvent*>(tag)->Complete(ok);
    });
    stub_ = Health::NewStub(server_->InProcessChannel({}));
  }
  ~HealthServiceTest() override {
    stub_ = nullptr;
    server_->Shutdown(std::chrono::system_clock::now());
    thread_.join();
    queue_->Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) static_cast<CallEvent*>(tag)->Complete(ok);
    health_.Join();
  }

  // The status of `name`, or the code of the call's error.
  std::string Check(const std::string& name) {
    grpc::ClientContext context;
    HealthCheckResponse response;
    const grpc::Status status = stub_->Check(&context, RequestOf(name), &response);
    return status.ok() ? HealthCheckResponse::ServingStatus_Name(response.status())
                       : std::to_string(status.error_code());
  }

  HealthService health_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  int live_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::thread thread_;
  std::unique_ptr<Health::Stub> stub_;
};

// One who watches a name.
class Watcher {
 public:
  Watcher(Health::Stub* stub, const std::string& name)
      : reader_(stub->Watch(&context_, RequestOf(name))) {}

  // What it is told next, or "end".
  std::string Next() {
    HealthCheckResponse response;
    return reader_->Read(&response) ? HealthCheckResponse::ServingStatus_Name(response.status())
                                    : "end";
  }
  void Leave() { context_.TryCancel(); }
  grpc::StatusCode Finish() { return reader_->Finish().error_code(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader_;
};

TEST_F(HealthServiceTest, EachNameStandsAsWasSaidLast) {
  const std::string unknown = std::to_string(grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Check(""), unknown);
  health_.Set("", true);
  health_.Set("a", false);
  EXPECT_EQ(Check(""), "SERVING");
  EXPECT_EQ(Check("a"), "NOT_SERVING");
  EXPECT_EQ(Check("A"), unknown);
  health_.Set("a", true);
  EXPECT_EQ(Check("a"), "SERVING");
}

TEST_F(HealthServiceTest, AWatcherIsToldOfWhatChanges) {
  Watcher before(stub_.get(), "a");
  EXPECT_EQ(before.Next(), "SERVICE_UNKNOWN");
  health_.Set("a", true);
  EXPECT_EQ(before.Next(), "SERVING");
  Watcher later(stub_.get(), "a");
  EXPECT_EQ(later.Next(), "SERVING");
  health_.Set("a", true);  // which is no change
  health_.Set("b", false);
  health_.Set("a", false);
  EXPECT_EQ(before.Next(), "NOT_SERVING");
  EXPECT_EQ(later.Next(), "NOT_SERVING");
  health_.Stop();
  EXPECT_EQ(before.Next(), "end");
  EXPECT_EQ(before.Finish(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(later.Finish(), grpc::StatusCode::UNAVAILABLE);
  // One who comes now hears how it stands, and is let go.
  Watcher last(stub_.get(), "a");
  EXPECT_EQ(last.Next(), "NOT_SERVING");
  EXPECT_EQ(last.Finish(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Check("a"), "NOT_SERVING") << "who asks once is still answered";
}

// Changes that come faster than they are read may be left out; the last one is told.
TEST_F(HealthServiceTest, WatchersComeAndGoWhileNamesChange) {
  health_.Set("a", true);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([this] {
      for (int n = 0; n < 50; ++n) {
        Watcher watcher(stub_.get(), "a");
        EXPECT_NE(watcher.Next(), "end");
        if (n % 2 == 0) watcher.Next();
        watcher.Leave();
        EXPECT_EQ(watcher.Finish(), grpc::StatusCode::CANCELLED);
      }
    });
  }
  std::atomic<bool> over = false;
  std::thread changes([&] {
    for (bool serving = false; !over; serving = !serving) {
      health_.Set("a", serving);
      std::this_thread::yield();
    }
  });
  for (std::thread& caller : callers) caller.join();
  over = true;
  changes.join();
  Watcher last(stub_.get(), "a");
  const std::string now = last.Next();
  EXPECT_EQ(now, Check("a"));
}

// The bound is one of calls that are open: who leaves makes room.
TEST_F(HealthServiceTest, SoManyWatchAndNoMore) {
  health_.Set("a", true);
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < HealthService::kMaxWatchers; ++i)
    watchers.push_back(std::make_unique<Watcher>(stub_.get(), "a"));
  for (const auto& watcher : watchers) ASSERT_EQ(watcher->Next(), "SERVING");
  Watcher refused(stub_.get(), "a");
  EXPECT_EQ(refused.Next(), "end");
  EXPECT_EQ(refused.Finish(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Check("a"), "SERVING");
  for (const auto& watcher : watchers) watcher->Leave();
  for (const auto& watcher : watchers) EXPECT_EQ(watcher->Finish(), grpc::StatusCode::CANCELLED);
  for (bool has_room = false; !has_room;)  // the server hears of the leaving when it does
    has_room = Watcher(stub_.get(), "a").Next() == "SERVING";
}

TEST(HealthStartTest, WithoutAThreadItIsAnErrorAndEnds) {
  HealthService health;
  const auto builder = BuilderWithoutPlugins();
  health.Listen(builder.get());
  const auto queue = builder->AddCompletionQueue();
  const auto server = builder->BuildAndStart();
  {
    const NoThreads none;
    EXPECT_TRUE(absl::IsUnavailable(health.Start()));
  }
  server->Shutdown();
  queue->Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) {
  }
  health.Join();
}

TEST(HealthStartTest, OneThatNeverListenedEnds) {
  HealthService health;
  health.Set("a", true);
  health.Stop();
  health.Join();
}

}  // namespace
}  // namespace maskd::service
