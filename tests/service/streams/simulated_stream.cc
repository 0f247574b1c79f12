#include "tests/service/streams/simulated_stream.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "tests/service/streams/simulated_compiler.h"

namespace maskd::service {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr TokenId kEnd = 256;  // of the embedded vocabulary
// How long after its stream was cancelled a step may wait on.
constexpr milliseconds kCancelSlack{5};

bool Never() { return false; }

// Whether a fork to `child` is refused because its parent is not in use.
bool IsNotReady(const StepResult& said, RowId child) {
  return std::ranges::any_of(said.rows, [child](const RowResult& answer) {
    return answer.row == child && answer.state == RowState::kRefused &&
           absl::IsFailedPrecondition(answer.error);
  });
}

}  // namespace

void SimulatedStream::Connect() {
  const FormTerms terms{true, !Chance(3), !Chance(3), !Chance(3),
                        static_cast<int>(2 + world_->random() % 4)};
  StreamLimits limits;
  if (world_->fault == Fault::kWaitUnbounded) limits.max_wait_ms *= 10;
  session_.reset();
  session_ =
      std::make_unique<StreamSession>(world_->tokenizer, world_->grammars, limits, terms, nullptr);
  place_.reset();
  place_.emplace(*world_->registry->Add("", [this](StreamRegistry::Notice notice) {
    told_to_go_ += notice == StreamRegistry::Notice::kGoAway ? 1 : 0;
  }));
  place_->TakePlace().IgnoreError();  // there is room for all
  reader_ = std::make_unique<FormReader>(terms.dictionary_size);
  filled_.clear();
  errors_.clear();
  stepped_ = false;
  step_ = world_->random() % 100;
}

std::string SimulatedStream::Reconnect() {
  Connect();
  StepRequest request;
  request.step = ++step_;
  std::map<RowId, Row> before = std::exchange(rows_, {});
  for (auto& [id, row] : before) {
    if (row.phase == Phase::kFailed) continue;
    row.by_id = row.phase == Phase::kUsed && Chance(4);
    request.opens.push_back(OpenOf(id, row));
  }
  return Execute(request);
}

std::string SimulatedStream::SkipStep() {
  if (!stepped_) return RunStep();  // any number may be the first
  StepRequest request;
  request.step = step_ + 2;
  if (world_->fault == Fault::kGapAccepted) --request.step;
  if (session_->Step(request, &Never).status().code() != absl::StatusCode::kAborted)
    return "a step is skipped";
  return Reconnect();
}

std::string SimulatedStream::CheckRowCount() const {
  return session_->row_count() == static_cast<int>(rows_.size()) ? "" : "the number of rows";
}

TokenId SimulatedStream::AnyToken() {
  static constexpr TokenId kTokens[] = {'a', 'b', 'c', 'a', 'b', kEnd, -1, 300};
  return kTokens[world_->random() % std::size(kTokens)];
}

RowToOpen SimulatedStream::OpenOf(RowId id, const Row& row) const {
  const SimulatedSource& source = (*world_->sources)[row.source];
  RowToOpen open;
  open.row = id;
  open.target.id = source.id;
  if (!row.by_id) open.target.source = source.source;
  open.tokens = row.model.tokens;
  open.options.gate = row.model.gate;
  return open;
}

StepRequest SimulatedStream::MakeStep() {
  StepRequest request;
  request.step = ++step_;
  if (Chance(3)) request.wait_ms = static_cast<std::int64_t>(1 + world_->random() % 50);
  if (Chance(30)) request.wait_ms = 20'000;
  if (Chance(8)) request.closes.push_back(AnyRow());
  if (Chance(6)) request.forks.push_back({AnyRow(), AnyRow()});
  while (Chance(2)) request.opens.push_back(MakeOpen());
  std::set<RowId> moved;
  while (!Chance(4)) {
    RowToMove move = MakeMove();
    if (moved.insert(move.row).second) request.moves.push_back(std::move(move));
  }
  return request;
}

RowToOpen SimulatedStream::MakeOpen() {
  Row row;
  row.source = world_->random() % world_->sources->size();
  row.by_id = Chance(3);
  while (Chance(3)) row.model.tokens.push_back(AnyToken());
  if (Chance(3)) row.model.gate = GateRequest{.end_tokens = {'c', 'c'}};
  if (row.model.gate.has_value() && Chance(2)) row.model.gate->end_tokens = {'a', 'b', 'a'};
  return OpenOf(AnyRow(), row);
}

