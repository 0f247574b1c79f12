#include "client/cpp/decode_call.h"

#include <cassert>
#include <utility>

#include "client/cpp/channel.h"
#include "client/cpp/wire_status.h"

namespace maskd::client {
namespace {

// What a caller who still wanted something is told.
absl::Status EndedError(const absl::Status& final_status) {
  return final_status.ok() ? absl::CancelledError("the server has ended the stream") : final_status;
}

}  // namespace

DecodeCall::DecodeCall(const std::string& address, int max_message_bytes)
    : stub_(v1::MaskService::NewStub(MakeChannel(address, max_message_bytes))) {}

DecodeCall::~DecodeCall() {
  context_.TryCancel();
  while (pending_ > 0 && Poll(absl::InfiniteFuture()).ok()) {
  }
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

absl::Status DecodeCall::Start(absl::Time deadline) {
  stream_ = stub_->PrepareAsyncDecode(&context_, &queue_);
  stream_->StartCall(Expect(kStart));
  return PollUntil([this] { return connected_; }, deadline);
}

absl::Status DecodeCall::Write(const v1::DecodeRequest& message, absl::Time deadline) {
  if (absl::Status status = PollUntil([this] { return !writing_; }, deadline); !status.ok()) {
    return status;
  }
  if (ended_.has_value()) return EndedError(*ended_);
  writing_ = true;
  stream_->Write(message, Expect(kWrite));
  return absl::OkStatus();
}

absl::Status DecodeCall::Read(v1::DecodeResponse& message, absl::Time deadline) {
  absl::Status status = PollUntil([this] { return !arrived_.empty(); }, deadline);
  if (!status.ok()) return status;
  message = std::move(arrived_.front());
  arrived_.pop_front();
  return absl::OkStatus();
}

absl::Status DecodeCall::Finish(absl::Time deadline) {
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

absl::Status DecodeCall::Poll(absl::Time deadline) {
  void* tag = nullptr;
  bool ok = false;
  switch (queue_.AsyncNext(&tag, &ok, absl::ToChronoTime(deadline))) {
    case grpc::CompletionQueue::GOT_EVENT:
      --pending_;
      Complete(static_cast<Tag>(static_cast<char*>(tag) - tags_.data()), ok);
      return absl::OkStatus();
    case grpc::CompletionQueue::TIMEOUT:
      return absl::DeadlineExceededError("no answer of the server in time");
    case grpc::CompletionQueue::SHUTDOWN:
      break;
  }
  return absl::InternalError("the completion queue is shut down");
}

absl::Status DecodeCall::PollUntil(absl::FunctionRef<bool()> done, absl::Time deadline) {
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
      return ok ? CompleteRead() : StartFinish();
    case kWritesDone:
      return;
    case kFinish:
      ended_ = FromWire(final_status_);
      return;
    case kTagCount:
      assert(false);
      return;
  }
}

void DecodeCall::CompleteRead() {
  arrived_.push_back(std::move(incoming_));
  incoming_.Clear();
  StartRead();
}

void* DecodeCall::Expect(Tag tag) {
  ++pending_;
  return &tags_[tag];
}

void DecodeCall::StartRead() { stream_->Read(&incoming_, Expect(kRead)); }

void DecodeCall::StartFinish() { stream_->Finish(&final_status_, Expect(kFinish)); }

}  // namespace maskd::client
