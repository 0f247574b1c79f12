// A stream is a machine of events: each operation of gRPC, each notice and the timer comes back as
// an event of the stream's queue, is handled (Handle()), and then everything that can go on is
// begun (Advance()). All of it runs on a thread of the queue, one at a time, so the members need
// no lock.
//
// Who wakes whom  Notify() puts an event into the queue from any thread: a step thread (done), the
//                 registry (go away, end), the handover port (fetched), the memory's thread
//                 (ended). The queue's thread is the one that is woken.
// May block       nothing here. What may is given away: a step that waits or reads a grammar to
//                 step threads, one that is too long to their brothers of low priority, one that
//                 lacks masks to the mask makers.
// Invariant  pending_ counts the operations and notices that will come back; the stream is deleted
//            with the last of them, after Finish() was begun, and never before. While stepping_,
//            the exchange is another thread's and nothing is read.
// Order      a reply is queued before the next message is read, so replies go out in the order of
//            their steps.
#include "service/calls/decode_stream.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/memory_reserve.h"
#include "service/base/errors.h"
#include "service/base/log.h"
#include "service/calls/message_bytes.h"
#include "service/streams/stream_terms.h"
#include "service/wire/request_reader.h"
#include "service/wire/response_writer.h"
#include "service/wire/status_map.h"

