// FailoverStream and ServerWatch as events: each call of theirs that takes time is one, and what
// they decide by is decided by the same code.
//
// Invariant  whatever waits for an event of before `epoch_` is over; an engine has one stream, or
//            looks for one, and at most one more that is offered or being opened.
// Cost       a step: three events, and one step of a real session with a row or two.
#include "bench/cell_engine.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/status/status.h"

namespace maskd::bench {
namespace {

constexpr Micros kTrip{200};    // half a call over the network of one place
constexpr Micros kPoll{5'000};  // how often it is seen whether grammars are there
// As failover_stream.cc and server_watch.cc have them.
constexpr Seconds kStepTimeout{2};
constexpr Seconds kGiveUpAfter{10};
constexpr Seconds kReplayTimeout{12};
constexpr Seconds kLongestMove{0.5};
constexpr Seconds kAnswerTimeout{0.5};
constexpr Seconds kTaken{1};
constexpr Seconds kAlone{30};
constexpr int kMostSettles = 3;
constexpr std::size_t kMostAsked = 8;
// So long after its stream was lost an engine begins again.
constexpr Seconds kRestart{1};

constexpr int kFirstFresh = 1'000'000;
constexpr int kFreshOfOne = 10'000;
constexpr TokenId kLetter = 'a';
constexpr int kTokensAtFirst = 4;

Micros ToMicros(absl::Duration time) { return Micros(absl::ToDoubleMicroseconds(time)); }

}  // namespace

CellEngine::CellEngine(int number, const CellPlan& plan, CellTime* time,
                       std::deque<CellServer>* servers, CellFigures* figures)
    : number_(number),
      plan_(plan),
      time_(time),
      servers_(servers),
      figures_(figures),
      alone_until_(servers->size(), Seconds(0)) {
  for (int i = 0; i < plan.rows; ++i)
    rows_.push_back({time->Below(plan.grammars), kTokensAtFirst, std::nullopt});
}

void CellEngine::After(Micros delay, std::function<void()> then) {
  time_->After(delay, [this, epoch = epoch_, then = std::move(then)] {
    if (epoch == epoch_) then();
  });
}

Seconds CellEngine::TakeSilence() {
  silence_ = std::max(silence_, time_->now() - last_answer_);
  return std::exchange(silence_, Seconds(0));
}

void CellEngine::Start() {
  step_begin_ = time_->now();
  ++epoch_;
  Ask(std::nullopt, Sample(std::nullopt), [this](const Seen& seen) {
    order_.resize(servers_->size());
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::shuffle(order_, time_->random());
    std::vector<std::optional<int>> streams;
    for (const int server : order_) {
      const auto found = std::ranges::find(seen.servers, server);
      streams.push_back(
          found == seen.servers.end()
              ? std::nullopt
              : std::optional(
                    seen.streams[static_cast<std::size_t>(found - seen.servers.begin())]));
    }
    std::vector<int> ordered;
    for (const std::size_t i : client::LeastFirst(streams)) ordered.push_back(order_[i]);
    order_ = std::move(ordered);
    next_ = 0;
    const auto opened = OpenStream(order_.front());
    if (!opened.ok()) return Search();
    Settle(*opened, kMostSettles);
  });
}

// Looks once more behind its own opening, before its rows are there.
void CellEngine::Settle(const Place& place, int times) {
  const auto stay = [this, place] {
    std::ranges::shuffle(order_, time_->random());
    next_ = static_cast<std::size_t>(std::ranges::find(order_, place.server) - order_.begin());
    Replay(place, kReplayTimeout, [this, place] { Opened(place); }, [this] { Search(); });
  };
  if (times == 0) return stay();
  Ask(place, Sample(place), [this, place, times, stay](const Seen& seen) {
    const std::optional<int> to = PlaceFor(seen, place.server);
    if (!to.has_value()) return stay();
    const auto opened = OpenStream(*to);
    if (!opened.ok()) return stay();
    at(place.server).Close(place.stream);
    Settle(*opened, times - 1);
  });
}

absl::StatusOr<CellEngine::Place> CellEngine::OpenStream(int server) {
  auto opened = at(server).Open([this, server] {
    if (place_.has_value() && place_->server == server) going_away_ = true;
  });
  if (absl::IsResourceExhausted(opened.status())) ++figures_->turned_away;
  if (!opened.ok()) return opened.status();
  return Place{server, *opened};
}

void CellEngine::Search() {
  ++epoch_;
  state_ = State::kSearches;
  if (opening_.has_value()) at(opening_->place.server).Close(opening_->place.stream);
  if (place_.has_value()) at(place_->server).Close(place_->stream);
  opening_.reset();
  place_.reset();
  going_away_ = false;
  tries_ = 0;
  wait_us_ = ToMicros(retry_.first_delay).count();
  patience_us_ = Micros(kStepTimeout).count();
  give_up_at_ = time_->now() + kGiveUpAfter;
  next_ = (next_ + 1) % order_.size();
  TryNext();
}

void CellEngine::TryNext() {
  const int server = order_[next_];
  if (!at(server).reachable()) return After(Micros(patience_us_), [this] { TryAnother(); });
  After(2 * kTrip, [this, server] {
    const auto opened = OpenStream(server);
    if (!opened.ok()) return TryAnother();
    Replay(
        *opened, kReplayTimeout, [this, place = *opened] { Opened(place); },
        [this] { TryAnother(); });
  });
}

void CellEngine::TryAnother() {
  ++epoch_;
  next_ = (next_ + 1) % order_.size();
  if (++tries_ % order_.size() != 0) return TryNext();
  const Micros wait(wait_us_ * time_->Uniform(0.5, 1));
  if (time_->now() + wait > give_up_at_) {
    ++figures_->lost_streams;
    return After(kRestart, [this] { Start(); });
  }
  wait_us_ = std::min(2 * wait_us_, ToMicros(retry_.max_delay).count());
  patience_us_ *= 2;
  After(wait, [this] { TryNext(); });
}

void CellEngine::Opened(const Place& place) {
  ++epoch_;
  place_ = place;
  state_ = State::kSteps;
  going_away_ = false;
  for (Row& row : rows_) row.opened.reset();
  refused_.clear();
  pace_.Came();
  PlanLook();
  StepHere();
}

void CellEngine::Replay(const Place& place, Seconds patience, std::function<void()> done,
                        std::function<void()> failed) {
  opening_ = Opening{place, plan_.rows, std::move(done), std::move(failed)};
  After(patience, [this, number = place.stream.number, server = place.server] {
    if (opening_.has_value() && opening_->place.server == server &&
        opening_->place.stream.number == number)
      EndReplay(false);
  });
  After(kTrip, [this, place] {
    at(place.server)
        .Step(place.stream, OpenAll(), Work::kStep, plan_.step_us,
              [this, epoch = epoch_](const service::StepResult& result) {
                if (epoch == epoch_ && opening_.has_value()) ReadReplay(result);
              });
  });
}

void CellEngine::EndReplay(bool well) {
  Opening opening = *std::exchange(opening_, std::nullopt);
  if (well) return opening.done();
  at(opening.place.server).Close(opening.place.stream);
  opening.failed();
}

void CellEngine::ReadReplay(const service::StepResult& result) {
  for (const service::RowResult& answer : result.rows) {
    if (!answer.error.ok()) {
      ++figures_->turned_away;
      return EndReplay(false);
    }
    if (answer.state == service::RowState::kCompiling) continue;
    --opening_->compiling;
    if (answer.token_count != rows_[answer.row].tokens) ++figures_->wrong;
  }
  if (opening_->compiling > 0) return AwaitGrammars();
  const int server = opening_->place.server;
  at(server).Spend(Work::kReplay, ReplayCost(server), [this, epoch = epoch_] {
    if (epoch == epoch_ && opening_.has_value()) EndReplay(true);
  });
}

void CellEngine::AwaitGrammars() {
  After(kPoll, [this] {
    const Place place = opening_->place;
    at(place.server).StepNow(place.stream, {}, [this](const auto& result) { ReadReplay(result); });
  });
}

service::StepRequest CellEngine::OpenAll() const {
  service::StepRequest request;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    service::RowToOpen& open = request.opens.emplace_back();
    open.row = i;
    open.target.source = CellGrammars::Source(rows_[i].grammar);
    open.tokens.assign(static_cast<std::size_t>(rows_[i].tokens), kLetter);
  }
  return request;
}

// Each token is taken again, and where its grammar is new to the server, states are made.
double CellEngine::ReplayCost(int server) {
  double token_us = 0;
  for (const Row& row : rows_)
    token_us += at(server).Learns(row.grammar) ? plan_.taken_first_us : plan_.taken_again_us;
  return plan_.row_tokens * token_us;
}

void CellEngine::Step() {
  step_begin_ = time_->now();
  if (going_away_) {
    at(place_->server).Close(place_->stream);
    return Search();
  }
  const auto compiles = [](const Row& row) { return row.opened.has_value(); };
  if (!offered_.has_value() || std::ranges::any_of(rows_, compiles)) return StepHere();
  MoveTo(*std::exchange(offered_, std::nullopt));
}

void CellEngine::StepHere() {
  ++epoch_;
  After(kStepTimeout, [this] { Search(); });
  After(kTrip, [this] {
    const double new_us = plan_.rows * plan_.new_states * plan_.new_state_us;
    const double cost_us = plan_.step_us + plan_.rows * plan_.row_us + new_us;
    at(place_->server)
        .Step(place_->stream, MakeStep(), Work::kStep, cost_us,
              [this, epoch = epoch_](const service::StepResult& result) {
                if (epoch == epoch_) Answered(result);
              });
  });
}

void CellEngine::Answered(const service::StepResult& result) {
  ++epoch_;
  for (const service::RowResult& answer : result.rows) Read(answer);
  const Seconds there = time_->now() + kTrip;
  figures_->step_ms.push_back(1e3 * (there - step_begin_).count());
  silence_ = std::max(silence_, there - last_answer_);
  last_answer_ = there;
  const Seconds next = std::max(there, step_begin_ + Seconds(1 / plan_.steps_per_s));
  After(next - time_->now(), [this] { Step(); });
}

service::StepRequest CellEngine::MakeStep() {
  service::StepRequest request;
  std::set<int> renewed;
  for (const int row : std::exchange(refused_, {}))
    if (renewed.insert(row).second) Renew(&request, row, time_->Below(plan_.grammars));
  const double ends = static_cast<double>(plan_.rows) / plan_.row_tokens;
  if (const int row = time_->Below(plan_.rows);
      time_->Uniform(0, 1) < ends && renewed.insert(row).second) {
    const bool is_fresh = time_->Uniform(0, 1) < plan_.new_grammars;
    Renew(&request, row,
          is_fresh ? kFirstFresh + number_ * kFreshOfOne + fresh_++ : time_->Below(plan_.grammars));
  }
  next_row_ = (next_row_ + 1) % plan_.rows;
  Row& row = rows_[static_cast<std::size_t>(next_row_)];
  if (row.opened.has_value() || renewed.contains(next_row_)) return request;
  ++row.tokens;
  service::RowToMove& move = request.moves.emplace_back();
  move.row = static_cast<service::RowId>(next_row_);
  move.tokens.push_back(kLetter);
  return request;
}

void CellEngine::Renew(service::StepRequest* request, int row, int grammar) {
  const auto id = static_cast<service::RowId>(row);
  rows_[id] = {grammar, 0, time_->now()};
  request->closes.push_back(id);
  service::RowToOpen& open = request->opens.emplace_back();
  open.row = id;
  open.target.source = CellGrammars::Source(grammar);
  at(place_->server).Learns(grammar);
}

void CellEngine::Read(const service::RowResult& answer) {
  Row& row = rows_[answer.row];
  if (absl::IsResourceExhausted(answer.error) && row.opened.has_value()) {
    ++figures_->refused_rows;
    refused_.push_back(static_cast<int>(answer.row));
    return;
  }
  if (answer.state == service::RowState::kCompiling) return;
  if (!answer.error.ok() || answer.token_count != row.tokens) ++figures_->wrong;
  if (row.opened.has_value() && row.grammar >= kFirstFresh)
    figures_->compile_ms.push_back(1e3 * (time_->now() - *row.opened).count());
  row.opened.reset();
}

void CellEngine::ServerEnded(int server) {
  if (offered_.has_value() && offered_->server == server) offered_.reset();
  if (place_.has_value() && place_->server == server) return Search();
  if (opening_.has_value() && opening_->place.server == server) EndReplay(false);
}

std::vector<int> CellEngine::Sample(const std::optional<Place>& own) {
  std::vector<int> asked;
  for (int i = 0; i < static_cast<int>(servers_->size()); ++i) {
    const bool is_own = own.has_value() && own->server == i;
    if (is_own || alone_until_[static_cast<std::size_t>(i)] < time_->now()) asked.push_back(i);
  }
  std::ranges::shuffle(asked, time_->random());
  if (own.has_value()) std::swap(*std::ranges::find(asked, own->server), asked.front());
  asked.resize(std::min(asked.size(), kMostAsked));
  std::ranges::sort(asked);
  return asked;
}

void CellEngine::Ask(const std::optional<Place>& own, std::vector<int> asked,
                     std::function<void(const Seen&)> then) {
  const bool all_answer = std::ranges::all_of(asked, [this](int i) { return at(i).reachable(); });
  time_->After(kTrip * time_->Uniform(1, 2), [this, own, asked = std::move(asked), all_answer,
                                              then = std::move(then)] {
    Seen seen;
    for (const int server : asked) {
      const bool is_own = own.has_value() && own->server == server;
      if (!at(server).reachable()) continue;
      const auto load = at(server).GetLoad(is_own ? std::optional(own->stream.number)
                                                  : std::optional<std::uint64_t>());
      if (!load.ok()) continue;
      seen.servers.push_back(server);
      seen.streams.push_back(load->placed);
      if (is_own) seen.rank = load->rank.value_or(0);
    }
    time_->After(all_answer ? kTrip : Micros(kAnswerTimeout), [seen, then] { then(seen); });
  });
}

std::optional<int> CellEngine::PlaceFor(const Seen& seen, int own) {
  const auto found = std::ranges::find(seen.servers, own);
  if (found == seen.servers.end() || seen.rank == 0) return std::nullopt;
  const auto place = client::PlaceToGo(
      seen.streams, static_cast<std::size_t>(found - seen.servers.begin()), seen.rank);
  return place.has_value() ? std::optional(seen.servers[*place]) : std::nullopt;
}

void CellEngine::PlanLook() {
  const Micros wait = ToMicros(pace_.Next(time_->random()));
  time_->After(wait, [this, look = ++looks_] {
    if (look == looks_) Look();
  });
}

void CellEngine::Look() {
  if (!place_.has_value() || opening_.has_value()) return PlanLook();
  Ask(place_, Sample(place_), [this, place = *place_, look = looks_](const Seen& seen) {
    if (look != looks_) return;
    const auto [least, most] = std::ranges::minmax(seen.streams);
    pace_.Looked(most > least + 1);
    const std::optional<int> to = PlaceFor(seen, place.server);
    if (!to.has_value()) return PlanLook();
    std::set<int> grammars;
    for (const Row& row : rows_) grammars.insert(row.grammar);
    Prepare(*to, seen, {grammars.begin(), grammars.end()});
  });
}

// One call after the other, as the client makes them.
void CellEngine::Prepare(int server, const Seen& seen, std::vector<int> grammars) {
  if (grammars.empty()) return Offer(server, seen);
  auto ticket = at(server).lives() && at(server).reachable()
                    ? at(server).Compile(grammars.back(), &at(server).engines())
                    : absl::UnavailableError("no server");
  if (!ticket.ok()) return LeaveAlone(server);
  grammars.pop_back();
  const bool is_known = ticket->ready();
  auto kept = std::make_shared<cache::Ticket>(*std::move(ticket));
  time_->After(is_known ? 2 * kTrip : kPoll,
               [this, server, seen, kept, look = looks_, grammars = std::move(grammars)]() mutable {
                 if (look == looks_) Prepare(server, seen, std::move(grammars));
               });
}

// The same servers once more, as that may have taken long.
void CellEngine::Offer(int server, const Seen& seen) {
  if (!place_.has_value()) return PlanLook();
  Ask(place_, seen.servers, [this, server, own = place_->server, look = looks_](const Seen& again) {
    if (look != looks_) return;
    if (PlaceFor(again, own) != server || opening_.has_value()) return PlanLook();
    const auto opened = OpenStream(server);
    if (!opened.ok()) return LeaveAlone(server);
    offered_ = *opened;
    time_->After(kTaken, [this, look] {
      if (look != looks_) return;
      if (offered_.has_value()) at(offered_->server).Close(offered_->stream);
      offered_.reset();
      PlanLook();
    });
  });
}

void CellEngine::LeaveAlone(int server) {
  alone_until_[static_cast<std::size_t>(server)] = time_->now() + kAlone;
  PlanLook();
}

void CellEngine::MoveTo(const Place& place) {
  Replay(
      place, kLongestMove,
      [this, place] {
        at(place_->server).Close(place_->stream);
        ++figures_->moves;
        next_ = static_cast<std::size_t>(std::ranges::find(order_, place.server) - order_.begin());
        Opened(place);
      },
      [this, server = place.server] {
        LeaveAlone(server);
        StepHere();
      });
}

}  // namespace maskd::bench
