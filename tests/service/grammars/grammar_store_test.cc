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

}  // namespace
}  // namespace maskd::service