RowToMove SimulatedStream::MakeMove() {
  RowToMove move;
  move.row = AnyRow();
  if (Chance(3)) move.rollback = static_cast<int>(world_->random() % 4);
  while (!Chance(3)) move.tokens.push_back(AnyToken());
  move.has_drafts = Chance(2);
  while (move.has_drafts && !Chance(4)) {
    const auto parents = static_cast<std::uint64_t>(move.drafts.size() + 1);
    move.draft_parents.push_back(static_cast<int>(world_->random() % parents) - 1);
    move.drafts.push_back(AnyToken());
  }
  return move;
}

StepRequest SimulatedStream::Faulty(StepRequest request) {
  const Fault fault = world_->fault;
  const std::vector<SimulatedSource>& sources = *world_->sources;
  if (fault == Fault::kCloseLost) request.closes.clear();
  if (fault == Fault::kWaitCutShort) request.wait_ms /= 2;
  for (const RowToFork& fork : request.forks) {
    if (fault != Fault::kForkTakesParent || !rows_.contains(fork.parent)) continue;
    for (RowToMove& move : request.moves)
      if (move.row == fork.child) move.row = fork.parent;
  }
  for (RowToMove& move : request.moves) {
    if (fault == Fault::kTokenLost && !move.tokens.empty()) move.tokens.pop_back();
    if (fault == Fault::kRollbackShort && move.rollback > 0) --move.rollback;
    if (fault == Fault::kDraftsTaken)
      move.tokens.insert(move.tokens.end(), move.drafts.begin(), move.drafts.end());
    if (fault == Fault::kRefusalIgnored && move.tokens.size() > 1)
      std::erase_if(move.tokens, [](TokenId token) { return token < 0; });
  }
  for (RowToOpen& open : request.opens) {
    const auto source = std::ranges::find(sources, open.target.id, &SimulatedSource::id);
    if (fault == Fault::kErrorLost && source->model == nullptr && open.target.source.has_value())
      open.target.source = sources[0].source;
    if (fault == Fault::kOtherGrammar && !open.target.source.has_value())
      open.target.id = sources[open.target.id == sources[0].id ? 1 : 0].id;
  }
  const bool moving = fault == Fault::kRowsMixedOnMove && rows_.empty();
  if (moving && request.opens.size() > 1)
    std::swap(request.opens[0].tokens, request.opens[1].tokens);
  return request;
}

void SimulatedStream::FaultyAnswers(StepResult* said) {
  if (world_->fault == Fault::kMaskOfAnotherRow && said->rows.size() > 1)
    std::swap(said->rows[0].positions, said->rows[1].positions);
  if (world_->fault == Fault::kWakeUpLost) {
    std::erase_if(said->rows, [this](const RowResult& answer) {
      const auto row = rows_.find(answer.row);
      return row != rows_.end() && row->second.phase == Phase::kCompiling &&
             answer.state == RowState::kActive;
    });
  }
  for (RowResult& answer : said->rows) {
    if (world_->fault != Fault::kErrorTwice || answer.state != RowState::kFailed) continue;
    const auto error = errors_.try_emplace(answer.row, answer.error).first;
    answer.error = error->second;
  }
}

std::string SimulatedStream::RunStep() { return Execute(MakeStep()); }

std::string SimulatedStream::Execute(StepRequest request) {
  stepped_ = true;
  if (world_->waiting != nullptr || world_->draining) request.wait_ms = 0;
  const StepRequest given = Faulty(request);
  const auto result = Give(given);
  if (std::string late = CheckCancelled(); !late.empty()) return late;
  if (cancelled_.has_value() && absl::IsCancelled(result.status())) return Reconnect();
  if (!result.ok()) return result.status().ToString();
  if (std::string wrong = CheckTime(request, **result); !wrong.empty()) return wrong;
  StepResult said = **result;
  if (world_->fault == Fault::kStepTwice) {
    StepRequest again = given;
    again.step = ++step_;
    again.opens.clear();
    again.closes.clear();
    again.forks.clear();
    again.wait_ms = 0;
    said = **session_->Step(again, &Never);
  } else if (Chance(5)) {
    const auto repeated = session_->Step(given, &Never);
    if (*repeated != *result) return "a repeated step is another answer";
  }
  FaultyAnswers(&said);
  return Check(request, said);
}

