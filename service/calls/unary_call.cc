// A call is a machine of events, as a stream is (decode_stream.cc). What takes time, reading the
// message and answering, is done by call threads; between the two nobody has the call.
//
// Who wakes whom  a slot that is given back has the message read; the compile's thread, or the end
//                 of the call, has a call thread answer.
// May block       nothing.
// Invariant  End() is called once: by whoever works, and one works at a time. Where the call waits,
//            who takes it out of Stage::kWaiting works.
#include "service/calls/unary_call.h"

#include <exception>
#include <new>
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/base/memory_reserve.h"
#include "service/base/errors.h"
#include "service/wire/status_map.h"

namespace maskd::service {
namespace {

// Behind a read that failed, until a caller that has left is known to have.
constexpr std::int64_t kUnreadMs = 10;
// A client ends its call by itself at its deadline. What it has said of it was rounded up by a
// hundredth at most, and has travelled.
constexpr std::chrono::milliseconds kTravel{10};
constexpr int kRounding = 100;
// Messages behind which a thread keeps no memory for its next call.
constexpr std::size_t kLargeBytes = 4 << 10;
// Messages that the events' thread may read.
constexpr std::size_t kMostReadHere = 4 << 10;

// What `job` says, also where it throws.
template <typename Job>
absl::Status Guarded(const Job& job) {
  try {
    return OrOutOfMemory(job);
  } catch (const std::exception&) {
    return absl::UnknownError("not foreseen");
  }
}

}  // namespace

void UnaryCall::Accept(UnaryHost* host, int method, grpc::ServerCompletionQueue* queue, int* live) {
  const auto let_go = [host](UnaryCall* call) {
    const bool has_come = call->has_come_;
    delete call;
    if (has_come && --host->open == 0) host->open.notify_all();
  };
  const std::shared_ptr<UnaryCall> call(new UnaryCall(host, method, queue, live), let_go);
  call->self_ = call;
  ++*live;
  call->context_.AsyncNotifyWhenDone(call->TagOf(kDone));
  host->methods.Request(method, &call->context_, &call->call_, host->events.get(), queue,
                        call->TagOf(kAccepted));
}

UnaryCall::UnaryCall(UnaryHost* host, int method, grpc::ServerCompletionQueue* queue, int* live)
    : host_(host), method_(method), queue_(queue), live_(live) {
  for (int kind = 0; kind < kKindCount; ++kind)
    operations_[static_cast<std::size_t>(kind)].Is(this, static_cast<Kind>(kind));
}

void UnaryCall::Handle(Kind kind, bool ok) {
  switch (kind) {
    case kAccepted:
      return Accepted(ok);
    case kBegun:
      return Begin();
    case kRead:
      return TakeMessage(ok);
    case kUnread:
      return End(has_left_ ? absl::CancelledError("cancelled")
                           : BadField("", "the call has no message"));
    case kWritten:  // or it cannot be
      host_->unread.Remove(this);
      --host_->running;
      return call_.Finish(grpc::Status::OK, TagOf(kFinished));
    case kDone:
      is_done_ = true;
      has_left_ = context_.IsCancelled();
      GoOn();
      return LetGoIfOver();
    case kFinished:
      is_finished_ = true;
      return LetGoIfOver();
    case kKindCount:
      return;
  }
}

// On the thread of a stream's queue: another one waits to be accepted before this one is looked at.
void UnaryCall::Accepted(bool ok) {
  --*live_;
  if (!ok) return self_.reset();  // the server stops
  Accept(host_, method_, queue_, live_);
  has_come_ = true;
  ++host_->open;
  passed_on_.Set(host_->events.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), TagOf(kBegun));
}

void UnaryCall::Begin() {
  ++host_->running;
  came_ = std::chrono::system_clock::now();
  const absl::Status admitted = Guarded([this] { return Admit(); });
  if (!admitted.ok()) return End(admitted);
  host_->slots.Take(
      TurnOwner(caller_), [this] { context_.TryCancel(); },
      [self = shared_from_this()](absl::StatusOr<ReceiveSlots::Slot> slot) {
        self->Receive(std::move(slot));
      });
}

absl::Status UnaryCall::Admit() {
  absl::StatusOr<Caller> caller = host_->admit(context_);
  if (!caller.ok()) return caller.status();
  caller_ = *std::move(caller);
  absl::StatusOr<OpenCalls::Place> place = host_->places.Take(caller_.identity);
  if (place.ok()) place_.emplace(*std::move(place));
  return place.status();
}

void UnaryCall::Receive(absl::StatusOr<ReceiveSlots::Slot> slot) {
  if (!slot.ok()) return End(slot.status());
  slot_.emplace(*std::move(slot));
  call_.Read(&message_, TagOf(kRead));
}

