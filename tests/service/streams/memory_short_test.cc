// Grammars and rows where memory is short: above the high mark of an accountant whose memory the
// test says.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cache/load_error.h"
#include "grammar_core/base/error.h"
#include "grammar_core/compile/compiled_grammar.h"
#include "memory/accountant.h"
#include "service/grammars/grammar_store.h"
#include "service/streams/stream_session.h"

namespace maskd::service {
namespace {

constexpr RowId kRow = 1;

class MemoryShortTest : public testing::Test {
 protected:
  MemoryShortTest()
      : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))),
        accountant_(OptionsOf()),
        grammars_(NothingAhead(), nullptr, {.memory = &accountant_}),
        session_(&tokenizer(), &grammars_, StreamLimits(), FormTerms(), nullptr) {}

  static Config NothingAhead() {
    Config config;
    config.warm_up_ms = 0;
    config.look_ahead_masks = 0;
    return config;
  }

  memory::Accountant::Options OptionsOf() {
    memory::Accountant::Options options;
    options.limit_bytes = 1000;
    options.patience = std::chrono::milliseconds(0);
    options.read_process = [this] { return memory::ProcessMemory{.resident = resident_}; };
    return options;
  }

  const LoadedTokenizer& tokenizer() const { return tokenizers_->all().front(); }

  absl::Status Compile(const std::string& choices) {
    GrammarTarget target;
    target.source = GrammarSource{"choice", choices, {}};
    const auto request = grammars_.Get(target, tokenizer());
    if (!request.ok()) return request.status();
    request->ticket.WaitUntil(Clock::TimePoint::max());
    return request->ticket.result().status();
  }

  RowResult Open(RowId row, const std::string& choices) {
    StepRequest request;
    RowToOpen& open = request.opens.emplace_back();
    open.row = row;
    open.target.source = GrammarSource{"choice", choices, {}};
    return Run(std::move(request));
  }

  RowResult Run(StepRequest request) {
    request.step = ++step_;
    request.wait_ms = 10'000;
    const auto result = session_.Step(request, [] { return false; });
    EXPECT_TRUE(result.ok()) << result.status();
    return (*result)->rows.at(0);
  }

  void SetResident(std::int64_t bytes) {
    resident_ = bytes;
    accountant_.Tick();
  }

  std::int64_t resident_ = 0;
  std::unique_ptr<const TokenizerStore> tokenizers_;
  memory::Accountant accountant_;
  GrammarStore grammars_;
  StreamSession session_;
  std::uint64_t step_ = 0;
};

TEST_F(MemoryShortTest, CompilesAreRefusedWithATimeToRetryAndOpenRowsGoOn) {
  EXPECT_TRUE(Compile(R"(["known"])").ok());
  EXPECT_EQ(Open(kRow, R"(["ab","ac"])").state, RowState::kActive);
  SetResident(950);
  const absl::Status refused = Compile(R"(["new"])");
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(ErrorReason(refused), "MEMORY_SHORT");
  EXPECT_TRUE(cache::RetryAfterMs(refused).has_value());
  EXPECT_TRUE(Compile(R"(["known"])").ok()) << "it is there";
  StepRequest step;
  RowToMove& move = step.moves.emplace_back();
  move.row = kRow;
  move.tokens = {'a'};
  EXPECT_TRUE(Run(step).error.ok());
}

TEST_F(MemoryShortTest, RowsAreNotOpenedEvenOnKnownGrammars) {
  EXPECT_TRUE(Compile(R"(["known"])").ok());
  SetResident(950);
  const RowResult row = Open(kRow, R"(["known"])");
  EXPECT_EQ(row.state, RowState::kFailed);
  EXPECT_EQ(ErrorReason(row.error), "MEMORY_SHORT");
  SetResident(500);
  EXPECT_EQ(Open(kRow + 1, R"(["known"])").state, RowState::kActive);
}

TEST_F(MemoryShortTest, ARefusalIsNotKept) {
  SetResident(950);
  EXPECT_FALSE(Compile(R"(["x"])").ok());
  SetResident(500);
  EXPECT_TRUE(Compile(R"(["x"])").ok());
}

TEST_F(MemoryShortTest, AGrammarInUseIsCountedWhenTheCacheHasDroppedIt) {
  Open(kRow, R"(["ab","ac"])");
  EXPECT_TRUE(Compile(R"(["other"])").ok());
  const std::int64_t both = grammars_.live().held_bytes();
  grammars_.Shrink(1 << 20);
  EXPECT_EQ(grammars_.size(), 1U);
  EXPECT_EQ(grammars_.live().held_bytes(), both);
  StepRequest step;
  step.closes = {kRow};
  step.step = ++step_;
  EXPECT_TRUE(session_.Step(step, [] { return false; }).ok());
  // A thread that has just compiled may hold its result for a moment still.
  std::vector<cache::GrammarPtr> held = grammars_.live().all();
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
       held.size() > 1 && std::chrono::steady_clock::now() < end; held = grammars_.live().all()) {
    held.clear();
    std::this_thread::yield();
  }
  ASSERT_EQ(held.size(), 1U);
  grammars_.RemeasureAll();  // masks, which the cache counts too, were forgotten
  // The cache counts the masks too that a grammar keeps alive.
  EXPECT_EQ(grammars_.live().held_bytes() + held.front()->costs().mask_bytes,
            grammars_.held_bytes());
}

TEST(OutOfMemoryTest, ACompileThatRunsOutOfItFailsAlone) {
  const auto tokenizers = std::move(*TokenizerStore::Load({}, 1 << 20));
  std::atomic<bool> fails = true;
  GrammarStore grammars(
      Config(), nullptr,
      {.compile = [&](ParsedSource parsed, std::string id, std::shared_ptr<TokenizerSpace> space,
                      const Limits& limits, Budget& budget) -> cache::CompileResult {
        if (fails) throw std::bad_alloc();
        return CompileParsed(std::move(parsed), std::move(id), std::move(space), limits, budget);
      }});
  GrammarTarget target;
  target.source = GrammarSource{"choice", R"(["a"])", {}};
  for (const bool failing : {true, false}) {
    fails = failing;
    const auto request = grammars.Get(target, tokenizers->all().front());
    ASSERT_TRUE(request.ok()) << request.status();
    request->ticket.WaitUntil(Clock::TimePoint::max());
    const absl::Status status = request->ticket.result().status();
    EXPECT_EQ(status.ok(), !failing) << status;
    EXPECT_EQ(ErrorReason(status), failing ? "OUT_OF_MEMORY" : "");
  }
}

}  // namespace
}  // namespace maskd::service