absl::StatusOr<const StepResult*> SimulatedStream::Give(const StepRequest& request) {
  idle_ = world_->compiles->IsIdle();
  begin_ = world_->time->Now();
  cancelled_.reset();
  if (request.wait_ms == 0) return GiveAtOnce(request);
  if (Chance(6)) {
    const auto limit = static_cast<std::uint64_t>(1000 * request.wait_ms);
    world_->time->After(microseconds(world_->random() % limit), [this, step = request.step] {
      if (world_->waiting == this && step_ == step) cancelled_ = world_->time->Now();
    });
  }
  world_->waiting = this;
  auto result = session_->Step(
      request, [this] { return cancelled_.has_value() && world_->fault != Fault::kCancelUnheard; });
  world_->waiting = nullptr;
  return result;
}

// Every other step in two parts, as one that another thread goes on with, wherever that begins.
absl::StatusOr<const StepResult*> SimulatedStream::GiveAtOnce(const StepRequest& request) {
  constexpr Clock::TimePoint kSoon = Clock::TimePoint::min();
  if (request.step % 2 == 0) return session_->Step(request, &Never);
  absl::Status begun = session_->Begin(request, Chance(3) ? kSoon : StreamSession::kNoEnd);
  if (!begun.ok()) return begun;
  if (!session_->put_off()) {
    session_->AnswerSome(request, Chance(2) ? NewMasks::kMade : NewMasks::kRefused,
                         Chance(2) ? kSoon : StreamSession::kNoEnd);
  }
  return session_->Finish(request, &Never);
}

std::string SimulatedStream::CheckTime(const StepRequest& request, const StepResult& said) const {
  const Clock::TimePoint now = world_->time->Now();
  const Clock::Duration taken = now - begin_;
  const milliseconds most(std::min(request.wait_ms, StreamLimits().max_wait_ms));
  if (taken > most) return "a step waits too long";
  if (std::chrono::duration<double>(taken).count() != said.waited_seconds)
    return "how long a step says that it waited";
  const bool compiling = std::ranges::any_of(
      said.rows, [](const RowResult& row) { return row.state == RowState::kCompiling; });
  if (compiling) return taken == most ? "" : "a step does not wait as long as it may";
  const bool woken = taken == Clock::Duration::zero() || world_->compiles->last_end() == now;
  return woken ? "" : "a step waits on when its compiles have ended";
}

std::string SimulatedStream::CheckCancelled() const {
  if (!cancelled_.has_value()) return "";
  const Clock::Duration late = world_->time->Now() - *cancelled_;
  return late <= kCancelSlack ? "" : "a cancelled step waits on";
}

std::string SimulatedStream::Check(const StepRequest& request, const StepResult& said) {
  for (const RowId id : request.closes) rows_.erase(id);
  ApplyForks(request, said);
  std::set<RowId> named;
  ApplyOpens(request, &named);
  Moves moves;
  for (const RowToMove& move : request.moves) {
    if (!rows_.contains(move.row)) continue;
    moves[move.row] = &move;
    named.insert(move.row);
  }
  std::string wrong = CompareAll(said, moves, std::move(named));
  if (wrong.empty()) wrong = CheckNoneOverslept();
  for (auto& [id, row] : rows_) row.opened_now = false;
  return wrong;
}

// A parent that is in use since this step alone says so itself.
void SimulatedStream::ApplyForks(const StepRequest& request, const StepResult& said) {
  for (const RowToFork& fork : request.forks) {
    const auto parent = rows_.find(fork.parent);
    if (parent == rows_.end() || rows_.contains(fork.child)) continue;
    if (parent->second.phase == Phase::kFailed) continue;
    if (parent->second.phase == Phase::kCompiling && IsNotReady(said, fork.child)) continue;
    Row child = parent->second;
    if (child.phase == Phase::kCompiling) TakeOpening(&child.model);
    child.phase = Phase::kUsed;
    rows_.emplace(fork.child, std::move(child));
  }
}

void SimulatedStream::ApplyOpens(const StepRequest& request, std::set<RowId>* named) {
  const std::vector<SimulatedSource>& sources = *world_->sources;
  for (const RowToOpen& open : request.opens) {
    if (rows_.contains(open.row)) continue;
    const auto source = std::ranges::find(sources, open.target.id, &SimulatedSource::id);
    Row row;
    row.model = {source->model, open.options.gate, open.tokens};
    row.source = static_cast<std::size_t>(source - sources.begin());
    row.by_id = !open.target.source.has_value();
    row.opened = begin_;
    rows_.emplace(open.row, std::move(row));
    named->insert(open.row);
  }
}

