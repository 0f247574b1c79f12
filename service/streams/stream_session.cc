// A step is applied, waited for and answered. Each part can stop after any row and go on later, on
// another thread: the loops keep their place in members (applied_, answered_). Every row that is
// named is in named_ before anything is answered.
//
//   Begin        closes, forks, opens, moves; what may fail fails row by row, as an error of the
//                row's answer
//   AnswerSome   the answers of rows whose masks are known, until the turn is over
//   Finish       waits for compiles if the step wants that, then the rest; never put off
//   LookAhead    between two steps
//
// Invariant  a step is applied once, whoever asks how often: its number is compared, and a repeated
//            one is answered by the last result. Rows settle before the first answer and never
//            between two looks at one row.
// May block  Wait() alone, in slices, so that a stream that was cancelled is left.
// Cost       for each row that is named; rows that are not named cost nothing.
#include "service/streams/stream_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "cache/shared_loop.h"
#include "cpu/thread_priority.h"
#include "grammar_core/base/error.h"
#include "service/base/errors.h"
#include "service/sequences/row_errors.h"

namespace maskd::service {
namespace {

using std::chrono::milliseconds;

// How often a waiting step looks whether its stream was cancelled.
constexpr milliseconds kWaitSlice{5};
// Rows behind one that lacks its mask, from which on several threads make theirs: it takes two
// wake-ups, and a mask as long as one.
constexpr std::size_t kManyRows = 8;
// An item of more takes about as long as a turn, or longer: a row with as many tokens.
constexpr std::int64_t kUnitsInATurn = 256;
// Masks that a row with drafts asks for, about.
constexpr std::int64_t kUnitsARow = 4;
// Tokens of one row between two looks whether the step is still wanted: some 10 us.
constexpr std::size_t kTokensALook = 64;
// Rows whose answers' memory is kept from step to step, whatever the next one names.
constexpr std::size_t kKeptAnswers = 256;

std::int64_t& At(RowTally& tally, RowState state) { return tally[static_cast<std::size_t>(state)]; }

}  // namespace

StreamSession::StreamSession(const LoadedTokenizer* tokenizer, GrammarStore* grammars,
                             StreamLimits limits, const FormTerms& forms, metrics::Metrics* metrics,
                             Caller caller)
    : tokenizer_(tokenizer),
      grammars_(grammars),
      limits_(limits),
      metrics_(metrics),
      caller_(std::move(caller)),
      open_rows_(metrics),
      terms_(forms),
      ahead_(&grammars->warm_up()),
      answers_(forms, tokenizer->vocabulary().size(), limits.max_reply_bytes, &ahead_),
      idle_(std::in_place, &grammars->idle_rows(), [this] { RestIfIdle(); }) {}

StreamSession::~StreamSession() {
  idle_.reset();  // nobody else looks at the rows any more
  rows_.clear();
}

absl::StatusOr<const StepResult*> StreamSession::Step(const StepRequest& request,
                                                      const std::function<bool()>& is_cancelled) {
  absl::Status begun = Begin(request);
  return begun.ok() ? Finish(request, is_cancelled) : begun;
}

// On the thread that serves the stream; on a step thread where the step brings a grammar's text.
// After an error the rows are as before: the number is checked before anything is touched.
absl::Status StreamSession::Begin(const StepRequest& request, Clock::TimePoint end) {
  waits_ = false;
  put_off_ = false;
  answering_ = false;
  // A client that lost the reply sends the step again: it gets the same one, and no token twice.
  repeated_ = request.step != 0 && request.step == result_.step;
  if (repeated_) return absl::OkStatus();
  if (absl::Status checked = CheckNumber(request.step); !checked.ok()) return checked;
  // From here on the rows are the step's; a rest that has them is waited for.
  turns_.BeginStep();
  ahead_.BeginStep();
  result_.step = request.step;
  result_.snapshots.clear();
  result_.waited_seconds = 0;
  settled_ = false;
  is_given_up_ = false;
  applied_ = {};
  refusals_.clear();
  refusal_bytes_ = 0;
  named_.clear();
  StepTurn turn = StepTurn::Until(&grammars_->clock(), end);
  put_off_ = !Settled(turn) || !Apply(request, turn);
  waits_ = !put_off_ && WaitsFor(request);
  return absl::OkStatus();
}

// Only rows that this step names hold it up. A row that compiles since an earlier step is told by a
// later reply.
bool StreamSession::WaitsFor(const StepRequest& request) const {
  return request.wait_ms > 0 && !compiling_.empty() &&
         std::ranges::any_of(named_, [this](RowId id) { return IsCompiling(id); });
}

// On the stream's thread, so it ends with its turn or at the first mask that may not be made there.
// What has been answered stays: Finish() goes on behind it, on a helper's thread where anything is
// left.
bool StreamSession::AnswerSome(const StepRequest& request, NewMasks new_masks,
                               Clock::TimePoint end) {
  if (repeated_) return true;
  StepTurn turn = StepTurn::Until(&grammars_->clock(), end);
  put_off_ = !BeginAnswers(request, turn);
  if (put_off_) return false;
  const bool are_all = AnswerRows(new_masks, turn);
  // Many snapshots are a helper's, too; they are taken behind the answers.
  const bool copies_many = turn.is_timed() && UnitsOfSnapshots(request) > kUnitsInATurn;
  put_off_ = turn.IsOver() || copies_many;
  return are_all && !copies_many;
}

// The one part that may take long. When it is given up because the stream was cancelled, rows may
// have taken their tokens and not been answered: nobody is there to hear it.
absl::StatusOr<const StepResult*> StreamSession::Finish(const StepRequest& request,
                                                        const std::function<bool()>& is_cancelled) {
  if (repeated_) return &result_;
  // Not bounded by time any more: this is not the streams' thread, or nobody else is on it.
  StepTurn turn = StepTurn::WhileWanted(&is_cancelled);
  is_cancelled_ = &is_cancelled;
  const absl::Cleanup over = [this] { is_cancelled_ = nullptr; };
  if (!Settled(turn) || !Apply(request, turn))
    return absl::CancelledError("the stream was cancelled");
  waits_ = !answering_ && WaitsFor(request);
  if (absl::Status waited = Wait(request, is_cancelled); !waited.ok()) return waited;
  const auto answer = [&] {
    return (answering_ || BeginAnswers(request, turn)) && AnswerRows(NewMasks::kMade, turn);
  };
  if (!answer() || is_given_up_ || !EndAnswers(request, turn))
    return absl::CancelledError("the stream was cancelled");
  turns_.EndStep();
  open_rows_.Set(row_count());
  if (figures_ != nullptr) figures_->SetRows(tally_, tokens_);
  if (metrics_ != nullptr) CountAnswers(result_, metrics_);
  return &result_;
}

// A gap would mean that a step was lost, and its tokens with it: every mask from there on would be
// wrong. So the stream ends, and the client opens its rows anew.
absl::Status StreamSession::CheckNumber(std::uint64_t step) const {
  if (step == 0) return BadField("step.step", "steps are numbered from 1");
  if (result_.step != 0 && step != result_.step + 1) {
    return ErrorAt(absl::StatusCode::kAborted, "step.step", "STEP_OUT_OF_ORDER",
                   absl::StrCat("step ", step, " came after step ", result_.step));
  }
  return absl::OkStatus();
}

// The order of work is the protocol's: close, fork, open, rows. So an id that is closed may be
// opened again in the same step, and a fork has what the parent had before this step's tokens. An
// item that was begun is finished before the turn is looked at, so a long one is not begun in it.
bool StreamSession::Apply(const StepRequest& request, StepTurn& turn) {
  const auto each = [&](const auto& items, std::size_t& done, const auto& units, const auto& act) {
    while (done < items.size() && !turn.IsOver()) {
      const auto& item = items[done];
      if (turn.is_timed() && units(item) > kUnitsInATurn) return false;
      ++done;
      act(item);
      turn.Spend(units(item));
    }
    return done == items.size();
  };
  const auto one = [](const auto&) { return 1; };
  const auto tokens = [](const auto& row) { return 1 + std::ssize(row.tokens); };
  if (!each(request.closes, applied_.closes, one, [this](RowId id) { Close(id); }) ||
      !each(request.forks, applied_.forks, one, [this](const auto& fork) { Fork(fork); }) ||
      !each(request.opens, applied_.opens, tokens, [this](const auto& open) { Open(open); })) {
    return false;
  }
  return each(request.moves, applied_.moves, tokens, [this](const auto& move) { Move(move); });
}

// Waits for one row after the other, which takes as long as the slowest of them. That the time is
// over is no error: the rows are answered as compiling.
absl::Status StreamSession::Wait(const StepRequest& request,
                                 const std::function<bool()>& is_cancelled) {
  if (!waits_) return absl::OkStatus();
  Clock& clock = grammars_->clock();
  const Clock::TimePoint begin = clock.Now();
  const Clock::TimePoint end = begin + milliseconds(std::min(request.wait_ms, limits_.max_wait_ms));
  for (const RowId id : named_) {
    while (IsCompiling(id) && clock.Now() < end) {
      if (is_cancelled()) return absl::CancelledError("the stream was cancelled");
      const auto& ticket = std::get<CompilingRow>(rows_.at(id).what).request.ticket;
      ticket.WaitUntil(std::min(end, clock.Now() + kWaitSlice));
      SettleRow(id);
    }
  }
  result_.waited_seconds = std::chrono::duration<double>(clock.Now() - begin).count();
  return absl::OkStatus();
}

// Rows whose compile has ended since an earlier step are answered here though nobody named them:
// the client was promised a reply that says so.
bool StreamSession::BeginAnswers(const StepRequest& request, StepTurn& turn) {
  // Before the first answer: a row is not to change between two looks at it.
  if (!SettleAll(turn)) return false;
  answering_ = true;
  answered_ = 0;
  const std::vector<RowId> waiting = std::exchange(compiling_, {});
  for (const RowId id : waiting) (IsCompiling(id) ? compiling_ : named_).push_back(id);
  answers_.BeginReply(named_.size() + refusals_.size() + request.snapshots.size(), refusal_bytes_);
  result_.rows.clear();  // not before: a narrowed mask of the last step has been asked for tokens
  const std::size_t answers = named_.size() + refusals_.size();
  // Many rows may be opened by one step, and few named by those after it. `= {}` would keep
  // the memory.
  if (result_.rows.capacity() > kKeptAnswers + 4 * answers) result_.rows = std::vector<RowResult>();
  result_.rows.reserve(answers);
  return true;
}

bool StreamSession::AnswerRows(NewMasks new_masks, StepTurn& turn) {
  const bool may_share = new_masks == NewMasks::kMade && mask_makers_ != nullptr;
  NewMasks masks = may_share ? NewMasks::kNarrowed : new_masks;
  for (; answered_ < named_.size(); ++answered_) {
    if (named_.size() - answered_ < kManyRows) masks = new_masks;
    if (turn.IsOver()) return false;
    if (!AnswerRow(masks, named_[answered_])) {
      if (!may_share) return false;
      MakeMasks(turn);
      masks = new_masks;
      (void)AnswerRow(masks, named_[answered_]);
    }
    turn.Spend(result_.rows.empty() ? 1 : std::ssize(result_.rows.back().positions) + 1);
  }
  return true;
}

// A row's masks are those of its grammar and place, whoever makes them: the answers, which are
// written in their order behind this, find them made. What bounds of the row take away is its
// stream's business (SharedClosing) and is done there. Each row once, as two threads may not have
// one: a row that was opened by this step is named by its opening and by its compile.
void StreamSession::MakeMasks(StepTurn& turn) {
  absl::flat_hash_set<RowId> seen;
  std::vector<StreamRow*> rows;
  for (std::size_t i = answered_; i < named_.size(); ++i) {
    if (!seen.insert(named_[i]).second) continue;
    const auto found = rows_.find(named_[i]);
    if (found != rows_.end() && found->second.answered_step != result_.step)
      rows.push_back(&found->second);
  }
  // A core for this thread, and one for whoever answers the others.
  const std::size_t spare = streams_ != nullptr && streams_->CountPlaced() > 1 ? 2 : 1;
  cache::RunShared(
      mask_makers_, spare, rows.size(), [&](std::size_t i) { answers_.MakeMasks(rows[i]); },
      [&turn] {
        turn.Spend(kUnitsARow);
        return turn.IsOver();
      });
}

// Refusals last, behind the answers of the rows: one id may have both.
bool StreamSession::EndAnswers(const StepRequest& request, StepTurn& turn) {
  if (!TakeSnapshots(request, turn)) return false;
  for (RowResult& refusal : refusals_) result_.rows.push_back(std::move(refusal));
  return true;
}

void StreamSession::Close(RowId id) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) {
    Refuse(id, RowNotFound(id));
    return;
  }
  if (found->second.grammar != nullptr)
    grammars_->Remeasure(found->second.grammar);  // it may have grown in use
  --At(tally_, found->second.state);
  to_rest_.Close(id);
  rows_.erase(found);
  std::erase(compiling_, id);
}

