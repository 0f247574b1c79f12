// FailoverStream looks for a server that takes its rows. Each round asks several servers at once.
// The first that welcomes is sent the rows; where it does not take them the others, which
// have gone on meanwhile, follow.
//
// Invariant  rows and steps are on their way to one server at a time; the others have had a hello.
// Bounds     give_up_after for the whole search, and the caller's time for what one call does of
//            it. A server that has refused for load is not asked before it said.
#include <algorithm>
#include <utility>

#include "absl/random/distributions.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/failover/failover_stream.h"

namespace maskd::client {
namespace {

// What a caller is told whose time is over while a server is looked for.
absl::Status OutOfTime(const absl::Status& last) {
  return absl::DeadlineExceededError(
      absl::StrCat("no server has taken the rows in time: ", last.message()));
}

}  // namespace

bool FailoverStream::MayMove(const absl::Status& status) {
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

StreamOptions FailoverStream::OptionsWithin(absl::Duration open_timeout) const {
  StreamOptions options = options_.stream;
  options.open_timeout = std::min(options.open_timeout, open_timeout);
  options.write_timeout = std::min(options.write_timeout, options_.step_timeout);
  return options;
}

absl::Status FailoverStream::Move(const absl::Status& why, SteadyTime deadline) {
  if (!search_.has_value()) {
    stream_.reset();
    servers_.Note(address(), why, SteadyTime::Now());
    if (watch_ != nullptr) servers_.Replace(watch_->servers(), random_);
    servers_.GoOn();
    ++moves_;
  }
  return FindServer(deadline);
}

absl::Status FailoverStream::FindServer(SteadyTime deadline) {
  if (!search_.has_value()) {
    const SteadyTime now = SteadyTime::Now();
    search_.emplace(Search{.give_up_at = now + options_.give_up_after,
                           .wake = now,
                           .delay = options_.retry.first_delay,
                           .patience = options_.step_timeout});
  }
  std::optional<absl::Status> found;
  while (!found.has_value()) {
    if (!search_->race.has_value() && search_->wake > deadline) {
      absl::SleepFor(deadline - SteadyTime::Now());
      return OutOfTime(search_->last);
    }
    if (!search_->race.has_value()) BeginRound();
    found = AskServers(deadline);
    if (found.has_value() && absl::IsDeadlineExceeded(*found) && !search_->is_over) return *found;
    if (!found.has_value()) found = EndRound();
  }
  search_.reset();
  return *found;
}

void FailoverStream::BeginRound() {
  absl::SleepFor(search_->wake - SteadyTime::Now());
  const SteadyTime now = SteadyTime::Now();
  search_->first = address();
  search_->differing = 0;
  const absl::Duration patience = std::min(search_->patience, search_->give_up_at - now);
  search_->race.emplace(servers_.ToAsk(now), [this, patience](const std::string& server) {
    return std::make_unique<MaskStream::Opening>(server, options_.max_message_bytes,
                                                 OptionsWithin(patience));
  });
}

std::optional<absl::Status> FailoverStream::AskServers(SteadyTime deadline) {
  Search& search = *search_;
  while (opening_.has_value() || !search.race->is_over()) {
    absl::Status tried = absl::OkStatus();
    if (!opening_.has_value()) {
      auto attempt = search.race->Next(deadline);
      if (!attempt.has_value()) return OutOfTime(search.last);
      servers_.Use(attempt->address);
      tried =
          attempt->stream.ok() ? SendOpens(*std::move(attempt->stream)) : attempt->stream.status();
    }
    if (tried.ok()) tried = TakeRows(deadline);
    if (opening_.has_value()) return tried;  // the caller's time is over
    servers_.Note(address(), tried, SteadyTime::Now());
    const bool is_other = absl::IsFailedPrecondition(tried);
    search.is_over = tried.ok() || !(is_other || MayMove(tried));
    if (search.is_over) return tried;
    search.last = tried;
    if (!is_other) continue;
    search.differs = tried;
    ++search.differing;
  }
  return std::nullopt;
}

std::optional<absl::Status> FailoverStream::EndRound() {
  Search& search = *search_;
  search.race.reset();
  servers_.Use(search.first);
  search.wake = SteadyTime::Now() + search.delay * absl::Uniform(random_, 0.5, 1.0);
  if (const auto refusal = servers_.First(); refusal.has_value()) {
    search.wake = std::max(search.wake, refusal->until);
    if (search.last.ok()) search.last = refusal->error;
  }
  search.delay = std::min(2 * search.delay, options_.retry.max_delay);
  // Twice as much in each round: a server that is slow is found too, behind those that answer.
  search.patience *= 2;
  const bool is_in_vain = search.differing == servers_.all().size();
  if (!is_in_vain && search.wake <= search.give_up_at) return std::nullopt;
  return search.differs.ok() ? search.last : search.differs;
}

}  // namespace maskd::client
