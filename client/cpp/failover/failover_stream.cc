// Steps without a reply are kept. When the server is lost, the rows are opened anew on the next one
// from the ledger's tokens, in a step of their own (the replay), and the kept steps follow with
// their numbers. A move to a server with fewer streams does the same while the old one still
// stands.
//
// Invariant  the ledger holds what the replies said and nothing else, so a step that is sent again
//            starts from where its first sending did.
// Cost       without a loss: a copy of each step, and the ledger's books. A move: one step that
//            opens all rows with all their tokens.
// Bounds     kMaxInFlight kept steps; kMostEnds servers under one step.
#include "client/cpp/failover/failover_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/base/wire_status.h"
#include "client/cpp/calls/local_engine.h"
#include "client/cpp/failover/balance.h"
#include "client/cpp/steps/reply_reader.h"

namespace maskd::client {
namespace {

// How long an old server may take to be told goodbye.
constexpr absl::Duration kGoodbye = absl::Milliseconds(50);
// How long it is looked at the servers at the start, and how often more.
constexpr absl::Duration kAtStart = absl::Milliseconds(500);
constexpr int kMostSettles = 3;
// How long a server that has fewer streams may take to open the rows.
constexpr absl::Duration kShortestMove = absl::Milliseconds(40);
constexpr absl::Duration kLongestMove = absl::Milliseconds(500);

// Whether the server or the way to it ended.
bool IsEnd(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsUnknown(status);
}

// The same error, with its details, and whose it is.
absl::Status Named(const std::string& address, const absl::Status& error) {
  return WithDetailsOf(error,
                       absl::Status(error.code(), absl::StrCat(address, ": ", error.message())));
}

// How many servers may end under a step.
constexpr std::size_t kMostEnds = 2;

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

FailoverStream::FailoverStream(Options options)
    : options_(std::move(options)), servers_(options_.addresses) {}

absl::StatusOr<std::unique_ptr<FailoverStream>> FailoverStream::Open(Options options) {
  if (options.addresses.empty()) return absl::InvalidArgumentError("addresses: is empty");
  std::unique_ptr<FailoverStream> stream(new FailoverStream(std::move(options)));
  if (!stream->options_.in_order) stream->OrderByLoad();
  if (absl::Status found = stream->FindServer(SteadyTime::Never()); !found.ok()) return found;
  if (stream->spreads()) stream->Settle();
  return stream;
}

bool FailoverStream::spreads() const {
  const std::vector<std::string>& all = options_.addresses;
  const auto is_local = [](const std::string& one) { return IsLocal(one); };
  return !options_.in_order && std::ranges::none_of(all, is_local) &&
         (all.size() > 1 || IsName(all.front()));
}

void FailoverStream::OrderByLoad() {
  std::vector<std::string> servers = options_.addresses;
  if (spreads()) servers = ServerWatch::ServersOf(options_.addresses, options_.resolve);
  std::ranges::shuffle(servers, random_);
  if (spreads() && servers.size() > 1) {
    const LoadAsker::Loads loads = asker_.Ask(servers, std::nullopt, kAtStart);
    std::vector<std::optional<int>> streams;
    for (const std::string& server : servers) {
      const auto asked = std::ranges::find(loads.servers, server);
      const auto at = static_cast<std::size_t>(asked - loads.servers.begin());
      streams.push_back(asked == loads.servers.end() ? std::nullopt : loads.streams[at]);
    }
    std::vector<std::string> ordered;
    for (const std::size_t i : LeastFirst(streams)) ordered.push_back(servers[i]);
    servers = std::move(ordered);
  }
  servers_ = ServerList(std::move(servers));
}

// Each stream that opens looks once more behind its own opening, so the last of a herd sees all.
void FailoverStream::Settle() {
  for (int i = 0; i < kMostSettles && welcome_.has_stream_number(); ++i) {
    const LoadAsker::Loads loads =
        asker_.Ask(servers_.all(), LoadAsker::Own{address(), welcome_.stream_number()}, kAtStart);
    const std::optional<std::string> place = loads.PlaceFor(address());
    if (!place.has_value()) break;
    Left before{address(), std::move(stream_)};
    if (OpenAt(*place).ok()) {
      before.stream->Close(kGoodbye).IgnoreError();
      continue;
    }
    opening_.reset();
    servers_.Use(before.address);
    stream_ = std::move(before.stream);
    break;
  }
  // All begin with the server that had least: they must not all go on to the same one.
  servers_.Shuffle(random_);
  const StreamOptions stream_options = OptionsWithin(options_.stream.open_timeout);
  watch_ = std::make_unique<ServerWatch>(
      ServerWatch::Options{options_.addresses, options_.resolve, options_.look_every,
                           options_.max_message_bytes, stream_options, options_.compile_timeout});
  watch_->Use(address(), welcome_);
}

absl::Status FailoverStream::OpenAt(const std::string& place) {
  servers_.Use(place);
  auto opened =
      MaskStream::Open(place, options_.max_message_bytes, OptionsWithin(options_.step_timeout));
  if (!opened.ok()) return opened.status();
  if (absl::Status sent = SendOpens(*std::move(opened)); !sent.ok()) return sent;
  return TakeRows(SteadyTime::Never());
}

std::unique_ptr<MaskStream> FailoverStream::FollowWatch() {
  if (watch_ == nullptr || stream_ == nullptr) return nullptr;
  watch_->Touch();
  if (!watch_->has_news() || !unanswered_.empty() || !ledger_.IsSettled()) return nullptr;
  if (watch_->WantsGrammars()) watch_->Give(ledger_.Grammars(options_.stream.tokenizer));
  std::optional<ServerWatch::Offer> offer = watch_->Take();
  if (!offer.has_value()) return nullptr;
  left_ = Left{address(), std::move(stream_)};
  left_at_ = SteadyTime::Now();
  servers_.Replace(watch_->servers(), random_);
  servers_.Use(offer->address);
  return std::move(offer->stream);
}

// Half of the caller's time is the old server's: the step is answered in time whatever the new one
// does.
absl::Status FailoverStream::FinishLeaving(SteadyTime deadline) {
  const SteadyTime now = SteadyTime::Now();
  if (opening_.has_value()) {
    const SteadyTime half = std::min(now + (deadline - now) / 2, left_at_ + kLongestMove);
    opening_->until = std::max(half, left_at_ + kShortestMove);
    const absl::Status opened = TakeRows(deadline);
    if (opened.ok()) {
      ++moves_;
      watch_->Retire(std::move(left_->stream));
      left_.reset();
    }
    if (opened.ok() || opening_.has_value()) return opened;
  }
  return GoBack();
}

absl::Status FailoverStream::GoBack() {
  opening_.reset();
  watch_->LeaveAlone(address());
  servers_.Use(left_->address);
  std::unique_ptr<MaskStream> stream = std::move(left_->stream);
  left_.reset();
  ledger_.SetFormat(welcome_.grammar_format());
  for (Sent& sent : unanswered_)
    if (const auto again = stream->Submit(sent.step); !again.ok()) return again.status();
  stream_ = std::move(stream);
  return absl::OkStatus();
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

absl::Status FailoverStream::TakeRows(SteadyTime deadline) {
  if (absl::Status finished = FinishOpening(deadline); !finished.ok()) return finished;
  auto stream = std::move(opening_->stream);
  opening_.reset();
  for (std::size_t i = given_up_ + 1; i < unanswered_.size(); ++i)
    if (const auto sent = stream->Submit(unanswered_[i].step); !sent.ok()) return sent.status();
  stream_ = std::move(stream);
  welcome_ = stream_->welcome();
  if (watch_ != nullptr) watch_->Use(address(), welcome_);
  return absl::OkStatus();
}

absl::Status FailoverStream::SendOpens(std::unique_ptr<MaskStream> stream) {
  if (absl::Status same = CheckVocabulary(stream->welcome()); !same.ok()) return same;
  stream->NumberFrom(next_step_ - live() - 1);
  ledger_.SetFormat(stream->welcome().grammar_format());
  for (std::size_t i = given_up_; i < unanswered_.size(); ++i) {
    ledger_.WriteTexts(unanswered_[i].step.mutable_step());
    ledger_.DropCloses(unanswered_[i].step.mutable_step());
  }
  Step replay;
  Step oldest;  // a copy, as another server may have to open other rows in it
  if (live() > 0) oldest = unanswered_[given_up_].step;
  ledger_.WriteOpens(replay.mutable_step(), oldest.mutable_step());
  replay.WaitForCompile(options_.compile_timeout);
  if (const auto sent = stream->Submit(replay); !sent.ok()) return sent.status();
  opening_ = Opening{std::move(stream), std::move(oldest),
                     SteadyTime::Now() + options_.compile_timeout + options_.step_timeout};
  return absl::OkStatus();
}

// The replay's reply is dropped: what it says has been said of each row. A row that cannot go on
// here speaks against this server.
absl::Status FailoverStream::FinishOpening(SteadyTime deadline) {
  StepResult replayed;
  const SteadyTime until = std::min(opening_->until, deadline);
  absl::Status done = opening_->stream->Collect(until - SteadyTime::Now(), replayed);
  if (absl::IsDeadlineExceeded(done) && deadline < opening_->until && SteadyTime::Now() >= deadline)
    return done;
  if (done.ok()) {
    done = ledger_.ApplyReplay(replayed.rows());
    if (!done.ok()) done = Named(address(), done);
  }
  if (done.ok() && live() > 0) done = opening_->stream->Submit(opening_->oldest).status();
  if (!done.ok()) opening_.reset();
  return done;
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
  ServerMessage message;
  absl::Status read = ReplyReader(welcome_).Read(response.SerializeAsString(), message);
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
  std::unique_ptr<MaskStream> other = FollowWatch();
  Sent next = {step, {}};
  if (moves_ > 0) ledger_.WriteTexts(next.step.mutable_step());
  ledger_.DropCloses(next.step.mutable_step());
  const absl::Status sent = stream_ != nullptr
                                ? stream_->Submit(next.step).status()
                                : MaskStream::NumberStep(welcome_, next_step_, next.step).status();
  const bool is_too_large = absl::IsResourceExhausted(sent);
  if (!sent.ok() && (is_too_large || !MayMove(sent))) {
    if (other != nullptr) GoBack().IgnoreError();
    return sent;
  }
  if (!sent.ok()) {
    NoteEnd(sent);
    stream_.reset();
  }
  unanswered_.push_back(std::move(next));
  ++next_step_;
  if (other != nullptr) SendOpens(std::move(other)).IgnoreError();  // else Collect() goes back
  return next_step_ - 1;
}

absl::Status FailoverStream::Collect(absl::Duration timeout, StepResult& result) {
  if (unanswered_.empty()) return absl::FailedPreconditionError("no step is in flight");
  const SteadyTime deadline = SteadyTime::Now() + timeout;
  if (left_.has_value()) {
    const absl::Status left = FinishLeaving(deadline);
    if (absl::IsDeadlineExceeded(left) && opening_.has_value()) return left;
  }
  for (std::size_t moves = 0; given_up_ == 0; ++moves) {
    absl::Status collected = absl::UnavailableError("no server is in use");
    const v1::Step& oldest = unanswered_.front().step.message().step();
    if (stream_ != nullptr) {
      const absl::Duration patience =
          options_.step_timeout + absl::Milliseconds(oldest.wait_for_compile_ms());
      collected = stream_->Collect(std::min(deadline - SteadyTime::Now(), patience), result);
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
    const bool is_callers_time =
        absl::IsDeadlineExceeded(collected) && SteadyTime::Now() >= deadline;
    // Each address has had its turn: servers that open the rows and then fail have no more.
    const bool is_in_vain = moves >= servers_.all().size() && SteadyTime::Now() >= deadline;
    const bool may_move = MayMove(collected) || absl::IsFailedPrecondition(collected);
    if (is_callers_time || is_in_vain || !may_move) return collected;
    if (absl::Status moved = Move(collected, deadline); !moved.ok()) return moved;
  }
  return AnswerGivenUp(result);
}

absl::Status FailoverStream::Close(absl::Duration timeout) {
  unanswered_.clear();
  given_up_ = 0;
  watch_.reset();
  left_.reset();
  search_.reset();
  return stream_ == nullptr ? absl::OkStatus() : stream_->Close(timeout);
}

}  // namespace maskd::client
