// Streams whose servers are killed, or told to stop: their rows go on elsewhere, and their masks
// are those of a stream that nothing happened to.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/client.h"
#include "client/cpp/failover/failover_stream.h"
#include "tests/client/server_program.h"

namespace maskd::client {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(20);
constexpr std::uint32_t kWidth = 257;
constexpr RowId kRows = 64;

// A maskd that serves.
struct Program : ServerProgram {
  explicit Program(const std::string& name) : ServerProgram(MASKD_BINARY, name, {"--heap_mib=8"}) {
    Restart();
  }
  void Restart() { ASSERT_TRUE(Start(kTimeout)); }
};

// The same rows on a stream that moves and on one that stays.
// The parameter: whether steps go through shared memory.
class FailoverTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto stream = FailoverStream::Open({.addresses = {first_.address(), second_.address()},
                                        .in_order = true,
                                        .stream = Options()});
    ASSERT_TRUE(stream.ok()) << stream.status();
    ASSERT_EQ((*stream)->uses_shared_memory(), GetParam());
    stream_ = *std::move(stream);
    const auto client = Client::Connect({.address = third_.address()});
    ASSERT_TRUE(client.ok());
    auto unbroken = (*client)->OpenStream({.logits_width = kWidth});
    ASSERT_TRUE(unbroken.ok()) << unbroken.status();
    unbroken_ = *std::move(unbroken);
    v1::Grammar grammar;
    grammar.set_kind("json_schema");
    grammar.set_source(R"({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                           "required": ["a", "b"], "additionalProperties": false})");
    for (RowId row = 1; row <= kRows; ++row)
      step_.Open(row, grammar, {.remaining_tokens = 60 + static_cast<std::uint32_t>(row)});
    step_.WaitForCompile(kTimeout);
    ASSERT_NO_FATAL_FAILURE(RunStep());
  }

  static StreamOptions Options() { return {.logits_width = kWidth, .shared_memory = GetParam()}; }

  // One step on both; then a token of each row's mask, here and there a rollback.
  void RunStep() {
    const SteadyTime begin = SteadyTime::Now();
    ASSERT_TRUE(stream_->Submit(step_).ok());
    const absl::Status collected = stream_->Collect(kTimeout, result_);
    ASSERT_TRUE(collected.ok()) << collected;
    slowest_ = std::max(slowest_, SteadyTime::Now() - begin);
    ASSERT_TRUE(unbroken_->Submit(step_).ok());
    StepResult expected;
    ASSERT_TRUE(unbroken_->Collect(kTimeout, expected).ok());
    step_.Clear();
    ASSERT_EQ(result_.rows().size(), expected.rows().size());
    for (std::size_t i = 0; i < result_.rows().size(); ++i)
      ASSERT_NO_FATAL_FAILURE(CompareAndAdvance(result_.rows()[i], expected.rows()[i]));
  }

  void CompareAndAdvance(const RowResult& row, const RowResult& expected) {
    ASSERT_EQ(row.row, expected.row);
    ASSERT_TRUE(row.error.ok()) << row.error;
    ASSERT_EQ(row.state, expected.state);
    ASSERT_EQ(row.token_count, expected.token_count) << "no token is lost or taken twice";
    ASSERT_TRUE(std::ranges::equal(row.masks[0].words(), expected.masks[0].words()));
    if (row.token_count > 2 && random_() % 16 == 0) step_.Rollback(row.row, 1);
    if (!row.has_mask() || random_() % 16 == 0) {
      step_.Take(row.row, {});
    } else if (!Names(row.row)) {
      const TokenId token = AnyAllowed(row.masks[0].words());
      step_.Take(row.row, {&token, 1});
    }
  }

  // Whether the step takes something of the row back: its mask is then not the one of now.
  [[nodiscard]] bool Names(RowId row) const {
    const auto& rows = step_.message().step().rows();
    return !rows.empty() && rows[rows.size() - 1].row() == row;
  }

  TokenId AnyAllowed(std::span<const std::int32_t> words) {
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < static_cast<TokenId>(kWidth); ++id)
      if ((static_cast<std::uint32_t>(words[id / 32]) >> (id % 32)) & 1U) allowed.push_back(id);
    return allowed[random_() % allowed.size()];
  }

  Program first_{"a"};
  Program second_{"b"};
  Program third_{"c"};
  std::unique_ptr<FailoverStream> stream_;
  std::unique_ptr<MaskStream> unbroken_;
  Step step_;
  StepResult result_;
  std::mt19937_64 random_{1};  // NOLINT(cert-msc51-cpp): the same tokens in every run
  absl::Duration slowest_;
};

