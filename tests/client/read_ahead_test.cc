// Who has the call when: a thread that reads between two calls, over a call that the test plays.
#include "client/cpp/calls/read_ahead.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/step_call.h"

namespace maskd::client {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

grpc::ByteBuffer BytesOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

// Gives what the test puts in, and sees that it has one user at a time.
class PlayedCall : public StepCall {
 public:
  void Put(std::uint64_t step) {
    v1::DecodeResponse response;
    response.mutable_step()->set_step(step);
    const std::lock_guard lock(mutex_);
    arrived_.push_back(BytesOf(response.SerializeAsString()));
    changed_.notify_all();
  }
  void PutBytes(const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(BytesOf(bytes));
    changed_.notify_all();
  }
  void End(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    ended_ = status;
    changed_.notify_all();
  }
  // Waits until the thread reads.
  void AwaitReader() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_read_; });
  }
  [[nodiscard]] bool is_read() {
    const std::lock_guard lock(mutex_);
    return is_read_;
  }

  absl::Status Write(const v1::DecodeRequest&, std::size_t, SteadyTime) override {
    return absl::UnimplementedError("not here");
  }
  absl::Status Read(grpc::ByteBuffer&, SteadyTime, SteadyTime) override {
    return absl::UnimplementedError("not here");
  }
  absl::StatusOr<bool> ReadUntilInterrupted(grpc::ByteBuffer& message) override {
    std::unique_lock lock(mutex_);
    EXPECT_FALSE(std::exchange(is_read_, true)) << "two at once";
    changed_.notify_all();
    changed_.wait(lock, [this] { return !arrived_.empty() || ended_ || interrupted_; });
    is_read_ = false;
    if (std::exchange(interrupted_, false) && arrived_.empty()) return false;
    if (arrived_.empty()) return *ended_;
    message.Swap(&arrived_.front());
    arrived_.pop_front();
    return true;
  }
  void Interrupt() override {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    changed_.notify_all();
  }
  absl::Status Finish(SteadyTime) override { return absl::OkStatus(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<grpc::ByteBuffer> arrived_;
  std::optional<absl::Status> ended_;
  bool interrupted_ = false;
  bool is_read_ = false;
};

class ReadAheadTest : public testing::Test {
 protected:
  // The number of the next step, 0 where there is none by now.
  std::uint64_t Take(SteadyTime deadline) {
    const auto taken = ahead_->Take(message_, deadline);
    EXPECT_TRUE(taken.ok()) << taken.status();
    EXPECT_FALSE(call_.is_read()) << "the call is the caller's";
    return taken.ok() && *taken ? message_.result.step() : 0;
  }
  std::uint64_t Take() { return Take(SteadyTime::Now() + kPatience); }
  void AwaitMessage() {
    while (!ahead_->IsThere()) std::this_thread::yield();
  }

  PlayedCall call_;
  ReplyReader reader_{v1::Welcome()};
  ServerMessage message_;
  std::optional<ReadAhead> ahead_{std::in_place, &call_, &reader_};
};

TEST_F(ReadAheadTest, ReadsNothingBeforeItIsToldTo) {
  call_.Put(1);
  EXPECT_EQ(Take(), 0);
  EXPECT_FALSE(ahead_->IsThere());
  ahead_->Begin();
  EXPECT_EQ(Take(), 1);
}

TEST_F(ReadAheadTest, AReplyThatWasReadWaitsToBeTaken) {
  call_.Put(1);
  call_.Put(2);
  ahead_->Begin();
  AwaitMessage();
  ahead_->Begin();  // one waits: the second is not read over it
  ahead_->End();
  EXPECT_TRUE(ahead_->IsThere());
  EXPECT_EQ(Take(SteadyTime::LongAgo()), 1);
  EXPECT_FALSE(ahead_->IsThere());
  ahead_->Begin();
  EXPECT_EQ(Take(), 2);
}

TEST_F(ReadAheadTest, TheCallComesBackAtTheDeadlineAndTheMessageIsLeft) {
  message_.go_away.emplace().set_deadline_ms(7);
  ahead_->Begin();
  call_.AwaitReader();
  EXPECT_EQ(Take(SteadyTime::Now()), 0);
  ASSERT_TRUE(message_.go_away.has_value());
  EXPECT_EQ(message_.go_away->deadline_ms(), 7);
  call_.Put(3);
  ahead_->Begin();
  EXPECT_EQ(Take(), 3);
}

TEST_F(ReadAheadTest, EndsAndBeginsInAnyOrder) {
  std::uint64_t put = 0;
  std::uint64_t taken = 0;
  for (int i = 0; i < 5000; ++i) {
    if (i % 3 != 0) call_.Put(++put);
    ahead_->Begin();
    if (i % 4 == 0) std::this_thread::yield();
    if (i % 5 != 0) ahead_->End();
    ahead_->End();
    while (taken < put) {
      // An interrupt that came too late for one read ends the next: the reply is still to come.
      if (const std::uint64_t step = Take(); step != 0) ASSERT_EQ(step, ++taken) << i;
      if (taken < put) ahead_->Begin();
    }
  }
  EXPECT_GT(taken, 3000);
}

TEST_F(ReadAheadTest, ErrorsAreGivenOnceAndThenTheCallIsTheCallers) {
  ahead_->Begin();
  call_.AwaitReader();
  call_.End(absl::UnavailableError("gone"));
  const auto taken = ahead_->Take(message_, SteadyTime::Now() + kPatience);
  EXPECT_EQ(taken.status(), absl::UnavailableError("gone"));
  EXPECT_EQ(Take(SteadyTime::LongAgo()), 0);
}

TEST_F(ReadAheadTest, WhatIsNoMessageIsTheReadersError) {
  call_.PutBytes("\x0a\xff");
  call_.Put(4);
  ahead_->Begin();
  EXPECT_TRUE(absl::IsInternal(ahead_->Take(message_, SteadyTime::Now() + kPatience).status()));
  ahead_->Begin();
  EXPECT_EQ(Take(), 4);
}

TEST_F(ReadAheadTest, MayGoWhileItReadsAndWithAReplyThatNobodyTook) {
  for (int i = 0; i < 200; ++i) {
    ahead_->Begin();
    if (i % 3 == 0) std::this_thread::yield();
    if (i % 2 == 0) call_.Put(1);
    ahead_.emplace(&call_, &reader_);
  }
}

}  // namespace
}  // namespace maskd::client