void StreamSession::Add(RowId id, StreamRow row) {
  ++At(tally_, row.state);
  rows_.emplace(id, std::move(row));
}

void StreamSession::Move(const RowToMove& move) {
  const auto found = rows_.find(move.row);
  if (found == rows_.end()) {
    Refuse(move.row, RowNotFound(move.row));
    return;
  }
  StreamRow& row = found->second;
  // Two moves of one row have no order that both sides would agree on.
  if (std::exchange(row.moved_step, result_.step) == result_.step) {
    Refuse(move.row, BadField("rows", absl::StrCat("row ", move.row, " is named twice")));
    return;
  }
  named_.push_back(move.row);
  if (!row.error.ok()) return;  // it does not stand where it was opened, which is still to be said
  if (!move.refusal.ok()) {
    row.error = move.refusal;
    return;
  }
  if (auto* compiling = std::get_if<CompilingRow>(&row.what); compiling != nullptr) {
    MoveCompiling(move, compiling, &row);
    return;
  }
  auto* sequence = std::get_if<Sequence>(&row.what);
  if (sequence == nullptr) return;
  if (absl::Status checked = CheckDrafts(move, limits_.max_draft_tokens); !checked.ok()) {
    row.error = std::move(checked);
    return;
  }
  if (absl::Status back = sequence->Rollback(move.rollback); !back.ok()) {
    row.error = ErrorAt(back.code(), "rollback", "ROLLBACK_OUT_OF_RANGE", back.message());
    return;
  }
  if (row.answer.has_value()) row.answer->Rollback(static_cast<std::size_t>(move.rollback));
  row.error = TakeTokens(move.tokens, sequence, &row);
  // What it asks for is answered from where it stands now; the request lives until the answer.
  row.asked = row.error.ok() ? &move : nullptr;
  if (move.remaining_tokens.has_value()) sequence->SetRemaining(*move.remaining_tokens);
}