namespace maskd::service {
namespace {

grpc::ByteBuffer Serialize(const v1::DecodeResponse& response) {
  grpc::Slice slice(response.ByteSizeLong());
  response.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
  return {&slice, 1};
}

// A channel's error, as the stream's.
absl::Status OfStream(absl::Status status) {
  return absl::IsDataLoss(status) ? ErrorAt(status.code(), "", "SHARED_MEMORY", status.message())
                                  : status;
}

}  // namespace

void DecodeStream::Accept(const DecodeHost* host, RawMethods* methods, StreamQueue* queue) {
  auto* const stream = new DecodeStream(host, methods, queue);  // deletes itself
  CallEvent* const done = &stream->operations_[kDone];
  stream->context_.AsyncNotifyWhenDone(done);
  grpc::ServerCompletionQueue* const events = queue->events();
  methods->Request(0, &stream->context_, &stream->call_, events, events, stream->Begin(kAccepted));
}

DecodeStream::DecodeStream(const DecodeHost* host, RawMethods* methods, StreamQueue* queue)
    : host_(host), methods_(methods), queue_(queue) {
  for (int kind = 0; kind < kKindCount; ++kind)
    operations_[static_cast<std::size_t>(kind)].Is(this, static_cast<Kind>(kind));
  ++*queue_->live_streams();
}

// On the queue's thread, in Complete() alone.
DecodeStream::~DecodeStream() {
  LetGo();
  --*queue_->live_streams();
  *host_->queued_bytes -= queued_bytes_;
}

// A thousand rows of long texts take 0.1 s to free, for which no other stream waits.
void DecodeStream::GiveRowsAway() {
  stepping_ = true;
  leaving_ = std::move(exchange_);
  queue_->Afterwards([this] {
    host_->long_step_threads->Run([this] {
      leaving_.reset();
      Notify(kRowsGone);  // the last touch
    });
  });
}

// Gives the places back before the client hears of the end: one that comes again at once finds them
// free.
void DecodeStream::LetGo() {
  if (!std::exchange(has_place_, false)) return;
  place_ = Tenant::Lease();
  host_->shared.metrics->StreamsOpenChanged(-1);
}

CallEvent* DecodeStream::Begin(Kind kind) {
  ++pending_;
  return &operations_[kind];
}

void DecodeStream::Notify(Kind kind) {
  // A time that has passed needs no timer of gRPC's, which may sleep by the clock of the day.
  alarms_[kind].Set(queue_->events(), gpr_inf_past(GPR_CLOCK_MONOTONIC), Begin(kind));
}

void DecodeStream::Complete(DecodeStream* stream, Kind kind, bool ok) {
  --stream->pending_;
  stream->Handle(kind, ok);
  stream->Advance();
  if (stream->finishing_ && stream->pending_ == 0) {
    if (stream->begun_) stream->Report();
    delete stream;
  } else if (stream->exchange_ != nullptr && !stream->stepping_ &&
             stream->memory_stream_ == nullptr) {
    stream->exchange_->LookAhead();  // the answer is on its way
  }
}

void DecodeStream::Handle(Kind kind, bool ok) {
  switch (kind) {
    case kAccepted:
      begun_ = ok;
      if (ok) return Begun();
      finishing_ = true;  // the server stops
      return;
    case kDone:
      cancelled_ = context_.IsCancelled();
      return;
    case kRead:
      reading_ = false;
      half_closed_ = !ok;
      // What was on its way when the stream ended is nobody's: what would take it is gone.
      return ok && is_wanted() ? TakeMessage() : void();
    case kWritten:
      writing_ = false;
      broken_ |= !ok;
      TakeWritten();
      return;
    case kStepDone:
      stepping_ = false;
      ++activity_;
      return SendReply();
    case kRowsGone:
      stepping_ = false;
      return;
    case kGoAway: {
      v1::DecodeResponse notice;
      notice.mutable_go_away()->set_reason("draining");
      notice.mutable_go_away()->set_deadline_ms(static_cast<std::uint32_t>(host_->drain_ms));
      return Send(notice);
    }
    case kCallEnd:
      return exchange_ == nullptr ? End(host_->shared.streams->Late()) : void();
    case kTimer:
      timing_ = false;
      if (ok) return TimeIsUp();
      // The hello has come, and its time counts no more.
      return finishing_ || host_->idle_ms == 0 ? void() : SetTimer(host_->idle_ms);
    case kFetched:
      return UseMemory();
    case kMemoryEnded: {
      absl::Status status = OfStream(memory_stream_->status());
      memory_stream_.reset();
      return status.ok() ? void() : End(std::move(status));
    }
    case kFinished:
    case kKindCount:
      return;
  }
}

void DecodeStream::Advance() {
  if (finishing_) return;
  // One write at a time, and one read beside it: gRPC allows no more of either.
  if (!writing_ && !outgoing_.empty() && !broken_) {
    writing_ = true;
    call_.Write(outgoing_.front(), Begin(kWritten));
  }
  if (is_open()) {
    if (!reading_ && !stepping_ && outgoing_.size() < kMaxQueued &&
        queued_bytes_ <= kMaxQueuedBytes) {
      reading_ = true;
      call_.Read(&incoming_, Begin(kRead));
    }
  } else if (memory_stream_ != nullptr) {
    is_wanted() ? memory_stream_->HalfClose() : memory_stream_->Stop();  // it says when it ends
  } else if (!stepping_ && !writing_ && WithdrawOffer()) {
    ended_ = FinalStatus();
    if (exchange_ != nullptr) return GiveRowsAway();  // and comes back here
    finishing_ = true;
    registration_.reset();  // no notice comes from here on
    if (timing_) alarms_[kTimer].Cancel();
    LetGo();  // before the client hears of the end
    call_.Finish(ToGrpcStatus(*ended_), Begin(kFinished));
  }
}

bool DecodeStream::is_open() const { return is_wanted() && !half_closed_; }

bool DecodeStream::is_wanted() const { return !ended_.has_value() && !broken_ && !cancelled_; }

// A call came: asks for the next one, and for a place.
void DecodeStream::Begun() {
  ++pending_;  // kDone comes for every call
  // Another one waits to be accepted before this one is looked at.
  Accept(host_, methods_, queue_);
  absl::StatusOr<Caller> caller = host_->gate->Admit(context_);
  if (!caller.ok()) return End(caller.status());
  caller_ = *std::move(caller);
  figures_ = std::make_shared<StreamFigures>(
      StreamFigures::Who{caller_.identity, caller_.tenant->name()}, Clock::Steady()->Now());
  const Peer peer = host_->gate->PeerOf(context_);
  auto registration = host_->shared.streams->Add(
      peer.name,
      [this](StreamRegistry::Notice notice) {
        Notify(notice == StreamRegistry::Notice::kGoAway ? kGoAway : kCallEnd);
      },
      figures_, /*is_apart=*/peer.name == kPlayground);
  if (!registration.ok()) return End(registration.status());
  // Its notices may come from now on, from any thread: they only add events.
  registration_.emplace(*std::move(registration));
  SetTimer(host_->hello_ms);
}

void DecodeStream::SetTimer(std::int64_t ms) {
  timing_ = true;
  activity_seen_ = activity_ + (memory_stream_ != nullptr ? memory_stream_->activity() : 0);
  const gpr_timespec time = gpr_time_from_millis(ms, GPR_TIMESPAN);
  alarms_[kTimer].Set(queue_->events(), gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), time),
                      Begin(kTimer));
}

// A client that comes back opens its rows anew, here or elsewhere: so UNAVAILABLE.
void DecodeStream::TimeIsUp() {
  if (finishing_) return;
  // Still no hello: what the stream holds is for those who say one.
  if (exchange_ == nullptr) {
    return End(ErrorAt(absl::StatusCode::kDeadlineExceeded, "hello", "HELLO_LATE",
                       absl::StrCat("limit hello_ms is ", host_->hello_ms)));
  }
  if (host_->idle_ms == 0) return;
  const std::int64_t now = activity_ + (memory_stream_ != nullptr ? memory_stream_->activity() : 0);
  if (now == activity_seen_ && !stepping_) {
    // It was told to end before and has not read what comes first: it holds its rows no longer. The
    // write that waits for it fails.
    if (ended_.has_value() && writing_) return context_.TryCancel();
    End(ErrorAt(absl::StatusCode::kUnavailable, "", "IDLE",
                absl::StrCat("no step came: limit idle_ms is ", host_->idle_ms)));
  }
  SetTimer(host_->idle_ms);
}

