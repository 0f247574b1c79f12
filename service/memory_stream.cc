#include "service/memory_stream.h"

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
    if (channel_.StayAwake(ring::kBytes, absl::Now() + awake_)) continue;
    absl::Status slept = channel_.Sleep(ring::kBytes, absl::InfiniteFuture());
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
  ++activity_;
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
    absl::Status slept = channel_.Sleep(ring::kRoom, absl::InfiniteFuture());
    if (!slept.ok()) return slept;
  }
  return Stopped();
}

}  // namespace maskd::service