INSTANTIATE_TEST_SUITE_P(Transports, FailoverTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Memory" : "Grpc"; });

TEST_P(FailoverTest, RowsGoOnBitForBitWhenTheirServerIsKilled) {
  for (int i = 0; i < 30; ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
  first_.Signal(SIGKILL);
  slowest_ = absl::ZeroDuration();
  for (int i = 0; i < 30; ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
  EXPECT_EQ(stream_->moves(), 1);
  EXPECT_EQ(stream_->address(), second_.address());
  EXPECT_EQ(stream_->uses_shared_memory(), GetParam());
  RecordProperty("slowest_step_ms", static_cast<int>(absl::ToInt64Milliseconds(slowest_)));
}

TEST_P(FailoverTest, StepsInFlightAreAnsweredByTheNextServer) {
  const auto submit_empty = [this] {
    Step empty;
    empty.Take(1, {});
    return stream_->Submit(empty).ok();
  };
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(submit_empty());
  first_.Signal(SIGKILL);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(submit_empty());
  std::uint64_t before = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(stream_->Collect(kTimeout, result_).ok());
    EXPECT_TRUE(before == 0 || result_.step() == before + 1);
    before = result_.step();
    ASSERT_NE(result_.Find(1), nullptr);
    EXPECT_EQ(result_.Find(1)->token_count, 0U);
  }
  ASSERT_NO_FATAL_FAILURE(RunStep());
}

// A hundred thousand strings: a grammar that still compiles when its server dies.
v1::Grammar SlowGrammar() {
  v1::Grammar grammar;
  grammar.set_kind("choice");
  std::string* source = grammar.mutable_source();
  std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): the same strings in every run
  for (int i = 0; i < 100'000; ++i) {
    absl::StrAppend(source, i == 0 ? "[" : ",", "\"", absl::Hex(random()), absl::Hex(random()),
                    "\"");
  }
  source->append("]");
  return grammar;
}

TEST_P(FailoverTest, WhatAServerHadNotSaidOfItsRowsTheNextOneSays) {
  constexpr RowId kGood = kRows + 1;
  constexpr RowId kBad = kRows + 2;
  const v1::Grammar slow = SlowGrammar();
  const TokenId letter = 'z';  // no hexadecimal digit
  Step opens;
  opens.Open(kGood, slow).Open(kBad, slow, {.tokens = {&letter, 1}});
  ASSERT_TRUE(stream_->Submit(opens).ok());
  ASSERT_TRUE(stream_->Collect(kTimeout, result_).ok());
  for (const RowId row : {kGood, kBad}) {
    ASSERT_NE(result_.Find(row), nullptr);
    ASSERT_EQ(result_.Find(row)->state, v1::ROW_STATE_COMPILING) << "too fast for this test";
  }
  first_.Signal(SIGKILL);
  const SteadyTime deadline = SteadyTime::Now() + kTimeout;
  bool good_is_said = false;
  bool bad_is_said = false;
  while (!(good_is_said && bad_is_said) && SteadyTime::Now() < deadline) {
    Step asks_nothing;
    ASSERT_TRUE(stream_->Submit(asks_nothing).ok());
    ASSERT_TRUE(stream_->Collect(kTimeout, result_).ok());
    for (const RowResult& row : result_.rows()) {
      if (row.state == v1::ROW_STATE_COMPILING) continue;
      good_is_said |= row.row == kGood && row.error.ok() && row.has_mask();
      bad_is_said |= row.row == kBad && !row.error.ok() && row.refused_token.has_value();
    }
  }
  EXPECT_TRUE(good_is_said);
  EXPECT_TRUE(bad_is_said);
  EXPECT_EQ(stream_->moves(), 1);
}

TEST_P(FailoverTest, NoStepFailsWhenServersAreDrainedInTurn) {
  for (Program* program : {&first_, &second_, &first_}) {
    for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
    program->Signal(SIGTERM);
    for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
    EXPECT_EQ(program->Wait(), 0) << "it drained";
    ASSERT_NO_FATAL_FAILURE(program->Restart());
  }
  // On a busy machine a server may say that it goes only after the steps above.
  ASSERT_NO_FATAL_FAILURE(RunStep());
  EXPECT_EQ(stream_->moves(), 3);
}

TEST_P(FailoverTest, AStepTooLargeIsRefusedAtOnceAlsoWhileAServerGoesAway) {
  v1::Grammar large;
  large.set_kind("json_schema");
  large.set_source(std::string(std::size_t{17} << 20, ' '));
  first_.Signal(SIGTERM);
  for (int i = 0; stream_->moves() == 0 && i < 1'000; ++i) {
    Step too_large;
    too_large.Open(kRows + 1, large);
    const absl::Status refused = stream_->Submit(too_large).status();
    ASSERT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    ASSERT_NO_FATAL_FAILURE(RunStep());
  }
  EXPECT_EQ(stream_->moves(), 1);
}

TEST_P(FailoverTest, WithoutAnyServerTheErrorComesInTime) {
  auto lonely = FailoverStream::Open({.addresses = {first_.address()},
                                      .stream = Options(),
                                      .give_up_after = absl::Milliseconds(300)});
  ASSERT_TRUE(lonely.ok()) << lonely.status();
  first_.Signal(SIGKILL);
  Step step;
  step.Take(1, {});
  const absl::Status submitted = (*lonely)->Submit(step).status();
  const absl::Status status = submitted.ok() ? (*lonely)->Collect(kTimeout, result_) : submitted;
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

}  // namespace
}  // namespace maskd::client
