// A simulated server: one seed decides what two clients send, in which order, what they repeat and
// when they lose their server; how long each compile takes, how many run at once, and how much the
// cache keeps; how long steps wait for compiles, and which waiting step is cancelled. All of it
// happens in simulated time (simulated_time.h), at the end of which the server drains. After every
// step each answer is compared with a model that replays the row's tokens from nothing
// (session_model.h), and the time that it took with what it may take.
//
// Seeds    MASKD_SIMULATION_SEEDS of them, 10,000 by default: seconds. A failure names its seed.
// Faults   planted one at a time (simulated_stream.h): a checker that cannot find them is none.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "grammar_core/base/budget.h"
#include "grammar_core/compile/compiler.h"
#include "service/base/log.h"
#include "tests/base/night.h"
#include "tests/service/base/simulated_time.h"
#include "tests/service/streams/simulated_compiler.h"
#include "tests/service/streams/simulated_stream.h"
#include "tests/service/streams/simulated_world.h"

namespace maskd::service {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kEvents = 40;
constexpr int kStreams = 2;
constexpr std::int64_t kKeepsAll = 1 << 30;

Config SimulatedConfig(std::uint64_t seed) {
  // Nothing stays, one or two grammars do, all do.
  constexpr std::int64_t kCacheBytes[] = {1, 20'000, kKeepsAll};
  Config config;
  config.cache_bytes = kCacheBytes[seed % std::size(kCacheBytes)];
  config.compile_queue = 64;
  config.warm_up_ms = 0;
  config.look_ahead_masks = 0;
  return config;
}

// How long the streams of a stopping server are waited for.
constexpr seconds kDrainTime{5};

class Simulation {
 public:
  Simulation(std::uint64_t seed, Fault fault, const LoadedTokenizer& tokenizer,
             const std::vector<SimulatedSource>& sources)
      : time_([this] { compiles_.BeginWaiting(); }),
        compiles_(&world_, 1 + seed / 3 % 3, SimulatedConfig(seed).cache_bytes == kKeepsAll),
        grammars_(SimulatedConfig(seed), nullptr, Machinery()),
        registry_({.in_all = kStreams, .of_a_peer = kStreams}, &time_) {
    world_ = {std::mt19937_64(seed),
              fault,
              &tokenizer,
              &sources,
              &time_,
              &grammars_,
              &registry_,
              &compiles_};
    if (fault == Fault::kWaitGoesOn) time_.WakeNobody();
    for (int i = 0; i < kStreams; ++i)
      streams_.push_back(std::make_unique<SimulatedStream>(&world_));
  }

  // What is wrong; empty when nothing is.
  std::string Run() {
    for (int i = 0; i < kEvents; ++i) {
      std::string wrong = Happen();
      if (wrong.empty()) wrong = Unasked();
      if (!wrong.empty()) return absl::StrCat("event ", i, ": ", wrong);
    }
    for (const auto& stream : streams_) {
      std::string wrong = stream->CheckRowCount();
      if (!wrong.empty()) return wrong;
    }
    std::string wrong = Drain();
    return wrong.empty() ? End() : wrong;
  }

 private:
  StoreMachinery Machinery() {
    return {
        StoreMachinery::Compiles::kWhenTaken, &time_,
        [this](ParsedSource parsed, const std::string& id,
               std::shared_ptr<TokenizerSpace> tokenizer, const Limits& limits, Budget& budget) {
          return compiles_.Compile(std::move(parsed), id, std::move(tokenizer), limits, budget);
        }};
  }

  std::string Happen() {
    time_.Pass(AnyPause());
    if (world_.Chance(3)) {
      SimulatedStream* const other = &AnyStream();
      time_.After(microseconds(world_.random() % 50'000), [this, other] { StepMeanwhile(other); });
    }
    return Happen(&AnyStream());
  }

  std::string Happen(SimulatedStream* stream) {
    if (world_.Chance(20)) return stream->SkipStep();
    if (!world_.Chance(12)) return stream->RunStep();
    if (world_.fault == Fault::kWaitersDropped) compiles_.DropAll();
    return stream->Reconnect();
  }

  // Another stream goes on while one waits; so it does while the server stops.
  void StepMeanwhile(SimulatedStream* stream) {
    if (stream == world_.waiting || !meanwhile_.empty()) return;
    meanwhile_ = world_.draining ? stream->RunStep() : Happen(stream);
  }

  // What was wrong with what happened while a stream waited.
  std::string Unasked() { return meanwhile_.empty() ? compiles_.wrong() : meanwhile_; }

  // Mostly an engine's forward pass; at times so long that an error is forgotten.
  Clock::Duration AnyPause() {
    if (world_.Chance(15)) return milliseconds(world_.random() % 90'000);
    return microseconds(world_.random() % 30'000);
  }

  SimulatedStream& AnyStream() { return *streams_[world_.random() % streams_.size()]; }

  // Each stream is told, answers until it leaves, and is waited for, but not for ever.
  std::string Drain() {
    world_.draining = true;
    registry_.Drain();
    if (!absl::IsUnavailable(registry_.Add("", [](auto) {}).status()))
      return "a stopping server is joined";
    const Clock::TimePoint deadline = time_.Now() + kDrainTime;
    Clock::TimePoint last = time_.Now();
    for (const auto& stream : streams_) {
      if (stream->told_to_go() != 1) return "a stream does not know that its server stops";
      const milliseconds stay(world_.random() % 6'000);
      last = std::max(last, time_.Now() + stay);
      time_.After(stay / 2, [this, at = stream.get()] { StepMeanwhile(at); });
      time_.After(stay, [at = stream.get()] { at->Leave(); });
    }
    registry_.WaitUntilEmpty(world_.fault == Fault::kDrainCutShort ? deadline - kDrainTime / 2
                                                                   : deadline);
    if (time_.Now() != std::min(last, deadline)) return "when a server has drained";
    return Unasked();
  }

  // Once all streams are gone and all compiles have ended, the cache alone holds grammars, and
  // counts what they hold.
  std::string End() {
    time_.PassAll();
    streams_.clear();
    time_.PassAll();
    grammars_.RemeasureAll();  // what no longer fits is dropped now, not while it is looked for
    std::size_t found = 0;
    std::int64_t held_bytes = 0;
    for (const SimulatedSource& source : *world_.sources) {
      GrammarTarget target;
      target.id = source.id;
      const auto request = grammars_.Get(target, *world_.tokenizer);
      if (!request.ok()) continue;
      ++found;
      const cache::CompileResult grammar = request->ticket.result();
      // This result, the ticket's and the cache's.
      if (grammar->use_count() != 3) return "a grammar is held by nobody known";
      const GrammarCosts costs = (*grammar)->costs();
      held_bytes += costs.held_bytes + costs.mask_bytes;
    }
    if (grammars_.held_bytes() != held_bytes) return "the cache counts other bytes than it holds";
    return found == grammars_.size() ? Unasked() : "the cache counts grammars that it has not";
  }

  SimulatedTime time_;
  SimulatedWorld world_;
  SimulatedCompiler compiles_;
  GrammarStore grammars_;
  StreamRegistry registry_;
  std::vector<std::unique_ptr<SimulatedStream>> streams_;
  std::string meanwhile_;
};

class SessionSimulationTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    SilenceLog();
    tokenizers_ = TokenizerStore::Load({}, 1 << 20)->release();
    const LoadedTokenizer& tokenizer = tokenizers_->all().front();
    sources_ = new std::vector<SimulatedSource>();
    for (const char* pattern : {"(ab|ba|c)*a?", "a{0,9}", "[ab]*c(a|b)", "(a", "b\\"}) {
      const GrammarSource source{"regex", pattern, {}};
      Budget budget = Budget::Unlimited();
      auto model = CompileGrammar(source, tokenizer.space(), {}, budget);
      auto id = GrammarId(source, tokenizer.vocabulary().hash(), {});
      sources_->push_back({source, *id, model.ok() ? *model : nullptr});
    }
  }

  static void TearDownTestSuite() {
    delete std::exchange(sources_, nullptr);
    delete std::exchange(tokenizers_, nullptr);
  }

  static std::string Run(std::uint64_t seed, Fault fault) {
    return Simulation(seed, fault, tokenizers_->all().front(), *sources_).Run();
  }

  static const TokenizerStore* tokenizers_;
  static std::vector<SimulatedSource>* sources_;
};

const TokenizerStore* SessionSimulationTest::tokenizers_ = nullptr;
std::vector<SimulatedSource>* SessionSimulationTest::sources_ = nullptr;

TEST_F(SessionSimulationTest, EveryAnswerIsTheModels) {
  int seeds = ByNight(3'000, 10'000);
  if (const char* wanted = std::getenv("MASKD_SIMULATION_SEEDS"); wanted != nullptr)
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &seeds)) << wanted;
  for (int seed = 1; seed <= seeds; ++seed)
    ASSERT_EQ(Run(static_cast<std::uint64_t>(seed), Fault::kNone), "") << "seed " << seed;
}

class PlantedFaultTest : public SessionSimulationTest,
                         public testing::WithParamInterface<std::pair<const char*, Fault>> {};

TEST_P(PlantedFaultTest, IsFoundWithin1000Seeds) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed)
    if (!Run(seed, GetParam().second).empty()) return;
  FAIL() << "no seed finds it";
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFaultTest,
                         testing::ValuesIn(std::vector<std::pair<const char*, Fault>>{
                             {"StepTwice", Fault::kStepTwice},
                             {"TokenLost", Fault::kTokenLost},
                             {"MaskOfAnotherRow", Fault::kMaskOfAnotherRow},
                             {"RollbackShort", Fault::kRollbackShort},
                             {"SlotNotFilled", Fault::kSlotNotFilled},
                             {"RowsMixedOnMove", Fault::kRowsMixedOnMove},
                             {"DraftsTaken", Fault::kDraftsTaken},
                             {"ForkTakesParent", Fault::kForkTakesParent},
                             {"RefusalIgnored", Fault::kRefusalIgnored},
                             {"CloseLost", Fault::kCloseLost},
                             {"WakeUpLost", Fault::kWakeUpLost},
                             {"WaitersDropped", Fault::kWaitersDropped},
                             {"ErrorLost", Fault::kErrorLost},
                             {"ErrorTwice", Fault::kErrorTwice},
                             {"OtherGrammar", Fault::kOtherGrammar},
                             {"GapAccepted", Fault::kGapAccepted},
                             {"WaitGoesOn", Fault::kWaitGoesOn},
                             {"WaitCutShort", Fault::kWaitCutShort},
                             {"WaitUnbounded", Fault::kWaitUnbounded},
                             {"CancelUnheard", Fault::kCancelUnheard},
                             {"TimeoutKept", Fault::kTimeoutKept},
                             {"ErrorNotKept", Fault::kErrorNotKept},
                             {"DrainCutShort", Fault::kDrainCutShort},
                         }),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace maskd::service