// Its drafts are answered if it is compiled within this step.
void StreamSession::MoveCompiling(const RowToMove& move, CompilingRow* compiling, StreamRow* row) {
  if (move.rollback > 0 || !move.tokens.empty()) {
    row->error = NotReady(move.row, "still compiles, it has no token to take or take back");
    return;
  }
  row->error = CheckDrafts(move, limits_.max_draft_tokens);
  if (!row->error.ok()) return;
  row->asked = &move;
  if (move.remaining_tokens.has_value()) compiling->remaining_tokens = move.remaining_tokens;
}

// Stops at the first token that is refused. Those before it are taken, and the row goes on from
// there: the error says which one it was. A row may bring as many tokens as a whole text has, so it
// also stops where nobody wants the step any more: its answer is never given then.
absl::Status StreamSession::TakeTokens(const std::vector<TokenId>& tokens, Sequence* sequence,
                                       StreamRow* row) {
  const Vocabulary& vocabulary = tokenizer_->vocabulary();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (sequence->token_count() >= limits_.max_row_tokens) {
      return LimitExceeded(absl::StrCat("tokens[", i, "]"), "max_row_tokens",
                           limits_.max_row_tokens, sequence->token_count() + 1);
    }
    if (i > 0 && i % kTokensALook == 0 && is_cancelled_ != nullptr && (*is_cancelled_)()) {
      is_given_up_ = true;
      return absl::CancelledError("the stream was cancelled");
    }
    OfferCoreAfter(1);
    const bool is_text = !sequence->reasoning() && !sequence->finished();
    const absl::Status taken = sequence->Take(tokens[i]);
    if (taken.ok()) {
      ++tokens_;
      const auto role = !is_text               ? RowAnswer::Role::kNone
                        : sequence->finished() ? RowAnswer::Role::kEnd
                                               : RowAnswer::Role::kText;
      if (row->answer.has_value()) row->answer->Take(tokens[i], role);
      continue;
    }
    const bool known = tokens[i] >= 0 && tokens[i] < vocabulary.size();
    row->refused_token = RefusedToken{static_cast<int>(i), tokens[i],
                                      known ? std::string(vocabulary.TokenBytes(tokens[i])) : ""};
    return TokenError(taken, i);
  }
  return absl::OkStatus();
}

