#include "service/decode_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "service/errors.h"
#include "service/log.h"
#include "service/request_reader.h"
#include "service/response_writer.h"
#include "service/status_map.h"
#include "service/step_reader.h"

namespace maskd::service {
namespace {

// A message's bytes, in one piece.
absl::StatusOr<grpc::Slice> BytesOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.TrySingleSlice(&slice).ok() && !buffer.DumpToSingleSlice(&slice).ok()) {
    return absl::InternalError("a message cannot be read");
  }
  return slice;
}

grpc::ByteBuffer Serialize(const v1::DecodeResponse& response) {
  grpc::Slice slice(response.ByteSizeLong());
  response.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
  return {&slice, 1};
}

// Whether reading the step's grammars may take long.
bool BringsText(const StepRequest& step) {
  return std::ranges::any_of(step.opens,
                             [](const RowToOpen& open) { return open.target.source.has_value(); });
}

}  // namespace

void DecodeStream::Accept(const StreamHost* host, RawMaskService* service,
                          grpc::ServerCompletionQueue* queue, int* live) {
  auto* const stream = new DecodeStream(host, service, queue, live);  // deletes itself
  stream->context_.AsyncNotifyWhenDone(&stream->operations_[kDone]);
  service->RequestDecode(&stream->context_, &stream->call_, queue, queue, stream->Begin(kAccepted));
}

DecodeStream::DecodeStream(const StreamHost* host, RawMaskService* service,
                           grpc::ServerCompletionQueue* queue, int* live)
    : host_(host), service_(service), queue_(queue), live_(live) {
  for (int kind = 0; kind < kKindCount; ++kind) {
    operations_[static_cast<std::size_t>(kind)] = {this, static_cast<Kind>(kind)};
  }
  ++*live_;
}

DecodeStream::~DecodeStream() {
  if (terms_.has_value()) {
    host_->metrics->StreamsOpenChanged(-1);
  }
  --*live_;
}

void* DecodeStream::Begin(Kind kind) {
  ++pending_;
  return &operations_[kind];
}

void DecodeStream::Complete(void* tag, bool ok) {
  const Operation operation = *static_cast<Operation*>(tag);
  DecodeStream* const stream = operation.stream;
  --stream->pending_;
  stream->Handle(operation.kind, ok);
  stream->Advance();
  if (stream->finishing_ && stream->pending_ == 0) {
    delete stream;
  } else if (stream->session_.has_value() && !stream->stepping_) {
    stream->session_->LookAhead();  // the answer is on its way
  }
}

void DecodeStream::Handle(Kind kind, bool ok) {
  switch (kind) {
    case kAccepted:
      if (ok) {
        return Begun();
      }
      finishing_ = true;  // the server stops
      return;
    case kDone:
      cancelled_ = context_.IsCancelled();
      return;
    case kRead:
      reading_ = false;
      half_closed_ = !ok;
      return ok ? TakeMessage() : void();
    case kWritten:
      writing_ = false;
      broken_ |= !ok;
      outgoing_.pop_front();
      return;
    case kStepDone:
      stepping_ = false;
      return SendReply();
    case kGoAway: {
      v1::DecodeResponse notice;
      notice.mutable_go_away()->set_reason("draining");
      notice.mutable_go_away()->set_deadline_ms(static_cast<std::uint32_t>(host_->drain_ms));
      return Send(notice);
    }
    case kFinished:
    case kKindCount:
      return;
  }
}

void DecodeStream::Advance() {
  if (finishing_) {
    return;
  }
  if (!writing_ && !outgoing_.empty() && !broken_) {
    writing_ = true;
    call_.Write(outgoing_.front(), Begin(kWritten));
  }
  if (reading_ || stepping_) {
    return;
  }
  if (!ended_.has_value() && !half_closed_ && !broken_ && !cancelled_) {
    if (outgoing_.size() < kMaxQueued) {
      reading_ = true;
      call_.Read(&incoming_, Begin(kRead));
    }
  } else if (!writing_) {
    finishing_ = true;
    registration_.reset();  // no notice comes from here on
    Report();
    call_.Finish(ToGrpcStatus(FinalStatus()), Begin(kFinished));
  }
}

