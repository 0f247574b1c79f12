// One stream of a simulation: a client that says and repeats anything, its session, and the model
// that each answer is compared with. Several share a store, whose compiles run when the simulation
// says so.
//
// Compiling  a row is what its answers say: compiling, until one says that it is in use or has
//          failed. A step that finds no compile waiting or running leaves none compiling but those
//          that it opens.
// Waiting  a step lasts until the compiles of its rows have ended, or as long as it may wait; a
//          cancelled one ends within a slice of its wait. Other streams go on meanwhile.
// Faults   planted between client, session and model, one at a time.
#ifndef MASKD_TESTS_SERVICE_STREAMS_SIMULATED_STREAM_H_
#define MASKD_TESTS_SERVICE_STREAMS_SIMULATED_STREAM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/streams/stream_registry.h"
#include "service/streams/stream_session.h"
#include "tests/service/sequences/form_reader.h"
#include "tests/service/streams/session_model.h"
#include "tests/service/streams/simulated_world.h"

namespace maskd::service {

class SimulatedStream {
 public:
  explicit SimulatedStream(SimulatedWorld* world) : world_(world) { Connect(); }

  // Each gives what is wrong; "" when nothing is.
  std::string RunStep();
  // The server is gone: the rows are opened on another one.
  std::string Reconnect();
  // A step out of order ends the stream, which then moves.
  std::string SkipStep();

  [[nodiscard]] std::string CheckRowCount() const;
  // How often the server has said that it stops.
  [[nodiscard]] int told_to_go() const { return told_to_go_; }
  // Gives its place back.
  void Leave() { place_.reset(); }

 private:
  enum class Phase : std::uint8_t { kCompiling, kUsed, kFailed };
  struct Row {
    ModelRow model;
    std::size_t source = 0;
    Phase phase = Phase::kCompiling;
    bool by_id = false;
    bool opened_now = true;  // by the step that is checked
    Clock::TimePoint opened;
  };
  using Moves = std::map<RowId, const RowToMove*>;

  void Connect();
  bool Chance(int one_in) { return world_->Chance(one_in); }
  TokenId AnyToken();
  RowId AnyRow() { return 1 + world_->random() % 5; }  // few ids, so that they meet

  RowToOpen OpenOf(RowId id, const Row& row) const;
  StepRequest MakeStep();
  RowToOpen MakeOpen();
  RowToMove MakeMove();
  // What the session is given instead of what the client sent.
  StepRequest Faulty(StepRequest request);
  void FaultyAnswers(StepResult* said);

  std::string Execute(StepRequest request);
  // The session's answer, and in time.
  absl::StatusOr<const StepResult*> Give(const StepRequest& request);
  absl::StatusOr<const StepResult*> GiveAtOnce(const StepRequest& request);
  // How long the step took, against what it may take.
  [[nodiscard]] std::string CheckTime(const StepRequest& request, const StepResult& said) const;
  [[nodiscard]] std::string CheckCancelled() const;
  // Does in the model what the step does, and compares.
  std::string Check(const StepRequest& request, const StepResult& said);
  void ApplyForks(const StepRequest& request, const StepResult& said);
  void ApplyOpens(const StepRequest& request, std::set<RowId>* named);
  std::string CompareAll(const StepResult& said, const Moves& moves, std::set<RowId> named);
  std::string Compare(const RowResult& answer, const RowToMove* move, Row* row);
  std::string CompareUsed(const RowResult& answer, const RowToMove* move, Row* row);
  // Whether `row` waits for a compile that has ended.
  [[nodiscard]] bool Overslept(const Row& row) const;
  std::string CheckNoneOverslept() const;
  // The masks as a client reads them; empty ones where there are none.
  std::vector<TokenMask> ReadMasks(const RowResult& row);

  SimulatedWorld* const world_;
  std::unique_ptr<StreamSession> session_;
  std::unique_ptr<FormReader> reader_;
  std::map<int, int> filled_;             // how often a slot was, for its fault
  std::map<RowId, absl::Status> errors_;  // said by rows, for another
  std::map<RowId, Row> rows_;
  std::optional<StreamRegistry::Registration> place_;
  int told_to_go_ = 0;
  std::uint64_t step_ = 0;
  Clock::TimePoint begin_;                     // of the step
  std::optional<Clock::TimePoint> cancelled_;  // when its stream was
  bool idle_ = false;                          // no compile waited or ran when the step began
  bool stepped_ = false;                       // since it connected
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_STREAMS_SIMULATED_STREAM_H_
