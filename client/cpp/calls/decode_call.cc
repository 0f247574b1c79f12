// Every operation has a tag, and one switch says what its completion means. Whoever waits polls the
// queue until its own condition holds, and completes on the way what else has come.
//
// Invariant  pending_ counts the tags that gRPC still holds, the alarm's apart; the call goes only
//            when none is left.
// Cost       one message is serialized into one slice; nothing is copied when it arrives.
// Bounds     replies and one notice; a server that sends more is cancelled.
#include "client/cpp/calls/decode_call.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "client/cpp/base/steady_time.h"
#include "client/cpp/base/wire_status.h"

namespace maskd::client {
namespace {

constexpr char kMethod[] = "/maskd.v1.MaskService/Decode";

grpc::ByteBuffer Serialize(const v1::DecodeRequest& message, std::size_t byte_size) {
  grpc::Slice slice(byte_size);
  message.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
  return {&slice, 1};
}

// What a caller who still wanted something is told.
absl::Status EndedError(const absl::Status& final_status) {
  return final_status.ok() ? absl::CancelledError("the server has ended the stream") : final_status;
}

}  // namespace

DecodeCall::DecodeCall(std::shared_ptr<grpc::Channel> channel, bool sees_pings)
    : channel_(std::move(channel)), stub_(channel_) {
  if (sees_pings) ping_answers_.emplace(channel_);
}

DecodeCall::~DecodeCall() {
  context_.TryCancel();
  while (pending_ > 0 && Poll(SteadyTime::Never()).ok()) {
  }
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

absl::Status DecodeCall::Start(SteadyTime deadline) {
  if (stream_ == nullptr) {
    stream_ = stub_.PrepareCall(&context_, kMethod, &queue_);
    stream_->StartCall(Expect(kStart));
  }
  return PollUntil([this] { return connected_; }, deadline);
}

absl::Status DecodeCall::Write(const v1::DecodeRequest& message, std::size_t byte_size,
                               SteadyTime deadline) {
  absl::Status status = PollUntil([this] { return !writing_; }, deadline);
  if (ended_.has_value()) return EndedError(*ended_);
  // The server has not answered the goodbye yet; gRPC takes no message behind it.
  if (half_closed_) return absl::CancelledError("the stream is closed");
  if (!status.ok()) return GiveUp();
  writing_ = true;
  ++sent_;
  stream_->Write(Serialize(message, byte_size), Expect(kWrite));
  return absl::OkStatus();
}

absl::Status DecodeCall::Read(grpc::ByteBuffer& message, SteadyTime deadline,
                              SteadyTime awake_until) {
  PollAwake(std::min(awake_until, deadline) - SteadyTime::Now());
  absl::Status status = PollUntil([this] { return !arrived_.empty(); }, deadline);
  if (status.ok()) TakeArrived(message);
  return status;
}

absl::StatusOr<bool> DecodeCall::ReadUntilInterrupted(grpc::ByteBuffer& message) {
  const absl::Status status =
      PollUntil([this] { return !arrived_.empty() || interrupted_; }, SteadyTime::Never());
  if (!status.ok()) return status;
  if (std::exchange(interrupted_, false) && arrived_.empty()) return false;
  TakeArrived(message);
  return true;
}

void DecodeCall::Interrupt() {
  if (alarmed_.exchange(true)) return;
  alarm_.Set(&queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC), &tags_[kInterrupt]);
}

absl::Status DecodeCall::GiveUp() {
  context_.TryCancel();
  ended_ = absl::DeadlineExceededError("the server takes no steps");
  return *ended_;
}

void DecodeCall::KeepArrived() {
  ++received_;
  if (is_flooded()) return context_.TryCancel();
  arrived_.emplace_back().Swap(&incoming_);
}

void DecodeCall::TakeArrived(grpc::ByteBuffer& message) {
  message.Swap(&arrived_.front());
  arrived_.pop_front();
}

absl::Status DecodeCall::Finish(SteadyTime deadline) {
  if (!half_closed_ && !ended_.has_value()) {
    const absl::Status status = PollUntil([this] { return !writing_; }, deadline);
    if (!status.ok()) return status;
    half_closed_ = true;
    stream_->WritesDone(Expect(kWritesDone));
  }
  while (!ended_.has_value()) {
    if (absl::Status status = Poll(deadline); !status.ok()) return status;
    arrived_.clear();
  }
  return *ended_;
}

absl::Status DecodeCall::Poll(SteadyTime deadline) {
  void* tag = nullptr;
  bool ok = false;
  switch (queue_.AsyncNext(&tag, &ok, deadline.ForGrpc())) {
    case grpc::CompletionQueue::GOT_EVENT: {
      const auto what = static_cast<Tag>(static_cast<char*>(tag) - tags_.data());
      pending_ -= what == kInterrupt ? 0 : 1;
      Complete(what, ok);
      return absl::OkStatus();
    }
    case grpc::CompletionQueue::TIMEOUT:
      return absl::DeadlineExceededError("no answer of the server in time");
    case grpc::CompletionQueue::SHUTDOWN:
      break;
  }
  return absl::InternalError("the completion queue is shut down");
}

void DecodeCall::PollAwake(absl::Duration longest) {
  using Steady = std::chrono::steady_clock;
  if (longest <= absl::ZeroDuration() || !yielding_.Pays()) return;
  const Steady::time_point begin = Steady::now();
  while (arrived_.empty() && !ended_.has_value() &&
         absl::FromChrono(Steady::now() - begin) < longest) {
    // The server may share this core.
    if (!Poll(SteadyTime::LongAgo()).ok() && !yielding_.Yield()) return;
  }
}

absl::Status DecodeCall::PollUntil(absl::FunctionRef<bool()> done, SteadyTime deadline) {
  while (!done()) {
    if (ended_.has_value()) return EndedError(*ended_);
    if (absl::Status status = Poll(deadline); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void DecodeCall::Complete(Tag tag, bool ok) {
  switch (tag) {
    case kStart:
      connected_ = ok;
      return ok ? StartRead() : StartFinish();
    case kWrite:
      // A failed write needs no answer here: the pending read fails with it.
      writing_ = false;
      return;
    case kRead:
      if (!ok) return StartFinish();
      KeepArrived();
      return StartRead();
    case kWritesDone:
      return;
    case kFinish:
      if (ended_.has_value()) return;  // it was given up
      ended_ = is_flooded() ? absl::InternalError("the server sends what nobody asked for")
                            : FromWire(final_status_);
      return;
    case kInterrupt:
      alarmed_ = false;
      interrupted_ = true;
      return;
    case kTagCount:
      assert(false);
      return;
  }
}

void* DecodeCall::Expect(Tag tag) {
  ++pending_;
  return &tags_[tag];
}

void DecodeCall::StartRead() { stream_->Read(&incoming_, Expect(kRead)); }

void DecodeCall::StartFinish() { stream_->Finish(&final_status_, Expect(kFinish)); }

}  // namespace maskd::client
