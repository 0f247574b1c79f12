#include "client/cpp/decode_call.h"

#include <cassert>
#include <utility>

#include "grpcpp/support/proto_buffer_reader.h"
#include <google/protobuf/io/coded_stream.h>

#include "client/cpp/channel.h"
#include "client/cpp/wire_status.h"

namespace maskd::client {
namespace {

constexpr char kMethod[] = "/maskd.v1.MaskService/Decode";

// Tag of the field `step` of a DecodeResponse: its number, and that bytes follow.
constexpr std::uint32_t kStepTag = v1::DecodeResponse::kStepFieldNumber << 3 | 2;

grpc::ByteBuffer Serialize(const v1::DecodeRequest& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
  return {&slice, 1};
}

// Reads a buffer that is a step's reply and nothing else. Parsing the whole would first drop the
// reply that `message` holds, and with it the memory of its rows.
bool ParseReply(grpc::ByteBuffer& buffer, v1::DecodeResponse& message) {
  grpc::ProtoBufferReader reader(&buffer);
  google::protobuf::io::CodedInputStream in(&reader);
  std::uint32_t size = 0;
  if (in.ReadTag() != kStepTag || !in.ReadVarint32(&size)) return false;
  if (static_cast<std::size_t>(in.CurrentPosition()) + size != buffer.Length()) return false;
  return message.mutable_step()->ParseFromCodedStream(&in) && in.ConsumedEntireMessage();
}

bool Parse(grpc::ByteBuffer& buffer, v1::DecodeResponse& message) {
  if (ParseReply(buffer, message)) return true;
  grpc::ProtoBufferReader reader(&buffer);
  return message.ParseFromZeroCopyStream(&reader);
}

// What a caller who still wanted something is told.
absl::Status EndedError(const absl::Status& final_status) {
  return final_status.ok() ? absl::CancelledError("the server has ended the stream") : final_status;
}

}  // namespace

DecodeCall::DecodeCall(const std::string& address, int max_message_bytes)
    : stub_(MakeChannel(address, max_message_bytes)) {}

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
  stream_ = stub_.PrepareCall(&context_, kMethod, &queue_);
  stream_->StartCall(Expect(kStart));
  return PollUntil([this] { return connected_; }, deadline);
}

absl::Status DecodeCall::Write(const v1::DecodeRequest& message, absl::Time deadline) {
  if (absl::Status status = PollUntil([this] { return !writing_; }, deadline); !status.ok()) {
    return status;
  }
  if (ended_.has_value()) return EndedError(*ended_);
  writing_ = true;
  stream_->Write(Serialize(message), Expect(kWrite));
  return absl::OkStatus();
}

absl::Status DecodeCall::Read(v1::DecodeResponse& message, absl::Time deadline) {
  absl::Status status = PollUntil([this] { return !arrived_.empty(); }, deadline);
  return status.ok() ? TakeArrived(message) : status;
}

absl::StatusOr<bool> DecodeCall::ReadUntilInterrupted(v1::DecodeResponse& message) {
  const absl::Status status =
      PollUntil([this] { return !arrived_.empty() || interrupted_; }, absl::InfiniteFuture());
  if (!status.ok()) return status;
  if (std::exchange(interrupted_, false) && arrived_.empty()) return false;
  if (absl::Status taken = TakeArrived(message); !taken.ok()) return taken;
  return true;
}

void DecodeCall::Interrupt() {
  if (alarmed_.exchange(true)) return;
  alarm_.Set(&queue_, gpr_now(GPR_CLOCK_MONOTONIC), &tags_[kInterrupt]);
}

absl::Status DecodeCall::TakeArrived(v1::DecodeResponse& message) {
  const bool parsed = Parse(arrived_.front(), message);
  arrived_.pop_front();
  return parsed ? absl::OkStatus() : absl::InternalError("the server sent what is no message");
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
      if (!ok) return StartFinish();
      arrived_.emplace_back().Swap(&incoming_);
      return StartRead();
    case kWritesDone:
      return;
    case kFinish:
      ended_ = FromWire(final_status_);
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
