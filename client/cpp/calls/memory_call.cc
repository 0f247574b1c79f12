// Steps and replies go through two rings. A thread waits on the Decode call for notices and for the
// end, and wakes whoever sleeps at the ring. While a step waits for room, replies are taken out and
// kept, else both sides could wait for each other.
//
// Invariant  unanswered_ bounds what may arrive: the server sends no more replies than it has
//            steps.
// Cost       a step is serialized and then copied into the ring; a reply is viewed, and copied only
//            where it must be kept.
// Threads    the caller's and the watcher; mutex_ guards the notices and the end.
#include "client/cpp/calls/memory_call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/support/slice.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/connect/socket_path.h"
#include "ring/handover.h"

namespace maskd::client {

namespace {

// A suffix leads to a neighbour of the server's socket, and nowhere else.
bool IsSuffix(absl::string_view suffix) {
  constexpr absl::string_view kElsewhere("/\0", 2);
  return !suffix.empty() && suffix.find_first_of(kElsewhere) == absl::string_view::npos;
}

}  // namespace

absl::StatusOr<ring::SharedMemory> FetchMemory(const std::string& address,
                                               const v1::SharedMemory& offer, SteadyTime deadline) {
  const std::optional<std::string> path = SocketPathOf(address);
  if (!path.has_value()) return absl::UnavailableError("the address is no Unix socket's");
  if (!IsSuffix(offer.socket_suffix()))
    return absl::InternalError("the server lends memory at a place that is not beside its socket");
  auto fd = ring::Fetch(absl::StrCat(*path, offer.socket_suffix()), offer.token(),
                        deadline - SteadyTime::Now());
  if (!fd.ok()) return fd.status();
  auto memory = ring::SharedMemory::Map(
      *std::move(fd), {.to_server = offer.to_server_bytes(), .to_client = offer.to_client_bytes()});
  if (absl::IsInvalidArgument(memory.status()))
    return absl::InternalError(absl::StrCat("the server lends ", memory.status().message()));
  return memory;
}

MemoryCall::MemoryCall(std::unique_ptr<DecodeCall> call, ring::SharedMemory memory,
                       std::size_t max_message_bytes)
    : call_(std::move(call)),
      channel_(std::move(memory), ring::Side::kClient, max_message_bytes),
      watcher_([this] { Watch(); }) {}

MemoryCall::~MemoryCall() {
  if (!watcher_.joinable()) return;
  closing_ = true;
  call_->Interrupt();
  watcher_.join();
}

absl::Status MemoryCall::Write(const v1::DecodeRequest& message, std::size_t byte_size,
                               SteadyTime deadline) {
  outgoing_.resize(byte_size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(outgoing_.data()));
  if (absl::Status open = CheckOpen(); !open.ok()) return open;
  channel_.StartWrite(outgoing_);
  ++unanswered_;
  for (;;) {
    const absl::StatusOr<bool> sent = channel_.ContinueWrite();
    if (!sent.ok()) return Break(sent.status());
    if (*sent) return absl::OkStatus();
    if (absl::Status kept = KeepArrived(); !kept.ok()) return kept;
    if (absl::Status open = CheckOpen(); !open.ok()) return open;
    if (SteadyTime::Now() >= deadline)
      return Break(absl::DeadlineExceededError("the server takes no steps"));
    absl::Status slept = Sleep(ring::kRoom | ring::kBytes, deadline);
    if (!slept.ok()) return slept;
  }
}

absl::Status MemoryCall::Read(grpc::ByteBuffer& message, SteadyTime deadline,
                              SteadyTime awake_until) {
  for (;;) {
    const absl::StatusOr<bool> taken = Take(message);
    if (!taken.ok() || *taken) return taken.status();
    const SteadyTime now = SteadyTime::Now();
    if (now >= deadline) return absl::DeadlineExceededError("no answer of the server in time");
    if (channel_.StayAwake(ring::kBytes, std::min(awake_until, deadline) - now)) continue;
    if (absl::Status slept = Sleep(ring::kBytes, deadline); !slept.ok()) return slept;
  }
}

absl::StatusOr<bool> MemoryCall::ReadUntilInterrupted(grpc::ByteBuffer& message) {
  for (;;) {
    const absl::StatusOr<bool> taken = Take(message);
    if (!taken.ok()) return taken;
    if (interrupted_.exchange(false) || *taken) return taken;
    absl::Status slept = Sleep(ring::kBytes, SteadyTime::Never());
    if (!slept.ok()) return slept;
  }
}

void MemoryCall::Interrupt() {
  interrupted_ = true;
  channel_.Wake();
}

// The server may wait for room before it sees the half-close: so what arrives is taken out.
absl::Status MemoryCall::Finish(SteadyTime deadline) {
  if (watcher_.joinable()) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      finish_by_ = deadline;
    }
    closing_ = true;
    call_->Interrupt();
    while (CheckOpen().ok() && KeepArrived().ok()) {
      kept_.clear();
      if (!Sleep(ring::kBytes, deadline).ok()) break;
    }
    watcher_.join();
  }
  return call_->Finish(deadline);
}

