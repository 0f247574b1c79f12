// One Decode stream's rows: takes a step, gives its masks. Knows no gRPC and no wire messages.
//
//   StreamSession session(&tokenizer, &grammars, limits, forms, &metrics);
//   absl::StatusOr<const StepResult*> result = session.Step(request, is_cancelled);
//
// Rows     stream_row.h says what they are, row_answers.h what they are answered.
// Errors   a row's: a field of its result. The stream's: Step()'s status, after which the stream is
//          over: INVALID_ARGUMENT (step 0), ABORTED (a step out of order), CANCELLED.
// Repeat   the last step again gives the last result again; nothing is applied twice.
// Threads  one thread at a time. Nothing is shared with other streams but grammars. Between two
//          steps the thread of IdleRows may have the rows rest; a step that comes then waits.
#ifndef MASKD_SERVICE_STREAMS_STREAM_SESSION_H_
#define MASKD_SERVICE_STREAMS_STREAM_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cache/work_pool.h"
#include "metrics/registry.h"
#include "service/callers/caller.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/idle_rows.h"
#include "service/grammars/tokenizer_store.h"
#include "service/sequences/places_ahead.h"
#include "service/sequences/row_answers.h"
#include "service/sequences/row_counts.h"
#include "service/sequences/sequence.h"
#include "service/sequences/shared_closing.h"
#include "service/sequences/stream_row.h"
#include "service/sequences/stream_types.h"
#include "service/streams/rows_to_rest.h"
#include "service/streams/session_turns.h"
#include "service/streams/step_turn.h"
#include "service/streams/stream_figures.h"
#include "service/streams/stream_registry.h"

namespace maskd::service {

// The rows of one stream.
class StreamSession {
 public:
  static constexpr Clock::TimePoint kNoEnd = Clock::TimePoint::max();

  // Nothing is owned; `metrics` may be null. `forms` are those the client understands. The time is
  // that of the store's clock.
  // Rows and compiles are the caller's.
  StreamSession(const LoadedTokenizer* tokenizer, GrammarStore* grammars, StreamLimits limits,
                const FormTerms& forms, metrics::Metrics* metrics, Caller caller = {});
  ~StreamSession();
  StreamSession(const StreamSession&) = delete;
  StreamSession& operator=(const StreamSession&) = delete;

  // Has `figures` say after each step where the rows stand; null: nobody. Not owned.
  void ReportTo(StreamFigures* figures) { figures_ = figures; }
  // Has threads of `mask_makers` make masks of a step's rows beside the step's own thread, where
  // many rows are left and one lacks its mask; null: nobody. `streams`, which may be null, says
  // whether there are others to leave a core to. Neither is owned.
  void HelpedBy(cache::WorkPool* mask_makers, const StreamRegistry* streams) {
    mask_makers_ = mask_makers;
    streams_ = streams;
  }

  // `is_cancelled` is asked while the step waits for compiles, between two rows, and every few
  // tokens of a row. Once it says so it must go on doing so. The result lives until the next call.
  absl::StatusOr<const StepResult*> Step(const StepRequest& request,
                                         const std::function<bool()>& is_cancelled);

  // Step() in two halves: the first never waits, and waits() says whether the second will. Soon
  // after `end` the first has put the rest off, and put_off() says so.
  absl::Status Begin(const StepRequest& request, Clock::TimePoint end = kNoEnd);
  [[nodiscard]] bool waits() const { return waits_; }
  [[nodiscard]] bool put_off() const { return put_off_; }
  // Between the two, unless it waits() or is put off: answers rows until `end`, or to the first
  // that has a mask to be made where `new_masks` forbids it: that may take milliseconds. Whether
  // these were all.
  bool AnswerSome(const StepRequest& request, NewMasks new_masks, Clock::TimePoint end = kNoEnd);
  absl::StatusOr<const StepResult*> Finish(const StepRequest& request,
                                           const std::function<bool()>& is_cancelled);

  // Has masks made behind the rows' places, for the next step: to be called once the answer is on
  // its way. They are made in the background, until the next step.
  void LookAhead();

  // Rows that are open, failed ones among them.
  [[nodiscard]] int row_count() const { return static_cast<int>(rows_.size()); }

