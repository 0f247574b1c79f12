#include "client/cpp/calls/ping_answers.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace maskd::client {
namespace {

using std::chrono::milliseconds;

// The server gives a ping five seconds (service/process/server.cc).
constexpr milliseconds kEvery{2'000};
constexpr milliseconds kLook{1};
constexpr milliseconds kPatience{100};

}  // namespace

struct PingAnswers::Looks {
  const std::shared_ptr<grpc::Channel> channel;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool ended = false;
};

PingAnswers::PingAnswers(std::shared_ptr<grpc::Channel> channel)
    : looks_(std::make_shared<Looks>(std::move(channel))) {
  std::thread([looks = looks_] { Run(*looks); }).detach();
}

PingAnswers::~PingAnswers() {
  std::unique_lock lock(looks_->mutex);
  looks_->stopping = true;
  looks_->changed.notify_all();
  looks_->changed.wait_for(lock, kPatience, [this] { return looks_->ended; });
}

void PingAnswers::Run(Looks& looks) {
  std::unique_lock lock(looks.mutex);
  while (!looks.changed.wait_for(lock, kEvery, [&] { return looks.stopping; })) {
    lock.unlock();
    // Polls the channel's connection; that its state has changed is of no interest.
    looks.channel->WaitForStateChange(GRPC_CHANNEL_READY, std::chrono::system_clock::now() + kLook);
    lock.lock();
  }
  looks.ended = true;
  looks.changed.notify_all();
}

}  // namespace maskd::client