void MemoryCall::Watch() {
  for (bool is_over = false; !is_over;) {
    grpc::ByteBuffer notice;
    const absl::StatusOr<bool> read = call_->ReadUntilInterrupted(notice);
    is_over = !read.ok() || closing_;
    absl::Status end = read.ok() && is_over ? FinishIfAsked() : read.status();
    if (read.ok() && !is_over && !*read) continue;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_over)
      ended_ = std::move(end);
    else
      notices_.emplace_back().Swap(&notice);
    has_news_ = true;
    channel_.Wake();
  }
}

absl::Status MemoryCall::FinishIfAsked() {
  std::optional<SteadyTime> by;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    by = finish_by_;
  }
  if (by.has_value()) call_->Finish(*by).IgnoreError();
  return absl::CancelledError("the stream is closed");
}

absl::StatusOr<bool> MemoryCall::Take(grpc::ByteBuffer& message) {
  if (!broken_.ok()) return broken_;
  std::optional<absl::Status> ended;
  if (has_news_) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!notices_.empty()) {
      message.Swap(&notices_.front());
      notices_.pop_front();
      has_news_ = ended_.has_value() || !notices_.empty();
      return true;
    }
    ended = ended_;
  }
  if (!kept_.empty()) {
    message.Swap(&kept_.front());
    kept_.pop_front();
    return true;
  }
  // Looked at after the end: what was sent before it is there.
  const absl::StatusOr<bool> taken = TakeOfRing(message);
  if (!taken.ok() || *taken || !ended.has_value()) return taken;
  return *ended;
}

absl::StatusOr<bool> MemoryCall::TakeOfRing(grpc::ByteBuffer& message) {
  const auto arrived = NextOfRing();
  if (!arrived.ok()) return arrived.status();
  if (!arrived->has_value()) return false;
  const grpc::Slice slice((*arrived)->data(), (*arrived)->size(), grpc::Slice::STATIC_SLICE);
  grpc::ByteBuffer bytes(&slice, 1);
  message.Swap(&bytes);
  return true;
}

// No more replies than steps: so what is kept is bounded, and taking it out comes to an end.
absl::StatusOr<std::optional<absl::string_view>> MemoryCall::NextOfRing() {
  auto arrived = channel_.TryRead();
  if (!arrived.ok()) return Break(arrived.status());
  if (arrived->has_value() && unanswered_-- == 0)
    return Break(absl::InternalError("the server answers what nobody asked"));
  return arrived;
}

absl::Status MemoryCall::KeepArrived() {
  for (;;) {
    const auto arrived = NextOfRing();
    if (!arrived.ok()) return arrived.status();
    if (!arrived->has_value()) return absl::OkStatus();
    const grpc::Slice slice((*arrived)->data(), (*arrived)->size());
    kept_.emplace_back(&slice, 1);
  }
}

absl::Status MemoryCall::CheckOpen() {
  if (!broken_.ok() || !has_news_) return broken_;
  const std::lock_guard<std::mutex> lock(mutex_);
  return ended_.value_or(absl::OkStatus());
}

absl::Status MemoryCall::Sleep(std::uint32_t reasons, SteadyTime deadline) {
  absl::Status slept = channel_.Sleep(reasons, deadline - SteadyTime::Now());
  return slept.ok() ? slept : Break(slept);
}

absl::Status MemoryCall::Break(const absl::Status& status) {
  broken_ = absl::IsDataLoss(status)
                ? absl::InternalError(absl::StrCat("the server broke ", status.message()))
                : status;
  return broken_;
}

}  // namespace maskd::client