void UnaryCall::TakeMessage(bool ok) {
  if (ok) {
    const bool here = message_.Length() <= kMostReadHere && host_->threads.is_idle();
    return here ? WorkHere() : OnCallThread(&UnaryCall::Work);
  }
  slot_.reset();
  const gpr_timespec time = gpr_time_from_millis(kUnreadMs, GPR_TIMESPAN);
  unread_.Set(host_->events.get(), gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), time),
              TagOf(kUnread));
}

void UnaryCall::Work() {
  UnaryHost* const host = host_;
  const bool is_large = message_.Length() > kLargeBytes;
  absl::Status begun;
  if (!BeginWork(&begun)) begun.ok() ? Answer() : End(begun);
  if (is_large && host->forget != nullptr) host->forget();
}

void UnaryCall::WorkHere() {
  absl::Status begun;
  if (BeginWork(&begun)) return;
  if (begun.ok() && !work_->answers_quickly()) return OnCallThread(&UnaryCall::Answer);
  begun.ok() ? Answer() : End(begun);
}

bool UnaryCall::BeginWork(absl::Status* begun) {
  bool waits = false;
  *begun = Guarded([&] {
    const auto bytes = static_cast<std::int64_t>(message_.Length());
    host_->slots.Charge(TurnOwner(caller_), bytes);
    received_.emplace(&host_->received, bytes);
    work_ = host_->works[static_cast<std::size_t>(method_)]();
    const absl::Status read = work_->Begin(*this, &message_);
    message_.Clear();
    slot_.reset();
    if (!read.ok()) return read;
    cache::Ticket* const ticket = work_->awaited();
    waits = ticket != nullptr && !ticket->ready() && Wait(ticket);
    return absl::OkStatus();
  });
  return waits;
}

bool UnaryCall::Wait(cache::Ticket* ticket) {
  ticket->WhenReady([weak = weak_from_this()] {
    if (const std::shared_ptr<UnaryCall> call = weak.lock(); call != nullptr) call->GoOn();
  });
  const MutexLock lock(&mutex_);
  if (is_to_go_on_) return false;
  stage_ = Stage::kWaiting;
  return true;
}

void UnaryCall::GoOn() {
  {
    const MutexLock lock(&mutex_);
    if (stage_ != Stage::kWaiting) {
      is_to_go_on_ = true;
      return;
    }
    stage_ = Stage::kWorking;
  }
  OnCallThread(&UnaryCall::Answer);
}

void UnaryCall::OnCallThread(void (UnaryCall::*step)()) {
  try {
    host_->threads.Run(TurnOwner(caller_),
                       [self = shared_from_this(), step] { (self.get()->*step)(); });
  } catch (const std::bad_alloc&) {
    (this->*step)();  // else nobody would
  }
}

void UnaryCall::Answer() {
  const absl::Status answered =
      Guarded([this] { return work_->Answer(*this, WhyLeft(), &message_); });
  End(answered);
}

absl::Status UnaryCall::WhyLeft() const {
  if (!has_left_) return absl::OkStatus();
  const auto deadline = context_.deadline();
  const bool is_late =
      deadline != std::chrono::system_clock::time_point::max() &&
      deadline <= std::chrono::system_clock::now() + kTravel + (deadline - came_) / kRounding;
  return is_late
             ? ErrorAt(absl::StatusCode::kDeadlineExceeded, "", "DEADLINE", "the deadline passed")
             : ErrorAt(absl::StatusCode::kCancelled, "", "CANCELLED", "the caller cancelled");
}

absl::Status UnaryCall::CountReply(std::int64_t bytes) {
  absl::Status room = host_->unread.Add(this, bytes, [this] { context_.TryCancel(); });
  has_counted_ |= room.ok();
  return room;
}

// What the call has goes back before its client hears of the end, so the client's next call finds
// it free.
void UnaryCall::End(const absl::Status& status) {
  slot_.reset();
  work_.reset();
  received_.reset();
  if (status.ok() && has_counted_) return call_.Write(message_, TagOf(kWritten));
  if (has_counted_) host_->unread.Remove(this);
  if (!status.ok()) host_->count(status);
  --host_->running;
  if (status.ok())
    call_.WriteAndFinish(message_, grpc::WriteOptions(), grpc::Status::OK, TagOf(kFinished));
  else
    call_.Finish(ToGrpcStatus(status), TagOf(kFinished));
}

void UnaryCall::LetGoIfOver() {
  if (is_done_ && is_finished_) self_.reset();
}

}  // namespace maskd::service