// Looks and never waits: a compile that still runs leaves the row as it is. A row may have been
// opened with a whole text, which it takes now: that is not begun in a turn. What is settled is
// passed over the next time.
bool StreamSession::SettleAll(StepTurn& turn) {
  return std::ranges::all_of(compiling_, [&](RowId id) {
    const CompilingRow* const row = CompiledRow(id);
    if (row == nullptr) return true;
    const std::int64_t units = 1 + std::ssize(row->tokens);
    if (turn.IsOver() || (turn.is_timed() && units > kUnitsInATurn)) return false;
    SettleRow(id);
    turn.Spend(units);
    return true;
  });
}

// Not again on the way through a step: what the step says of a row that compiles is refused, though
// the compile may have ended since.
bool StreamSession::Settled(StepTurn& turn) {
  settled_ = settled_ || SettleAll(turn);
  return settled_;
}

void StreamSession::SettleRow(RowId id) {
  if (CompilingRow* const row = CompiledRow(id); row != nullptr)
    Settle(std::move(*row), &rows_.at(id));
}

CompilingRow* StreamSession::CompiledRow(RowId id) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) return nullptr;
  auto* const row = std::get_if<CompilingRow>(&found->second.what);
  return row != nullptr && row->request.ticket.ready() ? row : nullptr;
}

