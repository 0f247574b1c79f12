#include "client/cpp/failover_stream.h"

#include <algorithm>
#include <utility>

#include "absl/random/distributions.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"

#include "client/cpp/reply_reader.h"
#include "protos/wire_fields.h"

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

// Whether the server or the way to it ended.
bool IsEnd(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsUnknown(status);
}

// How many servers may end under a step.
constexpr std::size_t kMostEnds = 2;

// What a caller is told whose time is over while a server is looked for.
absl::Status OutOfTime(const absl::Status& last) {
  return absl::DeadlineExceededError(
      absl::StrCat("no server has taken the rows in time: ", last.message()));
}

// What is said of each row of a step that is given up.
v1::RowReply FailedRow(RowId row, const std::vector<std::string>& ended) {
  v1::RowReply reply;
  reply.set_row(row);
  reply.set_state(v1::ROW_STATE_FAILED);
  v1::RowError& error = *reply.mutable_error();
  error.set_code(static_cast<int>(absl::StatusCode::kInternal));
  error.set_reason("SERVERS_ENDED");
  error.set_message(absl::StrCat("the servers ", absl::StrJoin(ended, " and "),
                                 " ended under a step of this row: it is not sent to another"));
  return reply;
}

}  // namespace

FailoverStream::FailoverStream(Options options) : options_(std::move(options)) {
  if (!options_.in_order) std::ranges::shuffle(options_.addresses, random_);
}

absl::StatusOr<std::unique_ptr<FailoverStream>> FailoverStream::Open(Options options) {
  if (options.addresses.empty()) return absl::InvalidArgumentError("addresses: is empty");
  std::unique_ptr<FailoverStream> stream(new FailoverStream(std::move(options)));
  if (absl::Status found = stream->FindServer(absl::InfiniteFuture()); !found.ok()) return found;
  return stream;
}

absl::Status FailoverStream::FindServer(absl::Time deadline) {
  const absl::Time give_up_at = absl::Now() + options_.give_up_after;
  absl::Duration delay = options_.retry.first_delay;
  // Twice as much in each round: a server that is slow is found too, behind those that answer.
  absl::Duration patience = options_.step_timeout;
  absl::Status differs;       // what the last server said that means other masks
  std::size_t differing = 0;  // such servers in this round
  for (std::size_t tries = 1;; ++tries) {
    absl::Status opened = OpenHere(deadline, patience);
    const bool is_other = absl::IsFailedPrecondition(opened);
    if (opened.ok() || opening_.has_value() || !(is_other || MayMove(opened))) return opened;
    if (is_other) {
      differs = opened;
      ++differing;
    }
    address_ = (address_ + 1) % options_.addresses.size();
    const bool is_round = tries % options_.addresses.size() == 0;
    if (is_round && differing == options_.addresses.size()) return differs;
    if (absl::Now() >= deadline) return OutOfTime(opened);
    if (!is_round) continue;
    differing = 0;
    const absl::Duration wait = delay * absl::Uniform(random_, 0.5, 1.0);
    if (absl::Now() + wait > give_up_at) return differs.ok() ? opened : differs;
    if (absl::Now() + wait > deadline) {
      absl::SleepFor(deadline - absl::Now());
      return OutOfTime(opened);
    }
    absl::SleepFor(wait);
    delay = std::min(2 * delay, options_.retry.max_delay);
    patience *= 2;
  }
}

absl::Status FailoverStream::CheckVocabulary(const v1::Welcome& welcome) {
  const v1::Tokenizer& here = welcome.tokenizer();
  if (!vocabulary_.has_value()) {
    if (!here.hash().empty()) vocabulary_ = Vocabulary{here.hash(), here.vocab_size()};
    return absl::OkStatus();
  }
  if (here.hash() == vocabulary_->hash && here.vocab_size() == vocabulary_->size)
    return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(address(), ": its tokenizer \"", here.name(), "\" has ", here.vocab_size(),
                   " tokens and the hash ", here.hash(), "; the stream's has ", vocabulary_->size,
                   " tokens and the hash ", vocabulary_->hash));
}

absl::Status FailoverStream::OpenHere(absl::Time deadline, absl::Duration patience) {
  if (!opening_.has_value())
    if (absl::Status begun = BeginOpening(deadline, patience); !begun.ok()) return begun;
  if (absl::Status finished = FinishOpening(deadline); !finished.ok()) return finished;
  auto stream = std::move(opening_->stream);
  opening_.reset();
  for (std::size_t i = given_up_ + 1; i < unanswered_.size(); ++i)
    if (const auto sent = stream->Submit(unanswered_[i].step); !sent.ok()) return sent.status();
  stream_ = std::move(stream);
  welcome_ = stream_->welcome();
  return absl::OkStatus();
}

absl::Status FailoverStream::BeginOpening(absl::Time deadline, absl::Duration patience) {
  StreamOptions stream_options = options_.stream;
  stream_options.first_step = next_step_ - live() - 1;
  stream_options.open_timeout =
      std::min({stream_options.open_timeout, patience, deadline - absl::Now()});
  stream_options.write_timeout = std::min(stream_options.write_timeout, options_.step_timeout);
  auto opened = MaskStream::Open(address(), options_.max_message_bytes, stream_options);
  if (!opened.ok()) return opened.status();
  MaskStream& stream = **opened;
  if (absl::Status same = CheckVocabulary(stream.welcome()); !same.ok()) return same;
  ledger_.SetFormat(stream.welcome().grammar_format());
  for (std::size_t i = given_up_; i < unanswered_.size(); ++i) {
    ledger_.WriteTexts(unanswered_[i].step.mutable_step());
    ledger_.DropCloses(unanswered_[i].step.mutable_step());
  }
  Step replay;
  Step oldest;  // a copy, as another server may have to open other rows in it
  if (live() > 0) oldest = unanswered_[given_up_].step;
  ledger_.WriteOpens(replay.mutable_step(), oldest.mutable_step());
  replay.WaitForCompile(options_.compile_timeout);
  if (const auto sent = stream.Submit(replay); !sent.ok()) return sent.status();
  opening_ = Opening{*std::move(opened), std::move(oldest),
                     absl::Now() + options_.compile_timeout + options_.step_timeout};
  return absl::OkStatus();
}