std::string SimulatedStream::CompareAll(const StepResult& said, const Moves& moves,
                                        std::set<RowId> named) {
  for (const RowResult& answer : said.rows) {
    if (answer.state == RowState::kRefused) continue;
    const auto row = rows_.find(answer.row);
    const bool asked = named.erase(answer.row) > 0;
    if (row == rows_.end()) return absl::StrCat("row ", answer.row, " is answered, there is none");
    if (!asked && row->second.phase != Phase::kCompiling)
      return absl::StrCat("row ", answer.row, " is answered unasked");
    const auto move = moves.find(answer.row);
    const std::string wrong =
        Compare(answer, move == moves.end() ? nullptr : move->second, &row->second);
    if (!wrong.empty()) return absl::StrCat("row ", answer.row, ": ", wrong);
  }
  return named.empty() ? "" : absl::StrCat("row ", *named.begin(), " is not answered");
}

std::string SimulatedStream::Compare(const RowResult& answer, const RowToMove* move, Row* row) {
  const bool moves = move != nullptr && (move->rollback > 0 || !move->tokens.empty());
  if (row->phase == Phase::kFailed) {
    if (answer.state != RowState::kFailed) return "a failed row is in use";
    return answer.error.ok() ? "" : "its error is said again";
  }
  if (row->phase == Phase::kUsed) return CompareUsed(answer, move, row);
  if (answer.state == RowState::kCompiling) {
    if (Overslept(*row)) return "compiles, though no compile is left";
    return answer.error.ok() == !moves ? "" : "what a compiling row says to tokens";
  }
  if (absl::StrContains(answer.error.message(), "the deadline passed")) {
    row->phase = Phase::kFailed;
    const std::string& id = (*world_->sources)[row->source].id;
    if (!world_->compiles->WasCutOffSince(id, row->opened)) return "no compile took too long";
    return answer.state == RowState::kFailed ? "" : "a row whose compile took too long is in use";
  }
  const bool not_found = row->by_id && absl::IsNotFound(answer.error);
  if (not_found || row->model.grammar == nullptr) {
    row->phase = Phase::kFailed;
    if (answer.state != RowState::kFailed) return "a row without a grammar is in use";
    return answer.error.ok() ? "it does not say why it failed" : "";
  }
  row->phase = Phase::kUsed;
  if (!TakeOpening(&row->model)) {
    if (answer.error.ok()) return "it does not say which token it was not to be opened with";
    return CheckAnswer(row->model, nullptr, false, answer, ReadMasks(answer));
  }
  if (moves && absl::IsFailedPrecondition(answer.error))  // it compiled when they came
    return CheckAnswer(row->model, nullptr, false, answer, ReadMasks(answer));
  return CompareUsed(answer, move, row);
}

std::string SimulatedStream::CompareUsed(const RowResult& answer, const RowToMove* move, Row* row) {
  const std::vector<TokenMask> read = ReadMasks(answer);
  bool moved = move != nullptr;
  if (moved) {
    const bool back = move->rollback <= static_cast<int>(row->model.tokens.size());
    moved = !ApplyMove(*move, &row->model).has_value() && back;
  }
  if (answer.error.ok() != (moved || move == nullptr)) return "whether there was an error";
  return CheckAnswer(row->model, move, moved, answer, read);
}

bool SimulatedStream::Overslept(const Row& row) const {
  return idle_ && row.phase == Phase::kCompiling && !row.opened_now;
}

std::string SimulatedStream::CheckNoneOverslept() const {
  for (const auto& [id, row] : rows_)
    if (Overslept(row)) return absl::StrCat("row ", id, " waits for nothing");
  return "";
}

std::vector<TokenMask> SimulatedStream::ReadMasks(const RowResult& row) {
  std::vector<TokenMask> masks;
  for (const Position& position : row.positions) {
    masks.emplace_back(world_->tokenizer->vocabulary().size());
    if (position.state != Position::State::kMasked) continue;
    MaskForm form = position.form;
    const bool loses = world_->fault == Fault::kSlotNotFilled;
    if (loses && form.put.has_value() && filled_[*form.put]++ > 0) form.put.reset();
    masks.back() = reader_->Read(form, *position.mask);
  }
  return masks;
}

}  // namespace maskd::service