void StreamSession::Settle(CompilingRow compiling, StreamRow* row) {
  cache::CompileResult grammar = compiling.request.ticket.result();
  if (!grammar.ok()) {
    row->what = FailedRow{};
    row->error = grammar.status();
    return;
  }
  // The ticket has the grammar: from here on the row holds it, whatever the cache does.
  row->grammar = *grammar;
  row->row_of = cache::RowOfGrammar(grammars_->live().UsageOf(*grammar));
  const std::optional<float> own = row->options->temperature;
  if (terms_.temperature) row->temperature = own.has_value() ? own : row->grammar->temperature();
  const bool observe = row->options->observe;
  if (row->options->want_answer || observe) {
    auto plan = answer_plans_.Of(*row->grammar, observe ? "observe" : "want_answer");
    if (!plan.ok()) {
      row->what = FailedRow{};
      row->error = plan.status();
      return;
    }
    row->answer.emplace(*std::move(plan),
                        observe ? AnswerReader::Rest::kContent : AnswerReader::Rest::kNothing);
  }
  Sequence sequence(row->grammar,
                    {row->options->stop_ids, std::move(compiling.gate), row->options->min_tokens,
                     closing_.Of(row->grammar.get(), row->options->stop_ids), observe});
  // An update that came too early keeps its error, unless there is a worse one to say.
  absl::Status taken = TakeTokens(compiling.tokens, &sequence, row);
  if (!taken.ok()) {
    row->error = std::move(taken);
    row->asked = nullptr;
  }
  if (compiling.remaining_tokens.has_value()) sequence.SetRemaining(*compiling.remaining_tokens);
  row->what = std::move(sequence);
}

bool StreamSession::AnswerRow(NewMasks new_masks, RowId id) {
  const auto found = rows_.find(id);
  if (found == rows_.end() || found->second.answered_step == result_.step)
    return true;  // closed meanwhile, or answered already
  RowResult& result = result_.rows.emplace_back();
  result.row = id;
  // A mask that may not be made here: the row has no answer yet and is asked again.
  if (!answers_.Write(new_masks, &found->second, &result)) {
    result_.rows.pop_back();
    return false;
  }
  found->second.answered_step = result_.step;
  --At(tally_, std::exchange(found->second.state, result.state));
  ++At(tally_, result.state);
  return true;
}

// A verb that changed nothing. The bytes of its message are taken from the reply's room before the
// rows are answered.
void StreamSession::Refuse(RowId id, absl::Status error) {
  RowResult refusal;
  refusal.row = id;
  refusal_bytes_ += static_cast<std::int64_t>(error.message().size());
  refusal.error = std::move(error);
  refusals_.push_back(std::move(refusal));
}

bool StreamSession::IsCompiling(RowId id) const {
  const auto found = rows_.find(id);
  return found != rows_.end() && std::holds_alternative<CompilingRow>(found->second.what);
}

}  // namespace maskd::service