// A call came: asks for the next one, and for a place.
void DecodeStream::Begun() {
  ++pending_;  // kDone comes for every call
  Accept(host_, service_, queue_, live_);
  auto registration = host_->streams->Add(
      [this] { alarms_[1].Set(queue_, gpr_now(GPR_CLOCK_MONOTONIC), Begin(kGoAway)); });
  if (!registration.ok()) {
    return End(registration.status());
  }
  registration_.emplace(*std::move(registration));
}

void DecodeStream::TakeMessage() {
  step_begin_ = Clock::now();
  const absl::StatusOr<grpc::Slice> slice = BytesOf(incoming_);
  absl::Status taken = slice.status();
  if (taken.ok()) {
    const absl::string_view bytes(reinterpret_cast<const char*>(slice->begin()), slice->size());
    taken = terms_.has_value() ? TakeStep(bytes) : Greet(bytes);
  }
  if (!taken.ok()) {
    End(std::move(taken));
  }
}

absl::Status DecodeStream::Greet(absl::string_view bytes) {
  v1::DecodeRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return BadField("", "the message is no DecodeRequest");
  }
  const absl::StatusOr<Hello> hello = ReadHello(request);
  if (!hello.ok()) {
    return hello.status();
  }
  const auto terms = AgreeOnTerms(*hello, *host_->tokenizers, host_->limits);
  if (!terms.ok()) {
    return terms.status();
  }
  terms_ = *terms;
  host_->metrics->StreamsOpenChanged(1);
  session_.emplace(terms->tokenizer, host_->grammars, host_->limits, terms->forms, host_->metrics);
  v1::DecodeResponse welcome;
  WriteWelcome(*terms->tokenizer, terms->mask_words, host_->limits, terms->forms,
               welcome.mutable_welcome());
  Send(welcome);
  return absl::OkStatus();
}

absl::Status DecodeStream::TakeStep(absl::string_view bytes) {
  if (absl::Status read = ReadStep(bytes, &step_); !read.ok()) {
    return read;
  }
  const bool reads = BringsText(step_);
  if (!reads) {
    if (absl::Status begun = session_->Begin(step_); !begun.ok()) {
      return begun;
    }
  }
  if (!reads && !session_->waits()) {
    FinishStep();
    SendReply();
    return absl::OkStatus();
  }
  stepping_ = true;
  void* const tag = Begin(kStepDone);
  host_->threads->Run([this, reads, tag] {
    const absl::Status begun = reads ? session_->Begin(step_) : absl::OkStatus();
    if (begun.ok()) {
      FinishStep();
    } else {
      result_ = begun;
    }
    alarms_[0].Set(queue_, gpr_now(GPR_CLOCK_MONOTONIC), tag);
  });
  return absl::OkStatus();
}

void DecodeStream::FinishStep() {
  result_ = session_->Finish(step_, [this] { return cancelled_.load(); });
}

void DecodeStream::SendReply() {
  if (!result_.ok()) {
    return End(result_.status());
  }
  const absl::string_view bytes = writer_.Write(**result_, terms_->mask_words);
  const grpc::Slice slice(bytes.data(), bytes.size());
  outgoing_.emplace_back(&slice, 1);
  const std::chrono::duration<double> taken = Clock::now() - step_begin_;
  host_->metrics->StepDone(taken.count() - (*result_)->waited_seconds);
}

void DecodeStream::Send(const v1::DecodeResponse& response) {
  outgoing_.push_back(Serialize(response));
}

void DecodeStream::End(absl::Status status) { ended_ = std::move(status); }

absl::Status DecodeStream::FinalStatus() const {
  if (ended_.has_value()) {
    return *ended_;
  }
  if (cancelled_ || broken_) {
    return absl::CancelledError("the stream was cancelled");
  }
  return terms_.has_value() ? absl::OkStatus()
                            : BadField("hello", "the stream ended before its Hello");
}

void DecodeStream::Report() const {
  const absl::Status status = FinalStatus();
  if (status.ok()) {
    return;
  }
  const std::string code = absl::StatusCodeToString(status.code());
  host_->metrics->Refused(code);
  LogEvent("stream_failed", {{"code", code}, {"reason", WireReason(status)}});
}

}  // namespace maskd::service
