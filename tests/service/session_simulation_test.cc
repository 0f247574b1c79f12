// A simulated server: one seed decides what two clients send, in which order, what they repeat and
// when they lose their server; when each compile begins and ends, and how much the cache keeps.
// After every step each answer is compared with a model that replays the row's tokens from nothing
// (session_model.h).
//
// Seeds    MASKD_SIMULATION_SEEDS of them, 10,000 by default: seconds. A failure names its seed.
// Faults   planted one at a time (simulated_stream.h): a checker that cannot find them is none.
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "grammar_core/base/budget.h"
#include "grammar_core/compile/compiler.h"
#include "service/log.h"
#include "tests/service/simulated_stream.h"

namespace maskd::service {
namespace {

constexpr int kEvents = 40;

Config SimulatedConfig(std::uint64_t seed) {
  // Nothing stays, one or two grammars do, all do.
  constexpr std::int64_t kCacheBytes[] = {1, 20'000, 1 << 30};
  Config config;
  config.cache_bytes = kCacheBytes[seed % std::size(kCacheBytes)];
  config.compile_queue = 64;
  config.warm_up_ms = 0;
  config.look_ahead_masks = 0;
  return config;
}

class Simulation {
 public:
  Simulation(std::uint64_t seed, Fault fault, const LoadedTokenizer& tokenizer,
             const std::vector<SimulatedSource>& sources)
      : grammars_(SimulatedConfig(seed), nullptr, GrammarStore::Compiles::kWhenTaken),
        world_{std::mt19937_64(seed), fault, &tokenizer, &grammars_, &sources} {
    for (int i = 0; i < 2; ++i) streams_.push_back(std::make_unique<SimulatedStream>(&world_));
  }

  // What is wrong; empty when nothing is.
  std::string Run() {
    for (int i = 0; i < kEvents; ++i) {
      std::string wrong = Happen();
      if (!wrong.empty()) return absl::StrCat("event ", i, ": ", wrong);
    }
    for (const auto& stream : streams_) {
      std::string wrong = stream->CheckRowCount();
      if (!wrong.empty()) return wrong;
    }
    return End();
  }

 private:
  std::string Happen() {
    if (world_.Chance(3)) BeginCompile();
    if (world_.Chance(3)) EndCompile();
    if (world_.Chance(12)) {
      while (BeginCompile()) EndCompile();
      while (!running_.empty()) EndCompile();
    }
    world_.idle = running_.empty() && !BeginCompile();
    SimulatedStream& stream = *streams_[world_.random() % streams_.size()];
    if (world_.Chance(20)) return stream.SkipStep();
    if (!world_.Chance(12)) return stream.RunStep();
    if (world_.fault == Fault::kWaitersDropped) running_.clear();
    return stream.Reconnect();
  }

  bool BeginCompile() {
    std::function<void()> compile = grammars_.TakeCompile();
    if (compile == nullptr) return false;
    running_.push_back(std::move(compile));
    return true;
  }

  void EndCompile() {
    if (running_.empty()) return;
    const auto any =
        running_.begin() + static_cast<std::ptrdiff_t>(world_.random() % running_.size());
    const std::function<void()> compile = std::move(*any);
    running_.erase(any);
    compile();
  }

  // Once all streams are gone and all compiles have ended, the cache alone holds grammars.
  std::string End() {
    streams_.clear();
    while (!running_.empty() || BeginCompile()) EndCompile();
    std::size_t found = 0;
    for (const SimulatedSource& source : *world_.sources) {
      GrammarTarget target;
      target.id = source.id;
      const auto request = grammars_.Get(target, *world_.tokenizer);
      if (!request.ok()) continue;
      ++found;
      const cache::CompileResult grammar = request->ticket.result();
      // This result, the ticket's and the cache's.
      if (grammar->use_count() != 3) return "a grammar is held by nobody known";
    }
    return found == grammars_.size() ? "" : "the cache counts grammars that it has not";
  }

  GrammarStore grammars_;
  SimulatedWorld world_;
  std::vector<std::function<void()>> running_;
  std::vector<std::unique_ptr<SimulatedStream>> streams_;
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
  int seeds = 10'000;
  if (const char* wanted = std::getenv("MASKD_SIMULATION_SEEDS"); wanted != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &seeds)) << wanted;
  }
  for (int seed = 1; seed <= seeds; ++seed) {
    ASSERT_EQ(Run(static_cast<std::uint64_t>(seed), Fault::kNone), "") << "seed " << seed;
  }
}

class PlantedFaultTest : public SessionSimulationTest,
                         public testing::WithParamInterface<std::pair<const char*, Fault>> {};

TEST_P(PlantedFaultTest, IsFoundWithin1000Seeds) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    if (!Run(seed, GetParam().second).empty()) return;
  }
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
                         }),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace maskd::service
