// One thread a stream: it answers what is there, looks at the ring again and again for a while
// (--awake_us), and then sleeps until the client wakes it. A step runs on it to its end, compile
// waits included: no other stream is on this thread, so nothing is given away.
//
// Who wakes whom  the client, through the ring, when it has written a step or made room;
//                 HalfClose() and Stop() on the stream's queue thread.
// May block       in Sleep(), for a step or for room, and in a step that waits for a compile.
// Ends            when the client half-closes and all before it is answered, when it is stopped, or
//                 at an error; `ended` is the last thing that the thread calls.
#include "service/calls/memory_stream.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "grammar_core/base/memory_reserve.h"

namespace maskd::service {
namespace {

absl::Status Stopped() { return absl::CancelledError("the stream was cancelled"); }

}  // namespace

MemoryStream::MemoryStream(ring::SharedMemory memory, std::unique_ptr<StandbyThread> thread,
                           std::size_t max_step_bytes, absl::Duration awake, StepExchange* exchange,
                           MemoryOffers* offers, std::function<void()> ended)
    : channel_(std::move(memory), ring::Side::kServer, max_step_bytes),
      awake_(awake),
      exchange_(exchange),
      offers_(offers),
      thread_(std::move(thread)) {
  thread_->Run([this, ended = std::move(ended)] {
    status_ = OrOutOfMemory([this] { return Serve(); });
    ended();
  });
}

MemoryStream::~MemoryStream() {
  Stop();
  // Joined first: the memory is the thread's until then. What the client has not read yet stays.
  thread_ = nullptr;
  offers_->Retire(channel_.TakeMemory());
}

void MemoryStream::HalfClose() {
  if (!half_closed_.exchange(true)) channel_.Wake();
}

void MemoryStream::Stop() {
  if (!stopped_.exchange(true)) channel_.Wake();
}

absl::Status MemoryStream::Serve() {
  for (;;) {
    const bool is_last = half_closed_;  // looked at first: what came before it is there
    if (absl::Status answered = AnswerAll(); !answered.ok()) return answered;
    if (is_last) return absl::OkStatus();
    if (channel_.StayAwake(ring::kBytes, awake_)) continue;
    absl::Status slept = channel_.Sleep(ring::kBytes, absl::InfiniteDuration());
    if (!slept.ok()) return slept;
  }
}

absl::Status MemoryStream::AnswerAll() {
  while (!stopped_) {
    const absl::StatusOr<std::optional<absl::string_view>> step = channel_.TryRead();
    if (!step.ok()) return step.status();
    if (!step->has_value()) return absl::OkStatus();
    if (absl::Status answered = Answer(**step); !answered.ok()) return answered;
  }
  return Stopped();
}

absl::Status MemoryStream::Answer(absl::string_view step) {
  ++activity_;  // at the begin and at the end, so a long step is not taken for an idle stream
  if (absl::Status begun = exchange_->Begin(step); !begun.ok()) return begun;
  const auto reply = exchange_->Finish([this] { return stopped_.load(); });
  if (!reply.ok()) return reply.status();
  absl::Status sent = Send(*reply);
  ++activity_;
  if (sent.ok()) exchange_->LookAhead();
  return sent;
}

absl::Status MemoryStream::Send(absl::string_view reply) {
  channel_.StartWrite(reply);
  while (!stopped_) {
    const absl::StatusOr<bool> sent = channel_.ContinueWrite();
    if (!sent.ok() || *sent) return sent.status();
    absl::Status slept = channel_.Sleep(ring::kRoom, absl::InfiniteDuration());
    if (!slept.ok()) return slept;
  }
  return Stopped();
}

}  // namespace maskd::service
