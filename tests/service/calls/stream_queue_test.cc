// Events of a queue are handled by one thread at a time, of one thread or of two.
#include "service/calls/stream_queue.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <list>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <grpcpp/alarm.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

namespace maskd::service {
namespace {

using std::chrono_literals::operator""us;

class StreamQueueTest : public testing::Test {
 protected:
  StreamQueueTest() {
    grpc::ServerBuilder builder;
    queue_ = std::make_unique<StreamQueue>(builder.AddCompletionQueue(), Clock::Duration::zero());
    server_ = builder.BuildAndStart();
    *queue_->live_streams() = 1;
    EXPECT_TRUE(queue_->Start().ok());
  }
  ~StreamQueueTest() override {
    server_->Shutdown();
    const MutexLock lock(&mutex_);
    events_.clear();
    queue_.reset();
  }

  // Has the queue handle `what`, soon. From any thread; its memory lives until the fixture's end.
  void Post(std::function<void()> what) {
    const MutexLock lock(&mutex_);
    events_.emplace_back(std::move(what)).Set(queue_->events());
  }
  // Has the queue end, and waits for it.
  void End() {
    Post([this] { *queue_->live_streams() = 0; });
    queue_->Join();
  }

  std::unique_ptr<StreamQueue> queue_;

 private:
  class Event final : public CallEvent {
   public:
    explicit Event(std::function<void()> what) : what_(std::move(what)) {}
    void Set(grpc::ServerCompletionQueue* events) {
      alarm_.Set(events, gpr_inf_past(GPR_CLOCK_MONOTONIC), this);
    }
    void Complete(bool /*ok*/) override { what_(); }

   private:
    const std::function<void()> what_;
    grpc::Alarm alarm_;
  };

  std::unique_ptr<grpc::Server> server_;
  Mutex mutex_;
  std::list<Event> events_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(StreamQueueTest, OneThreadServesItWithoutLargeMessages) {
  std::set<std::thread::id> threads;
  int handled = 0;
  for (int i = 0; i < 100; ++i) {
    Post([&] {
      threads.insert(std::this_thread::get_id());
      ++handled;
    });
  }
  std::latch done(1);
  Post([&] { done.count_down(); });
  done.wait();
  End();
  EXPECT_EQ(handled, 100);
  EXPECT_EQ(threads.size(), 1);
}

// What the events share has no lock: ThreadSanitizer would see two of them at once, too.
TEST_F(StreamQueueTest, TwoThreadsNeverHandleTwoEventsAtOnce) {
  constexpr int kEach = 1000;
  std::atomic<int> inside = 0;
  std::atomic<bool> overlapped = false;
  int handled = 0;
  std::latch done(2 * kEach);
  const auto event = [&](bool is_large) {
    overlapped = overlapped || inside++ > 0;
    if (is_large) queue_->LargeMessageCame();
    const auto end = std::chrono::steady_clock::now() + (handled % 10 == 0 ? 60us : 1us);
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
    ++handled;
    --inside;
    done.count_down();
  };
  std::vector<std::thread> posting;
  for (int i = 0; i < 2; ++i) {
    posting.emplace_back([&] {
      for (int j = 0; j < kEach; ++j) Post([&, j] { event(j % 100 == 0); });
    });
  }
  for (std::thread& thread : posting) thread.join();
  done.wait();
  End();
  EXPECT_EQ(handled, 2 * kEach);
  EXPECT_FALSE(overlapped);
}

// The first thread is busy outside its events, as it is while gRPC reads a message on it.
TEST_F(StreamQueueTest, AnotherThreadGoesOnOnceALargeMessageCame) {
  std::latch handled(1);
  std::latch was_free(1);
  std::thread::id first;
  std::thread::id second;
  Post([&] {
    first = std::this_thread::get_id();
    queue_->LargeMessageCame();
    queue_->Afterwards([&] {
      handled.wait();
      was_free.count_down();
    });
  });
  Post([&] {
    second = std::this_thread::get_id();
    handled.count_down();
  });
  was_free.wait();
  End();
  EXPECT_NE(first, second);
}

TEST_F(StreamQueueTest, WhatComesAfterwardsComesAfterItsEvent) {
  std::vector<int> order;
  std::latch done(1);
  Post([&] {
    queue_->Afterwards([&] {
      order.push_back(2);
      done.count_down();
    });
    EXPECT_TRUE(queue_->busy_since().has_value());
    order.push_back(1);
  });
  done.wait();
  End();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_FALSE(queue_->busy_since().has_value());
}

}  // namespace
}  // namespace maskd::service
