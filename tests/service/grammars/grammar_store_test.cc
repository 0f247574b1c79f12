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

// What is refused costs no more than its bytes: a text that is no JSON shows whether it was read.
TEST(GrammarStoreTest, ALongTextThatNobodyCanCompileIsNotRead) {
  SilenceLog();
  Config config;
  config.warm_up_ms = 0;
  config.compile_queue = 1;
  StoreMachinery machinery;
  machinery.compiles = StoreMachinery::Compiles::kWhenTaken;
  const auto tokenizers = TokenizerStore::Load({}, 1 << 20);
  ASSERT_TRUE(tokenizers.ok()) << tokenizers.status();
  GrammarStore grammars(config, nullptr, std::move(machinery));
  const auto get = [&](const GrammarTarget& target) {
    return grammars.Get(target, (*tokenizers)->all().front());
  };
  const auto reason = [&](const GrammarTarget& target) {
    return ErrorReason(get(target).status());
  };
  GrammarTarget wrong;
  wrong.source = GrammarSource{"choice", "[" + std::string(6'000, ' '), {}};
  GrammarTarget short_wrong;
  short_wrong.source = GrammarSource{"choice", "[", {}};
  GrammarTarget other_spelling = TextOf('A', true);
  other_spelling.source->text += " ";
  EXPECT_EQ(reason(wrong), "INVALID_GRAMMAR");
  const auto first = get(TextOf('A', true));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(reason(wrong), "COMPILE_QUEUE_FULL");
  EXPECT_EQ(reason(TextOf('B', true)), "COMPILE_QUEUE_FULL");
  EXPECT_EQ(reason(short_wrong), "INVALID_GRAMMAR");
  EXPECT_EQ(reason(TextOf('a', false)), "COMPILE_QUEUE_FULL");
  // What is known by its bytes is found, or joined.
  EXPECT_TRUE(get(TextOf('A', true)).ok());
  EXPECT_EQ(reason(other_spelling), "COMPILE_QUEUE_FULL");
  grammars.TakeCompile()();
  const auto same = get(other_spelling);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->id, first->id);
  EXPECT_TRUE(same->ticket.ready());
  EXPECT_EQ(reason(wrong), "INVALID_GRAMMAR");
}

// As where its grammar has left the cache: what was read is known, and is read again to compile.
TEST(GrammarStoreTest, AKnownTextIsCompiledAnew) {
  SilenceLog();
  Config config;
  config.warm_up_ms = 0;
  StoreMachinery machinery;
  machinery.compiles = StoreMachinery::Compiles::kWhenTaken;
  const auto tokenizers = TokenizerStore::Load({}, 1 << 20);
  ASSERT_TRUE(tokenizers.ok()) << tokenizers.status();
  GrammarStore grammars(config, nullptr, std::move(machinery));
  const auto compile = [&](char name) {
    const auto request = grammars.Get(TextOf(name, true), (*tokenizers)->all().front());
    EXPECT_TRUE(request.ok()) << request.status();
    EXPECT_FALSE(request->ticket.ready());
    grammars.TakeCompile()();
    const cache::CompileResult grammar = request->ticket.result();
    EXPECT_TRUE(grammar.ok()) << grammar.status();
    EXPECT_EQ((*grammar)->id(), request->id);
    return request->id;
  };
  const std::string id = compile('A');
  compile('B');
  grammars.Shrink(grammars.held_bytes());  // the one used last stays
  EXPECT_EQ(compile('A'), id);
}

}  // namespace
}  // namespace maskd::service
