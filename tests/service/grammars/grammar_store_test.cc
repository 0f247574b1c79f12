#include "service/grammars/grammar_store.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "grammar_core/base/budget.h"
#include "grammar_core/base/error.h"
#include "service/base/log.h"

namespace maskd::service {
namespace {

// Strings of which some letter is told 16 characters before the end: work that grows with the text.
constexpr const char* kPattern = "[ab]*a[ab]{16}";

struct EndCase {
  const char* name;
  // What the compile's budget is given, beside what the store gives.
  std::int64_t max_compile_work;
  Budget::Clock::time_point deadline;
  absl::StatusCode code;
  int compiles;  // of three that are asked for
};

class CompileEndTest : public testing::TestWithParam<EndCase> {};

// What the machine or a caller cut short is tried again; what was too much work is so everywhere.
TEST_P(CompileEndTest, IsKeptOnlyWhereItWouldComeAgain) {
  SilenceLog();
  Config config;
  config.warm_up_ms = 0;
  config.limits.compile_work = GetParam().max_compile_work;
  int compiles = 0;
  StoreMachinery machinery;
  machinery.compiles = StoreMachinery::Compiles::kWhenTaken;
  machinery.compile = [&](ParsedSource parsed, std::string id,
                          std::shared_ptr<TokenizerSpace> tokenizer, const Limits& limits,
                          Budget& /*budget*/) {
    ++compiles;
    Budget::Bounds bounds;
    bounds.work = limits.compile_work;
    bounds.deadline = GetParam().deadline;
    Budget budget(bounds);
    return CompileParsed(std::move(parsed), std::move(id), std::move(tokenizer), limits, budget);
  };
  const auto tokenizers = TokenizerStore::Load({}, 1 << 20);
  ASSERT_TRUE(tokenizers.ok()) << tokenizers.status();
  GrammarStore grammars(config, nullptr, std::move(machinery));
  GrammarTarget target;
  target.source = GrammarSource{"regex", kPattern, {}};
  for (int i = 0; i < 3; ++i) {
    const auto request = grammars.Get(target, (*tokenizers)->all().front());
    ASSERT_TRUE(request.ok()) << request.status();
    if (const std::function<void()> compile = grammars.TakeCompile()) compile();
    ASSERT_TRUE(request->ticket.ready());
    EXPECT_EQ(request->ticket.result().status().code(), GetParam().code)
        << request->ticket.result().status();
  }
  EXPECT_EQ(compiles, GetParam().compiles);
}

constexpr auto kNever = Budget::Clock::time_point::max();
constexpr auto kLongAgo = Budget::Clock::time_point::min();

INSTANTIATE_TEST_SUITE_P(Ends, CompileEndTest,
                         testing::ValuesIn(std::vector<EndCase>{
                             {"Compiled", Limits().compile_work, kNever, absl::StatusCode::kOk, 1},
                             {"TooMuchWork", 2, kNever, absl::StatusCode::kResourceExhausted, 1},
                             {"Deadline", Limits().compile_work, kLongAgo,
                              absl::StatusCode::kDeadlineExceeded, 3},
                         }),
                         [](const auto& test) { return test.param.name; });

// A text of 600 bytes or of 6,000. Each name makes another grammar.
GrammarTarget TextOf(char name, bool is_long) {
  GrammarTarget target;
  target.source = GrammarSource{
      "choice", std::string("[\"") + std::string(is_long ? 6'000 : 600, name) + "\"]", {}};
  return target;
}

// What a caller asks for when there is a thread again: the callers' turns, not who came first.
TEST(GrammarStoreTest, CallersTakeTurnsByTheirTexts) {
  SilenceLog();
  Config config;
  config.warm_up_ms = 0;
  StoreMachinery machinery;
  machinery.compiles = StoreMachinery::Compiles::kWhenTaken;
  const auto tokenizers = TokenizerStore::Load({}, 1 << 20);
  ASSERT_TRUE(tokenizers.ok()) << tokenizers.status();
  GrammarStore grammars(config, nullptr, std::move(machinery));
  const auto from = [](const char* identity, const char* connection) {
    Caller caller;
    caller.identity = identity;
    caller.connection = connection;
    return caller;
  };
  std::vector<std::pair<std::string, GrammarStore::Request>> waiting;
  const auto ask = [&](char name, bool is_long, const Caller& caller) {
    auto request = grammars.Get(TextOf(name, is_long), (*tokenizers)->all().front(), caller);
    ASSERT_TRUE(request.ok()) << request.status();
    waiting.emplace_back(std::string(1, name), *std::move(request));
  };
  for (const char name : {'A', 'B', 'C'}) ask(name, true, from("one", "fd:7"));
  ask('D', true, from("one", "fd:8"));
  ask('E', true, from("two", "fd:7"));
  for (const char name : {'a', 'b'}) ask(name, false, from("one", "fd:7"));
  ask('c', false, from("two", "fd:8"));
  std::string done;
  while (const std::function<void()> compile = grammars.TakeCompile()) {
    compile();
    for (auto at = waiting.begin(); at != waiting.end(); ++at) {
      if (!at->second.ticket.ready()) continue;
      done += at->first;
      waiting.erase(at);
      break;
    }
  }
  EXPECT_EQ(done, "aAcDbEBC");
  EXPECT_TRUE(waiting.empty());
}

// The store of a server where `queue` compiles may wait, and nobody begins one but the test.
struct IdleStore {
  explicit IdleStore(std::int64_t queue) {
    SilenceLog();
    Config config;
    config.warm_up_ms = 0;
    config.compile_queue = queue;
    StoreMachinery machinery;
    machinery.compiles = StoreMachinery::Compiles::kWhenTaken;
    tokenizers = *TokenizerStore::Load({}, 1 << 20);
    grammars.emplace(config, nullptr, std::move(machinery));
  }
  absl::StatusOr<GrammarStore::Request> Get(const char* text) {
    GrammarTarget target;
    target.source = GrammarSource{"choice", text, {}};
    return grammars->Get(target, tokenizers->all().front());
  }

  std::unique_ptr<const TokenizerStore> tokenizers;
  std::optional<GrammarStore> grammars;
};

TEST(GrammarStoreTest, EqualTextsAndNormalFormsAreOneGrammar) {
  IdleStore store(8);
  const auto first = store.Get(R"(["a"])");
  const auto again = store.Get(R"(["a"])");
  const auto spaced = store.Get(R"([ "a" ])");
  ASSERT_TRUE(first.ok() && again.ok() && spaced.ok());
  EXPECT_EQ(first->id, again->id);
  EXPECT_EQ(first->id, spaced->id);
  EXPECT_EQ(again->ticket.origin(), cache::Ticket::Origin::kJoined);
  store.grammars->TakeCompile()();
  for (const char* text : {R"(["a"])", R"([ "a" ])", R"([  "a" ])"})
    EXPECT_EQ(store.Get(text)->ticket.origin(), cache::Ticket::Origin::kKnown) << text;
  EXPECT_EQ(store.grammars->TakeCompile(), nullptr);
}

// Under load a text is refused before it is read, which most of a refused call would be.
TEST(GrammarStoreTest, AFullQueueRefusesTextsThatNeverCame) {
  IdleStore store(1);
  const auto known = store.Get(R"(["a"])");
  store.grammars->TakeCompile()();
  const auto waiting = store.Get(R"(["b"])");
  ASSERT_TRUE(known.ok() && waiting.ok());
  EXPECT_EQ(store.Get(R"(["a"])")->ticket.origin(), cache::Ticket::Origin::kKnown);
  EXPECT_EQ(store.Get(R"(["b"])")->ticket.origin(), cache::Ticket::Origin::kJoined);
  for (const char* text : {R"(["c"])", R"([ "a" ])", "no JSON"})
    EXPECT_EQ(ErrorReason(store.Get(text).status()), "COMPILE_QUEUE_FULL") << text;
  store.grammars->TakeCompile()();
  EXPECT_TRUE(store.Get(R"(["c"])").ok());
}

}  // namespace
}  // namespace maskd::service