 private:
  absl::Status CheckNumber(std::uint64_t step) const;
  // Goes on with the step where the last turn ended. Whether all of it is done.
  bool Apply(const StepRequest& request, StepTurn& turn);
  [[nodiscard]] bool WaitsFor(const StepRequest& request) const;
  absl::Status Wait(const StepRequest& request, const std::function<bool()>& is_cancelled);
  // False where the turn is over before.
  bool BeginAnswers(const StepRequest& request, StepTurn& turn);
  // False where `new_masks` does not let it go on, or the turn is over.
  bool AnswerRows(NewMasks new_masks, StepTurn& turn);
  // Those of the rows that have no answer yet, by several threads; until the turn is over.
  void MakeMasks(StepTurn& turn);
  // False where the turn is over before.
  bool EndAnswers(const StepRequest& request, StepTurn& turn);
  bool TakeSnapshots(const StepRequest& request, StepTurn& turn);
  [[nodiscard]] std::int64_t UnitsOfSnapshot(RowId id) const;
  [[nodiscard]] std::int64_t UnitsOfSnapshots(const StepRequest& request) const;

  void Close(RowId id);
  void Fork(const RowToFork& fork);
  void Open(const RowToOpen& open);
  absl::StatusOr<StreamRow> MakeRow(const RowToOpen& open);
  absl::StatusOr<StreamRow> Compile(const RowToOpen& open,
                                    std::shared_ptr<const ReasoningGate> gate);
  void Move(const RowToMove& move);
  void MoveCompiling(const RowToMove& move, CompilingRow* compiling, StreamRow* row);
  absl::Status TakeTokens(const std::vector<TokenId>& tokens, Sequence* sequence, StreamRow* row);
  // Turns rows whose compile has ended into rows in use or failed ones; false where the turn is
  // over before.
  bool SettleAll(StepTurn& turn);
  // The same before anything of the step is applied, once.
  bool Settled(StepTurn& turn);
  void SettleRow(RowId id);
  // The row, if its compile has ended and it is not settled yet; else null.
  CompilingRow* CompiledRow(RowId id);
  void Settle(CompilingRow compiling, StreamRow* row);
  bool AnswerRow(NewMasks new_masks, RowId id);
  // Keeps a row, in the state that it has.
  void Add(RowId id, StreamRow row);
  void Snapshot(RowId id);
  void Refuse(RowId id, absl::Status error);
  // Room for one more row.
  [[nodiscard]] absl::StatusOr<Tenant::Lease> TakeRoom() const;
  [[nodiscard]] bool IsCompiling(RowId id) const;
  // See IdleRows; on its thread.
  void RestIfIdle();
  void ListForRest(std::int64_t renewals);
  void RestRow(RowId id);

  const LoadedTokenizer* const tokenizer_;
  GrammarStore* const grammars_;
  const StreamLimits limits_;
  metrics::Metrics* const metrics_;
  const Caller caller_;
  OpenRows open_rows_;

  const FormTerms terms_;
  PlacesAhead ahead_;
  RowAnswers answers_;
  absl::node_hash_map<RowId, StreamRow> rows_;  // a row is large: no slot stands empty
  RowTally tally_ = {};                         // of those, by their `state`
  std::int64_t tokens_ = 0;                     // that rows have ever taken
  StreamFigures* figures_ = nullptr;
  cache::WorkPool* mask_makers_ = nullptr;
  const StreamRegistry* streams_ = nullptr;
  std::vector<RowId> compiling_;     // and rows that were until a moment ago
  std::vector<RowId> named_;         // by this step, and compiled, in the order of their answers
  std::size_t answered_ = 0;         // so many of those
  std::vector<RowResult> refusals_;  // of this step
  std::int64_t refusal_bytes_ = 0;   // of their messages
  SharedClosing closing_;
  AnswerPlans answer_plans_;
  StepResult result_;      // of the last step
  bool repeated_ = false;  // the step is the last one again
  bool waits_ = false;
  bool put_off_ = false;
  bool settled_ = false;      // the step may be applied
  bool is_given_up_ = false;  // within a row's tokens
  struct Applied {
    std::size_t closes = 0, forks = 0, opens = 0, moves = 0;
  };
  Applied applied_;                                      // so many of the step's
  const std::function<bool()>* is_cancelled_ = nullptr;  // while Finish() runs
  bool answering_ = false;                               // answers of the step have begun
  SessionTurns turns_;
  std::atomic<bool> rest_is_owed_ = false;      // the last one met a step
  RowsToRest to_rest_;                          // rows that it has left
  std::int64_t listed_renewals_ = 0;            // as of when those were listed
  std::optional<IdleRows::Registration> idle_;  // its function uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_STREAM_SESSION_H_
