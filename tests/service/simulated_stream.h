// One stream of a simulation: a client that says and repeats anything, its session, and the model
// that each answer is compared with. Several share a store, whose compiles run when the simulation
// says so.
//
// Compiling  a row is what its answers say: compiling, until one says that it is in use or has
//          failed. A step that finds no compile waiting or running leaves none compiling but those
//          that it opens.
// Faults   planted between client, session and model, one at a time.
#ifndef MASKD_TESTS_SERVICE_SIMULATED_STREAM_H_
#define MASKD_TESTS_SERVICE_SIMULATED_STREAM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/stream_session.h"
#include "tests/service/form_reader.h"
#include "tests/service/session_model.h"

namespace maskd::service {

// What goes wrong.
enum class Fault {
  kNone,
  kStepTwice,         // a step is applied twice
  kTokenLost,         // a row's last token does not arrive
  kMaskOfAnotherRow,  // two rows' answers change places
  kRollbackShort,     // one token too few is taken back
  kSlotNotFilled,     // the dictionary misses a mask
  kRowsMixedOnMove,   // two rows change places when they move to another server
  kDraftsTaken,       // a row takes its drafts
  kForkTakesParent,   // a fork moves its parent too
  kRefusalIgnored,    // what follows a refused token is taken
  kCloseLost,         // a closed row stays
  kWakeUpLost,        // a row that has compiled does not say so
  kWaitersDropped,    // a compile ends with the stream that asked for it, others wait on
  kErrorLost,         // a row whose grammar does not compile gets another one
  kErrorTwice,        // a failed row says its error again
  kOtherGrammar,      // an id leads to another grammar
  kGapAccepted,       // a step that is not the next one is taken for it
};

// A grammar that rows are opened on.
struct SimulatedSource {
  GrammarSource source;
  std::string id;
  cache::GrammarPtr model;  // null: it does not compile
};

// What streams share.
struct SimulatedWorld {
  std::mt19937_64 random;
  Fault fault = Fault::kNone;
  const LoadedTokenizer* tokenizer = nullptr;
  GrammarStore* grammars = nullptr;
  const std::vector<SimulatedSource>* sources = nullptr;
  bool idle = false;  // no compile waited or ran when the step began

  bool Chance(int one_in) { return random() % static_cast<std::uint64_t>(one_in) == 0; }
};

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

 private:
  enum class Phase : std::uint8_t { kCompiling, kUsed, kFailed };
  struct Row {
    ModelRow model;
    std::size_t source = 0;
    Phase phase = Phase::kCompiling;
    bool by_id = false;
    bool opened_now = true;  // by the step that is checked
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

  std::string Execute(const StepRequest& request);
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
  std::uint64_t step_ = 0;
  bool stepped_ = false;  // since it connected
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_SIMULATED_STREAM_H_
