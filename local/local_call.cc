// The caller's thread does the step itself, for a turn. What does not end by then goes on on a
// thread of the engine's, which also does the steps that are submitted meanwhile, so their order
// stays.
//
// Invariant  the exchange belongs to the caller while busy_ is false, and to that thread while it
//            is true.
// Cost       a step that ends within its turn: no thread, no system call, one copy each way.
// Threads    as StepCall; mutex_ guards what both sides see.
#include "local/local_call.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "grpcpp/support/slice.h"
#include <sched.h>

#include "client/cpp/base/steady_time.h"
#include "client/cpp/base/wire_status.h"
#include "service/wire/status_map.h"

namespace maskd::local {
LocalCall::LocalCall(std::shared_ptr<const service::StreamHost> host,
                     const service::StreamTerms& terms)
    : host_(std::move(host)), exchange_(*host_, terms) {}

LocalCall::~LocalCall() {
  cancelled_ = true;
  const MutexLock lock(&mutex_);
  waiting_.clear();
  while (busy_) changed_.Wait(&mutex_);
}

absl::Status LocalCall::Write(const v1::DecodeRequest& message, std::size_t byte_size,
                              client::SteadyTime /*deadline*/) {
  step_.resize(byte_size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(step_.data()));
  {
    const MutexLock lock(&mutex_);
    if (ended_.has_value()) return *ended_;
    if (busy_) {
      waiting_.push_back(step_);
      return absl::OkStatus();
    }
  }
  if (AnswerInTurn(step_)) return absl::OkStatus();
  {
    const MutexLock lock(&mutex_);
    busy_ = true;
  }
  host_->threads->Run([this] { GoOn(); });
  return absl::OkStatus();
}

bool LocalCall::AnswerInTurn(absl::string_view step) {
  if (absl::Status begun = exchange_.Begin(step, kTurn); !begun.ok()) {
    End(begun);
    return true;
  }
  if (exchange_.takes_long() || exchange_.put_off() || !exchange_.AnswerSome(NewMasks::kRefused))
    return false;
  Answer();
  return true;
}

void LocalCall::GoOn() {
  Answer();
  while (const std::optional<std::string> step = NextStep())
    if (absl::Status begun = exchange_.Begin(*step); !begun.ok())
      End(begun);
    else
      Answer();
}

std::optional<std::string> LocalCall::NextStep() {
  const MutexLock lock(&mutex_);
  if (waiting_.empty() || ended_.has_value()) {
    busy_ = false;
    changed_.NotifyAll();
    return std::nullopt;
  }
  std::string step = std::move(waiting_.front());
  waiting_.pop_front();
  return step;
}

void LocalCall::Answer() {
  const absl::StatusOr<absl::string_view> reply =
      exchange_.Finish([this] { return cancelled_.load(); });
  if (!reply.ok()) return End(reply.status());
  const grpc::Slice slice(reply->data(), reply->size());
  {
    const MutexLock lock(&mutex_);
    replies_.emplace_back(&slice, 1);
    has_news_ = true;
    changed_.NotifyAll();
  }
  exchange_.LookAhead();
}

void LocalCall::End(const absl::Status& status) {
  const MutexLock lock(&mutex_);
  if (!ended_.has_value()) ended_ = client::FromWire(service::ToGrpcStatus(status));
  has_news_ = true;
  changed_.NotifyAll();
}

absl::StatusOr<bool> LocalCall::Take(grpc::ByteBuffer& message) {
  if (!replies_.empty()) {
    message = std::move(replies_.front());
    replies_.pop_front();
    has_news_ = !replies_.empty() || ended_.has_value();
    return true;
  }
  if (ended_.has_value()) return *ended_;
  return false;
}

absl::Status LocalCall::Read(grpc::ByteBuffer& message, client::SteadyTime deadline,
                             client::SteadyTime awake_until) {
  const auto until = deadline.ToChrono();
  const auto awake = awake_until.ToChrono();
  while (!has_news_ && Clock::Steady()->Now() < awake) sched_yield();
  const MutexLock lock(&mutex_);
  for (;;) {
    const absl::StatusOr<bool> taken = Take(message);
    if (!taken.ok() || *taken) return taken.status();
    if (!changed_.WaitUntil(&mutex_, until)) {
      const absl::StatusOr<bool> last = Take(message);
      if (!last.ok() || *last) return last.status();
      return absl::DeadlineExceededError("no reply within the time given");
    }
  }
}

absl::StatusOr<bool> LocalCall::ReadUntilInterrupted(grpc::ByteBuffer& message) {
  const MutexLock lock(&mutex_);
  for (;;) {
    absl::StatusOr<bool> taken = Take(message);
    if (!taken.ok() || *taken) return taken;
    if (std::exchange(interrupted_, false)) return false;
    changed_.Wait(&mutex_);
  }
}

void LocalCall::Interrupt() {
  const MutexLock lock(&mutex_);
  interrupted_ = true;
  changed_.NotifyAll();
}

absl::Status LocalCall::Finish(client::SteadyTime deadline) {
  const auto until = deadline.ToChrono();
  const MutexLock lock(&mutex_);
  while (busy_) {
    if (!changed_.WaitUntil(&mutex_, until)) cancelled_ = true;
    if (cancelled_) waiting_.clear();
    if (cancelled_ && busy_) changed_.Wait(&mutex_);
  }
  replies_.clear();
  if (finished_) return absl::OkStatus();
  if (ended_.has_value()) return *ended_;
  finished_ = true;
  ended_ = absl::CancelledError("the stream has ended");
  has_news_ = true;
  return absl::OkStatus();
}

}  // namespace maskd::local