void DecodeStream::TakeMessage() {
  ++activity_;
  absl::Status taken = OrOutOfMemory([&] { return exchange_ != nullptr ? TakeStep() : Greet(); });
  if (!taken.ok()) End(std::move(taken));
}

// The first message. After an error the status is the stream's end, and a place that was taken goes
// back by itself.
absl::Status DecodeStream::Greet() {
  const absl::StatusOr<grpc::Slice> bytes = BytesOf(incoming_);
  if (!bytes.ok()) return bytes.status();
  v1::DecodeRequest request;
  if (!request.ParseFromArray(bytes->begin(), static_cast<int>(bytes->size())))
    return BadField("", "the message is no DecodeRequest");
  const absl::StatusOr<Hello> hello = ReadHello(request);
  if (!hello.ok()) return hello.status();
  auto terms = AgreeOnTerms(*hello, host_->tokenizers->now(), host_->shared.limits);
  if (!terms.ok()) return terms.status();
  absl::StatusOr<Tenant::Lease> place = caller_.tenant->Take(Tenant::Use::kStream);
  if (!place.ok()) return place.status();
  // The tenant's place first, then the server's: a lease that is not kept goes back by itself.
  if (absl::Status placed = registration_->TakePlace(); !placed.ok()) return placed;
  place_ = *std::move(place);
  terms->caller = caller_;
  terms->figures = figures_;
  host_->shared.metrics->StreamsOpenChanged(1);
  has_place_ = true;
  exchange_ = std::make_unique<StepExchange>(host_->shared, *terms);
  v1::DecodeResponse welcome;
  WriteWelcome(*terms->tokenizer, terms->mask_words, host_->shared.limits, terms->forms,
               welcome.mutable_welcome());
  welcome.mutable_welcome()->set_stream_number(registration_->number());
  welcome.mutable_welcome()->set_open_streams(
      static_cast<std::uint32_t>(host_->shared.streams->CountPlaced()));
  OfferMemory(*hello, welcome.mutable_welcome());
  Send(welcome);
  if (timing_) alarms_[kTimer].Cancel();
  return absl::OkStatus();
}

// Shared memory only makes a stream faster, so whatever fails here leaves the offer out and is no
// error.
void DecodeStream::OfferMemory(const Hello& hello, v1::Welcome* welcome) {
  if (!hello.shared_memory || !host_->offers->is_open() || !host_->gate->PeerOf(context_).is_local)
    return;
  // The thread before the offer: what is offered and fetched must be served.
  std::unique_ptr<StandbyThread> standby = StandbyThread::Start();
  if (standby == nullptr) return;  // its steps stay with gRPC
  const ring::RingSizes sizes;
  absl::StatusOr<ring::SharedMemory> memory = ring::SharedMemory::Create(sizes);
  if (!memory.ok()) return;
  auto offer = host_->offers->Add(memory->TakeFd(), [this] { Notify(kFetched); });
  if (!offer.ok()) return;
  standby_ = std::move(standby);
  offered_.emplace(*std::move(memory));
  offer_.emplace(*std::move(offer));
  v1::SharedMemory& wire = *welcome->mutable_shared_memory();
  wire.set_socket_suffix(ring::kSocketSuffix);
  wire.set_token(offer_->token());
  wire.set_to_server_bytes(sizes.to_server);
  wire.set_to_client_bytes(sizes.to_client);
}

// False when the client has fetched the memory already: then kFetched is on its way, and the steps
// are the ring's.
bool DecodeStream::WithdrawOffer() {
  if (!offer_.has_value()) return true;
  const bool withdrawn = offer_->Withdraw();
  if (withdrawn) {
    offer_.reset();
    offered_.reset();
    standby_.reset();
  }
  return withdrawn;
}

void DecodeStream::UseMemory() {
  // The client has it: from now on its steps come by the ring, and the exchange is that thread's.
  offer_.reset();
  if (is_wanted()) {
    exchange_->TravelBy(metrics::Transport::kSharedMemory);
    memory_stream_ = std::make_unique<MemoryStream>(
        *std::move(offered_), std::move(standby_),
        static_cast<std::size_t>(host_->shared.limits.max_step_bytes), host_->awake,
        exchange_.get(), host_->offers, [this] { Notify(kMemoryEnded); });
  }
  offered_.reset();
  standby_.reset();
}