// The replay's reply is dropped: what it says has been said of each row. A row that cannot go on
// here speaks against this server.
absl::Status FailoverStream::FinishOpening(absl::Time deadline) {
  StepResult replayed;
  const absl::Time until = std::min(opening_->until, deadline);
  absl::Status done = opening_->stream->Collect(until - absl::Now(), replayed);
  if (absl::IsDeadlineExceeded(done) && deadline < opening_->until && absl::Now() >= deadline)
    return done;
  if (done.ok()) {
    done = ledger_.ApplyReplay(replayed.rows());
    if (!done.ok()) done = {done.code(), absl::StrCat(address(), ": ", done.message())};
  }
  if (done.ok() && live() > 0) done = opening_->stream->Submit(opening_->oldest).status();
  if (!done.ok()) opening_.reset();
  return done;
}

absl::Status FailoverStream::Move(absl::Time deadline) {
  if (!opening_.has_value()) {
    stream_.reset();
    address_ = (address_ + 1) % options_.addresses.size();
    ++moves_;
  }
  return FindServer(deadline);
}

// Those that ended as they had said do not count.
void FailoverStream::NoteEnd(const absl::Status& status) {
  if (stream_ == nullptr || !IsEnd(status) || stream_->go_away().has_value()) return;
  for (std::size_t i = given_up_; i < unanswered_.size(); ++i) {
    Sent& sent = unanswered_[i];
    sent.ended.push_back(address());
    if (sent.ended.size() < kMostEnds) continue;
    sent.failed = ledger_.GiveUp(sent.step.message().step());
    ++given_up_;  // an older step saw no fewer ends, so these are the oldest
  }
}

absl::Status FailoverStream::AnswerGivenUp(StepResult& result) {
  const Sent& sent = unanswered_.front();
  v1::DecodeResponse response;
  response.mutable_step()->set_step(sent.step.message().step().step());
  for (const RowId row : sent.failed)
    *response.mutable_step()->add_rows() = FailedRow(row, sent.ended);
  const std::string bytes = response.SerializeAsString();
  const auto size = static_cast<int>(bytes.size());
  WireInput in(reinterpret_cast<const std::uint8_t*>(bytes.data()), size);
  in.PushLimit(size);
  ServerMessage message;
  absl::Status read = ReplyReader(welcome_).Read(in, message);
  result = std::move(message.result);
  unanswered_.pop_front();
  --given_up_;
  return read;
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
  Sent next = {step, {}};
  if (moves_ > 0) ledger_.WriteTexts(next.step.mutable_step());
  ledger_.DropCloses(next.step.mutable_step());
  const absl::Status sent = stream_ != nullptr
                                ? stream_->Submit(next.step).status()
                                : MaskStream::NumberStep(welcome_, next_step_, next.step).status();
  const bool is_too_large = absl::IsResourceExhausted(sent);
  if (!sent.ok() && (is_too_large || !MayMove(sent))) return sent;
  if (!sent.ok()) {
    NoteEnd(sent);
    stream_.reset();
  }
  unanswered_.push_back(std::move(next));
  return next_step_++;
}

absl::Status FailoverStream::Collect(absl::Duration timeout, StepResult& result) {
  if (unanswered_.empty()) return absl::FailedPreconditionError("no step is in flight");
  const absl::Time deadline = absl::Now() + timeout;
  for (std::size_t moves = 0; given_up_ == 0; ++moves) {
    absl::Status collected = absl::UnavailableError("no server is in use");
    const v1::Step& oldest = unanswered_.front().step.message().step();
    if (stream_ != nullptr) {
      const absl::Duration patience =
          options_.step_timeout + absl::Milliseconds(oldest.wait_for_compile_ms());
      collected = stream_->Collect(std::min(deadline - absl::Now(), patience), result);
      NoteEnd(collected);
      if (collected.ok()) collected = ledger_.Apply(oldest, result.rows());
      if (collected.ok()) {
        unanswered_.pop_front();
        return absl::OkStatus();
      }
    }
    if (given_up_ > 0) {
      stream_.reset();  // the next step finds another server
      break;
    }
    const bool is_callers_time = absl::IsDeadlineExceeded(collected) && absl::Now() >= deadline;
    // Each address has had its turn: servers that open the rows and then fail have no more.
    const bool is_in_vain = moves >= options_.addresses.size() && absl::Now() >= deadline;
    const bool may_move = MayMove(collected) || absl::IsFailedPrecondition(collected);
    if (is_callers_time || is_in_vain || !may_move) return collected;
    if (absl::Status moved = Move(deadline); !moved.ok()) return moved;
  }
  return AnswerGivenUp(result);
}

absl::Status FailoverStream::Close(absl::Duration timeout) {
  unanswered_.clear();
  given_up_ = 0;
  return stream_ == nullptr ? absl::OkStatus() : stream_->Close(timeout);
}

}  // namespace maskd::client
