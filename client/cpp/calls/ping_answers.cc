#include "client/cpp/calls/ping_answers.h"

#include <chrono>
#include <utility>

namespace maskd::client {
namespace {

using std::chrono::milliseconds;

// The server gives a ping five seconds (service/process/server.cc).
constexpr milliseconds kEvery{2'000};
constexpr milliseconds kLook{1};

}  // namespace

PingAnswers::PingAnswers(std::shared_ptr<grpc::Channel> channel)
    : channel_(std::move(channel)), thread_([this] { Run(); }) {}

PingAnswers::~PingAnswers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PingAnswers::Run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kEvery, [this] { return stopping_; })) {
    lock.unlock();
    // Polls the channel's connection; that its state has changed is of no interest.
    channel_->WaitForStateChange(GRPC_CHANNEL_READY, std::chrono::system_clock::now() + kLook);
    lock.lock();
  }
}

}  // namespace maskd::client
