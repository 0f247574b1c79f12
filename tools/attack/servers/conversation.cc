#include "tools/attack/servers/conversation.h"

#include <utility>

#include "absl/time/clock.h"

#include "client/cpp/base/wire_status.h"
#include "client/cpp/connect/channel.h"
#include "tools/attack/targets/unary_calls.h"

namespace maskd::attack {

Conversation::Conversation(const std::string& address)
    : Conversation(client::MakeChannel(address, /*max_message_bytes=*/-1)) {}

Conversation::Conversation(const std::shared_ptr<grpc::Channel>& channel)
    : stub_(v1::MaskService::NewStub(channel)) {
  context_.set_deadline(absl::ToChronoTime(absl::Now() + kCallPatience));
  stream_ = stub_->Decode(&context_);
}

Conversation::~Conversation() {
  Reset();
  ReadToEnd().IgnoreError();
}

absl::StatusOr<v1::DecodeResponse> Conversation::Ask(const v1::DecodeRequest& request) {
  v1::DecodeResponse response;
  if (!ended_ && stream_->Write(request) && stream_->Read(&response)) return response;
  absl::Status end = ReadToEnd();
  return end.ok() ? absl::UnavailableError("the stream has ended") : end;
}

absl::StatusOr<v1::Welcome> Conversation::Greet(const v1::Hello& hello) {
  v1::DecodeRequest request;
  *request.mutable_hello() = hello;
  absl::StatusOr<v1::DecodeResponse> response = Ask(request);
  if (!response.ok()) return response.status();
  if (!response->has_welcome()) return absl::InternalError("the answer to a hello is no welcome");
  return std::move(*response->mutable_welcome());
}

absl::StatusOr<v1::StepReply> Conversation::Run(const v1::Step& step) {
  v1::DecodeRequest request;
  *request.mutable_step() = step;
  absl::StatusOr<v1::DecodeResponse> response = Ask(request);
  if (!response.ok()) return response.status();
  if (!response->has_step()) return absl::InternalError("the answer to a step is no reply");
  return std::move(*response->mutable_step());
}

void Conversation::EndSending() {
  if (!ended_ && std::exchange(sending_, false)) stream_->WritesDone();
}

absl::Status Conversation::ReadToEnd() {
  if (std::exchange(ended_, true)) return end_;
  if (std::exchange(sending_, false)) stream_->WritesDone();
  v1::DecodeResponse response;
  while (stream_->Read(&response)) {
  }
  end_ = client::FromWire(stream_->Finish());
  return end_;
}

void Conversation::Reset() {
  if (!ended_) context_.TryCancel();
}

}  // namespace maskd::attack
