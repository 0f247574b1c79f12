#include "client/cpp/failover_stream.h"

#include <algorithm>
#include <utility>

#include "absl/random/distributions.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace maskd::client {
namespace {

// How long an old server may take to be told goodbye.
constexpr absl::Duration kGoodbye = absl::Milliseconds(50);

// Whether another server may do better: this one is gone, silent, full, or broken.
bool MayMove(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<FailoverStream>> FailoverStream::Open(Options options) {
  if (options.addresses.empty()) return absl::InvalidArgumentError("addresses: is empty");
  std::unique_ptr<FailoverStream> stream(new FailoverStream(std::move(options)));
  if (absl::Status found = stream->FindServer(); !found.ok()) return found;
  return stream;
}

absl::Status FailoverStream::FindServer() {
  const absl::Time deadline = absl::Now() + options_.give_up_after;
  absl::Duration delay = options_.retry.first_delay;
  for (std::size_t tries = 1;; ++tries) {
    absl::Status opened = OpenHere();
    if (opened.ok() || !MayMove(opened)) return opened;
    address_ = (address_ + 1) % options_.addresses.size();
    if (tries % options_.addresses.size() != 0) continue;
    const absl::Duration wait = delay * absl::Uniform(random_, 0.5, 1.0);
    if (absl::Now() + wait > deadline) return opened;
    absl::SleepFor(wait);
    delay = std::min(2 * delay, options_.retry.max_delay);
  }
}

absl::Status FailoverStream::OpenHere() {
  StreamOptions stream_options = options_.stream;
  stream_options.first_step = next_step_ - unanswered_.size() - 1;
  stream_options.open_timeout = std::min(stream_options.open_timeout, options_.step_timeout);
  auto stream = MaskStream::Open(address(), options_.max_message_bytes, stream_options);
  if (!stream.ok()) return stream.status();
  if (absl::Status replayed = Replay(**stream); !replayed.ok()) return replayed;
  for (std::size_t i = 1; i < unanswered_.size(); ++i) {
    if (const auto sent = (*stream)->Submit(unanswered_[i]); !sent.ok()) return sent.status();
  }
  stream_ = *std::move(stream);
  welcome_ = stream_->welcome();
  return absl::OkStatus();
}

// The replay's reply is dropped: what it says has been said of each row. A row that cannot go on
// here speaks against this server.
absl::Status FailoverStream::Replay(MaskStream& stream) {
  Step replay;
  Step oldest;  // a copy, as another server may have to open other rows in it
  if (!unanswered_.empty()) oldest = unanswered_.front();
  ledger_.WriteOpens(replay.mutable_step(), oldest.mutable_step());
  replay.WaitForCompile(options_.compile_timeout);
  if (const auto sent = stream.Submit(replay); !sent.ok()) return sent.status();
  StepResult replayed;
  const absl::Duration timeout = options_.compile_timeout + options_.step_timeout;
  if (absl::Status collected = stream.Collect(timeout, replayed); !collected.ok()) {
    return collected;
  }
  if (absl::Status booked = ledger_.ApplyReplay(replayed.rows()); !booked.ok()) {
    return absl::UnavailableError(absl::StrCat(address(), ": ", booked.message()));
  }
  return unanswered_.empty() ? absl::OkStatus() : stream.Submit(oldest).status();
}

absl::Status FailoverStream::Move() {
  stream_.reset();
  address_ = (address_ + 1) % options_.addresses.size();
  ++moves_;
  return FindServer();
}

absl::StatusOr<std::uint64_t> FailoverStream::Submit(Step& step) {
  if (in_flight() >= MaskStream::kMaxInFlight) {
    return absl::FailedPreconditionError(
        absl::StrCat(MaskStream::kMaxInFlight, " steps are in flight: collect first"));
  }
  if (stream_ != nullptr && stream_->go_away().has_value() && unanswered_.empty()) {
    stream_->Close(kGoodbye).IgnoreError();
    stream_.reset();
  }
  const absl::Status sent = stream_ != nullptr
                                ? stream_->Submit(step).status()
                                : MaskStream::NumberStep(welcome_, next_step_, step).status();
  const bool is_too_large = absl::IsResourceExhausted(sent);
  if (!sent.ok() && (is_too_large || !MayMove(sent))) return sent;
  unanswered_.push_back(step);
  ++next_step_;
  if (stream_ == nullptr || !sent.ok()) {
    if (absl::Status moved = Move(); !moved.ok()) {
      unanswered_.pop_back();
      --next_step_;
      return moved;
    }
  }
  return next_step_ - 1;
}

absl::Status FailoverStream::Collect(absl::Duration timeout, StepResult& result) {
  if (unanswered_.empty()) return absl::FailedPreconditionError("no step is in flight");
  const absl::Time deadline = absl::Now() + timeout;
  for (std::size_t moves = 0;; ++moves) {
    absl::Status collected = absl::UnavailableError("no server is in use");
    if (stream_ != nullptr) {
      const absl::Duration patience =
          options_.step_timeout +
          absl::Milliseconds(unanswered_.front().message().step().wait_for_compile_ms());
      collected = stream_->Collect(std::min(deadline - absl::Now(), patience), result);
      if (collected.ok()) {
        collected = ledger_.Apply(unanswered_.front().message().step(), result.rows());
      }
      if (collected.ok()) break;
    }
    const bool is_callers_time = absl::IsDeadlineExceeded(collected) && absl::Now() >= deadline;
    // Each address has had its turn: servers that open the rows and then fail have no more.
    const bool is_in_vain = moves >= options_.addresses.size() && absl::Now() >= deadline;
    if (is_callers_time || is_in_vain || !MayMove(collected)) return collected;
    if (absl::Status moved = Move(); !moved.ok()) return moved;
  }
  unanswered_.pop_front();
  return absl::OkStatus();
}

absl::Status FailoverStream::Close(absl::Duration timeout) {
  unanswered_.clear();
  return stream_ == nullptr ? absl::OkStatus() : stream_->Close(timeout);
}

}  // namespace maskd::client
