#include "client/cpp/calls/read_ahead.h"

#include <utility>

#include "client/cpp/base/steady_time.h"

namespace maskd::client {

ReadAhead::ReadAhead(StepCall* call, ReplyReader* reader)
    : call_(call), reader_(reader), thread_([this] { Run(); }) {}

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

absl::StatusOr<bool> ReadAhead::Take(ServerMessage& message, SteadyTime deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto done = [this] { return state_ != State::kReading; };
  if (!changed_.wait_until(lock, deadline.ToChrono(), done)) {
    call_->Interrupt();
    changed_.wait(lock, done);
  }
  if (state_ != State::kRead) return false;
  state_ = State::kIdle;
  if (!status_.ok()) return std::exchange(status_, absl::OkStatus());
  std::swap(message, message_);
  return true;
}

bool ReadAhead::IsThere() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return state_ == State::kRead;
}

absl::StatusOr<bool> ReadAhead::Read() {
  grpc::ByteBuffer bytes;
  absl::StatusOr<bool> arrived = call_->ReadUntilInterrupted(bytes);
  if (!arrived.ok() || !*arrived) return arrived;
  if (absl::Status read = reader_->Read(bytes, message_); !read.ok()) return read;
  return true;
}

void ReadAhead::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return state_ == State::kReading || state_ == State::kOver; });
    if (state_ == State::kOver) return;
    lock.unlock();
    const absl::StatusOr<bool> read = Read();
    lock.lock();
    status_ = read.status();
    state_ = read.ok() && !*read ? State::kIdle : State::kRead;
    changed_.notify_all();
  }
}

}  // namespace maskd::client
