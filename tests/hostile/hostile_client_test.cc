// What clients that are other processes, keep to no rule and die in the middle of a message can do
// to a server: end their own streams. Beside them a stream's masks are bit for bit those of a
// server that is left alone, and afterwards the server holds what it held before.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <list>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "client/cpp/client.h"
#include "tests/client/server_program.h"
#include "tests/hostile/process.h"

namespace maskd::hostile {
namespace {

using client::MaskStream;
using client::RowId;
using client::RowResult;
using client::ServerProgram;
using client::Step;
using client::StepResult;
using client::TokenId;

constexpr std::uint32_t kProcesses = 40;
constexpr std::uint32_t kStreams = 8;  // of a process
constexpr std::size_t kAtOnce = 3;
constexpr std::uint32_t kWidth = 257;
constexpr RowId kRows = 16;
constexpr absl::Duration kPatience = absl::Seconds(60);

std::unique_ptr<MaskStream> OpenAt(const ServerProgram& server, bool shared_memory) {
  const auto client = client::Client::Connect({.address = server.address()});
  EXPECT_TRUE(client.ok()) << client.status();
  auto stream = (*client)->OpenStream({.logits_width = kWidth, .shared_memory = shared_memory});
  EXPECT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ((*stream)->uses_shared_memory(), shared_memory);
  return *std::move(stream);
}

// The same rows on servers of which the first alone is attacked.
class HostileClientTest : public testing::Test {
 protected:
  void SetUp() override {
    for (ServerProgram* server : {&attacked_, &quiet_}) ASSERT_TRUE(server->Start(kPatience));
    streams_.push_back(OpenAt(attacked_, true));
    streams_.push_back(OpenAt(attacked_, false));
    streams_.push_back(OpenAt(quiet_, false));
    results_.resize(streams_.size());
    ReopenRows();
    RunStep();
  }

  void ReopenRows() {
    v1::Grammar grammar;
    grammar.set_kind("json_schema");
    grammar.set_source(absl::StrCat(
        R"({"properties": {"a": {"type": "string", "maxLength": )", 1 + random_() % 30,
        R"(}, "b": {"type": "integer"}}, "required": ["a", "b"], "additionalProperties": false})"));
    step_.Clear();
    for (RowId row = 1; row <= kRows; ++row) {
      if (has_rows_) step_.Close(row);
      step_.Open(row, grammar, {.remaining_tokens = 60});
    }
    has_rows_ = true;
    step_.WaitForCompile(kPatience);
  }

  // One step on each; then a token of each row's mask.
  void RunStep() {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      ASSERT_TRUE(streams_[i]->Submit(step_).ok());
      const absl::Status collected = streams_[i]->Collect(kPatience, results_[i]);
      ASSERT_TRUE(collected.ok()) << i << ": " << collected;
      ASSERT_EQ(results_[i].rows().size(), kRows);
    }
    step_.Clear();
    for (std::size_t i = 0; i < kRows; ++i) ASSERT_NO_FATAL_FAILURE(CompareAndTake(i));
  }

  void CompareAndTake(std::size_t i) {
    const RowResult& expected = results_.back().rows()[i];
    for (const StepResult& result : results_) {
      const RowResult& row = result.rows()[i];
      ASSERT_EQ(row.row, expected.row);
      ASSERT_EQ(row.state, expected.state);
      ASSERT_EQ(row.token_count, expected.token_count);
      ASSERT_TRUE(std::ranges::equal(row.masks[0].words(), expected.masks[0].words()));
    }
    masks_ += expected.has_mask() ? 1 : 0;
    if (!expected.has_mask()) return step_.Take(expected.row, {}), void();
    const TokenId token = AnyAllowed(expected.masks[0].words());
    step_.Take(expected.row, {&token, 1});
  }

  TokenId AnyAllowed(std::span<const std::int32_t> words) {
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < static_cast<TokenId>(kWidth); ++id)
      if ((static_cast<std::uint32_t>(words[id / 32]) >> (id % 32)) & 1U) allowed.push_back(id);
    return allowed[random_() % allowed.size()];
  }

  // Steps until all of `processes` have died, of SIGKILL as they should.
  void RunBeside(std::list<Process>& processes) {
    while (!processes.empty()) {
      if (++steps_ % 24 == 0) ReopenRows();
      ASSERT_NO_FATAL_FAILURE(RunStep());
      std::erase_if(processes, [](Process& process) {
        const auto ended = process.Ended();
        EXPECT_EQ(ended.value_or(-SIGKILL), -SIGKILL);
        return ended.has_value();
      });
    }
  }

  // What the attacked server holds once it has noticed who is gone: no more for a second.
  [[nodiscard]] Holdings Settle() const {
    Holdings held = HoldingsOf(attacked_.pid());
    const absl::Time end = absl::Now() + kPatience;
    for (int quiet = 0; quiet < 10 && absl::Now() < end; ++quiet) {
      absl::SleepFor(absl::Milliseconds(100));
      const Holdings now = HoldingsOf(attacked_.pid());
      if (now.threads < held.threads || now.descriptors < held.descriptors) quiet = 0;
      held = now;
    }
    return held;
  }

  ServerProgram attacked_{MASKD_BINARY, "attacked", {"--heap_mib=8"}};
  ServerProgram quiet_{MASKD_BINARY, "quiet", {"--heap_mib=8"}};
  std::vector<std::unique_ptr<MaskStream>> streams_;
  std::vector<StepResult> results_;
  Step step_;
  bool has_rows_ = false;
  int steps_ = 0;
  int masks_ = 0;
  std::mt19937 random_{1};  // NOLINT(cert-msc51-cpp): the same in every run
};

TEST_F(HostileClientTest, EndsItsOwnStreamsAndNothingElse) {
  Holdings before;
  for (std::uint32_t first = 0; first < kProcesses; first += kAtOnce) {
    std::list<Process> processes;
    for (std::uint32_t i = first; i < first + kAtOnce; ++i) {
      processes.emplace_back(std::vector<std::string>{HOSTILE_CLIENT, attacked_.socket(),
                                                      absl::StrCat(1 + i * kStreams),
                                                      absl::StrCat(kStreams)});
    }
    ASSERT_NO_FATAL_FAILURE(RunBeside(processes));
    if (first == 0) before = Settle();
  }
  const Holdings after = Settle();
  // Of 300 streams none has left anything behind; gRPC's own come and go.
  EXPECT_LE(after.threads, before.threads + 8);
  EXPECT_LE(after.descriptors, before.descriptors + 8);
  EXPECT_LT(after.resident_kib, before.resident_kib + (256 << 10));
  EXPECT_GT(masks_, 4 * steps_) << "however many steps there were time for";
  for (const auto& stream : streams_) EXPECT_TRUE(stream->Close(kPatience).ok());
  attacked_.Signal(SIGTERM);
  EXPECT_EQ(attacked_.Wait(), 0);
}

}  // namespace
}  // namespace maskd::hostile