// Answers here what is short and gives the rest away, so that other streams of this thread wait for
// one turn at most.
absl::Status DecodeStream::TakeStep() {
  if (memory_stream_ != nullptr || !WithdrawOffer())
    return BadField("step", "the steps of this stream go through its shared memory");
  host_->shared.metrics->StepWaited(std::chrono::duration<double>(waited_).count());
  if (incoming_.Length() > kLargeMessage) queue_->LargeMessageCame();
  unread_ = incoming_.Length() > kMostReadHere;
  if (unread_) {
    GiveAway(Helper::kLongStepThread);
    return absl::OkStatus();
  }
  absl::Status begun = BeginStep(IsAlone() ? kTurnAlone : kTurn);
  if (!begun.ok()) return begun;
  if (const Helper helper = AnswerInTurn(); helper != Helper::kNobody) {
    GiveAway(helper);
    return absl::OkStatus();
  }
  FinishStep();
  SendReply();
  return absl::OkStatus();
}

absl::Status DecodeStream::BeginStep(std::optional<Clock::Duration> turn) {
  const absl::StatusOr<grpc::Slice> slice = BytesOf(incoming_);
  if (!slice.ok()) return slice.status();
  return exchange_->Begin(ViewOf(*slice), turn);
}

// The queue has this stream, and a call that is still to be accepted.
bool DecodeStream::IsAlone() const { return *queue_->live_streams() <= 2; }

DecodeStream::Helper DecodeStream::AnswerInTurn() {
  if (exchange_->takes_long()) return Helper::kStepThread;
  if (exchange_->put_off()) return Helper::kLongStepThread;
  // Alone, a mask may as well be made here: giving away costs two wake-ups.
  const bool made_here = host_->shared.mask_makers == nullptr || IsAlone();
  if (exchange_->AnswerSome(made_here ? NewMasks::kMade : NewMasks::kRefused))
    return Helper::kNobody;
  return exchange_->put_off() ? Helper::kLongStepThread : Helper::kMaskMaker;
}

void DecodeStream::GiveAway(Helper helper) {
  stepping_ = true;  // before anyone can be done: from here the exchange is the helper's
  queue_->Afterwards([this, helper] {
    const auto finish = [this] { FinishElsewhere(); };
    if (helper == Helper::kStepThread)
      host_->shared.threads->Run(finish);
    else if (helper == Helper::kLongStepThread ||
             !host_->shared.mask_makers->Submit(finish).has_value())
      host_->long_step_threads->Run(finish);
  });
}

void DecodeStream::FinishElsewhere() {
  FinishStep();
  // The last touch: the stream may be gone as soon as the event is in the queue.
  Notify(kStepDone);
}

// The reply is copied here, too: a long one takes as long as a turn.
void DecodeStream::FinishStep() {
  const absl::Status begun =
      std::exchange(unread_, false) ? BeginStep(std::nullopt) : absl::OkStatus();
  const auto reply = begun.ok() ? exchange_->Finish([this] { return cancelled_.load(); }) : begun;
  if (!reply.ok()) {
    reply_ = reply.status();
    return;
  }
  reply_ = BufferOf(*reply);
}

void DecodeStream::SendReply() {
  if (!reply_.ok()) return End(reply_.status());
  Queue(std::exchange(*reply_, grpc::ByteBuffer()));
}

void DecodeStream::Send(const v1::DecodeResponse& response) { Queue(Serialize(response)); }

void DecodeStream::Queue(grpc::ByteBuffer message) {
  const auto bytes = static_cast<std::int64_t>(message.Length());
  queued_bytes_ += bytes;
  *host_->queued_bytes += bytes;
  outgoing_.push_back(std::move(message));
}

void DecodeStream::TakeWritten() {
  const auto bytes = static_cast<std::int64_t>(outgoing_.front().Length());
  queued_bytes_ -= bytes;
  *host_->queued_bytes -= bytes;
  outgoing_.pop_front();
}

void DecodeStream::End(absl::Status status) {
  // The first reason is the one that is told; what follows of it is not.
  if (!ended_.has_value()) ended_ = std::move(status);
}

absl::Status DecodeStream::FinalStatus() const {
  if (ended_.has_value()) return *ended_;
  if (cancelled_ || broken_) return absl::CancelledError("the stream was cancelled");
  return exchange_ != nullptr ? absl::OkStatus()
                              : BadField("hello", "the stream ended before its Hello");
}

// A client that was killed ends its half first, as one does that is content. Only the call's own
// end, which comes last, tells them apart.
void DecodeStream::Report() const {
  const bool left = cancelled_ && ended_->ok();
  const absl::Status status = left ? absl::CancelledError("the client has left") : *ended_;
  if (status.ok()) return;
  const std::string code = absl::StatusCodeToString(status.code());
  const std::string reason = WireReason(status);
  host_->shared.metrics->Refused(code, reason);
  LogEvent("stream_failed", {{"code", code}, {"reason", reason}}, caller_.trace);
}

}  // namespace maskd::service
