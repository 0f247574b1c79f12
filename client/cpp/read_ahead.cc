#include "client/cpp/read_ahead.h"

#include <utility>

namespace maskd::client {

ReadAhead::ReadAhead(DecodeCall* call) : call_(call), thread_([this] { Run(); }) {}

ReadAhead::~ReadAhead() {
  End();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    state_ = State::kOver;
  }
  changed_.notify_all();
  thread_.join();
}

void ReadAhead::Begin() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (state_ != State::kIdle) return;
    state_ = State::kReading;
  }
  changed_.notify_all();
}

void ReadAhead::End() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (state_ != State::kReading) return;
  call_->Interrupt();
  changed_.wait(lock, [this] { return state_ != State::kReading; });
}

absl::Status ReadAhead::Take(v1::DecodeResponse& message, absl::Time deadline) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto done = [this] { return state_ != State::kReading; };
    if (!changed_.wait_until(lock, absl::ToChronoTime(deadline), done)) {
      call_->Interrupt();
      changed_.wait(lock, done);
    }
    if (state_ == State::kRead) {
      state_ = State::kIdle;
      std::swap(message, message_);
      return std::exchange(status_, absl::OkStatus());
    }
  }
  return call_->Read(message, deadline);
}

void ReadAhead::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return state_ == State::kReading || state_ == State::kOver; });
    if (state_ == State::kOver) return;
    lock.unlock();
    const absl::StatusOr<bool> read = call_->ReadUntilInterrupted(message_);
    lock.lock();
    status_ = read.status();
    state_ = read.ok() && !*read ? State::kIdle : State::kRead;
    changed_.notify_all();
  }
}

}  // namespace maskd::client
