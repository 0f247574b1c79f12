// What the streams of a simulation and its compiles share: one source of chance, one clock, one
// store, and the fault that is planted.
#ifndef MASKD_TESTS_SERVICE_STREAMS_SIMULATED_WORLD_H_
#define MASKD_TESTS_SERVICE_STREAMS_SIMULATED_WORLD_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"
#include "service/streams/stream_registry.h"
#include "tests/service/base/simulated_time.h"

namespace maskd::service {

class SimulatedCompiler;
class SimulatedStream;

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
  kWaitGoesOn,        // the end of a compile does not end the wait for it
  kWaitCutShort,      // a step waits half of its time
  kWaitUnbounded,     // a step may wait longer than the server lets it
  kCancelUnheard,     // a step whose stream was cancelled waits on
  kTimeoutKept,       // that a compile took too long is said of the next one, too
  kErrorNotKept,      // a grammar that cannot compile is compiled each time
  kDrainCutShort,     // the server does not wait for its streams
};

// A grammar that rows are opened on.
struct SimulatedSource {
  GrammarSource source;
  std::string id;
  cache::GrammarPtr model;  // null: it does not compile
};

struct SimulatedWorld {
  std::mt19937_64 random;
  Fault fault = Fault::kNone;
  const LoadedTokenizer* tokenizer = nullptr;
  const std::vector<SimulatedSource>* sources = nullptr;
  SimulatedTime* time = nullptr;
  GrammarStore* grammars = nullptr;
  StreamRegistry* registry = nullptr;
  SimulatedCompiler* compiles = nullptr;
  // Whose step waits. No other does: time that passes inside an event passes for who waits, too.
  const SimulatedStream* waiting = nullptr;
  bool draining = false;

  bool Chance(int one_in) { return random() % static_cast<std::uint64_t>(one_in) == 0; }
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_STREAMS_SIMULATED_WORLD_H_
