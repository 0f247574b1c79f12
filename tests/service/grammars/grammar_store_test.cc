#include "service/grammars/grammar_store.h"

#include <chrono>
#include <functional>
#include <memory>
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

}  // namespace
}  // namespace maskd::service
