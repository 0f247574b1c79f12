// What a server that keeps to no rule, and dies, can do to a stream that may leave it for a good
// one: it costs time. The stream ends with an error, or goes on at the good server with the masks
// of the tokens that its replies have said to be taken.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "client/cpp/client.h"
#include "client/cpp/failover/failover_stream.h"
#include "tests/client/server_program.h"
#include "tests/hostile/process.h"

namespace maskd::hostile {
namespace {

using client::FailoverStream;
using client::MaskView;
using client::RowId;
using client::RowResult;
using client::Step;
using client::StepResult;
using client::TokenId;

constexpr std::uint32_t kProcesses = 25;
constexpr std::uint32_t kStreams = 4;  // of a process
constexpr std::uint32_t kWidth = 257;
constexpr std::size_t kWords = 9;
constexpr RowId kRows = 4;
constexpr int kSteps = 16;
constexpr std::int32_t kUntouched = 0x5eed;
// Of each call. One that does not keep it is ended with the test, by ctest.
constexpr absl::Duration kTimeout = absl::Seconds(20);

class HostileFailoverTest : public testing::Test {
 protected:
  HostileFailoverTest()
      : socket_((std::filesystem::temp_directory_path() /
                 absl::StrCat("maskd_hostile_failover.", getpid(), ".sock"))
                    .string()) {
    grammar_.set_kind("regex");
    grammar_.set_source("(abc)*");
  }
  ~HostileFailoverTest() override { std::filesystem::remove(socket_); }

  void SetUp() override { ASSERT_TRUE(good_.Start(kTimeout)); }

  void Use(std::uint32_t seed) {
    std::filesystem::remove(socket_);
    const Process bad({HOSTILE_SERVER, socket_, absl::StrCat(seed), absl::StrCat(kStreams)});
    for (int i = 0; i < 10'000 && !std::filesystem::exists(socket_); ++i)
      absl::SleepFor(absl::Milliseconds(1));
    random_.seed(seed);
    taken_.clear();
    auto stream = FailoverStream::Open({.addresses = {"unix:" + socket_, good_.address()},
                                        .in_order = true,
                                        .stream = {.logits_width = kWidth,
                                                   .dictionary_size = 16,
                                                   .read_ahead = seed % 2 == 0,
                                                   .shared_memory = true},
                                        .step_timeout = absl::Milliseconds(300),
                                        .give_up_after = absl::Seconds(10),
                                        .compile_timeout = absl::Seconds(1)});
    if (stream.ok()) Drive(**stream);
    ++(stream.ok() ? opened_ : refused_);
  }

  void Drive(FailoverStream& stream) {
    absl::Status status;
    for (int i = 0; i < kSteps && status.ok(); ++i) {
      Step step = i == 0 ? Opens() : Moves();
      status = Run(stream, step);
      if (status.ok()) Book(step);
      if (status.ok() && stream.address() != good_.address()) ++answered_by_bad_;
    }
    if (!status.ok()) {
      ++failed_;
    } else if (stream.address() == good_.address()) {
      ++gone_on_;
      ASSERT_NO_FATAL_FAILURE(Compare());
    }
    stream.Close(absl::Milliseconds(100)).IgnoreError();
  }

  absl::Status Run(FailoverStream& stream, Step& step) {
    if (const auto sent = stream.Submit(step); !sent.ok()) return sent.status();
    absl::Status collected = stream.Collect(kTimeout, result_);
    if (collected.ok()) Copy();
    return collected;
  }

  Step Opens() {
    Step step;
    for (RowId row = 1; row <= kRows; ++row) step.Open(row, grammar_);
    step.WaitForCompile(absl::Seconds(1));
    return step;
  }

  // A token of each row's text; here and there one is taken back.
  Step Moves() {
    Step step;
    for (const auto& [row, tokens] : taken_) {
      if (!tokens.empty() && random_() % 20 == 0) {
        step.Rollback(row, 1);
      } else {
        const TokenId token = "abc"[tokens.size() % 3];
        step.Take(row, {&token, 1});
      }
    }
    return step;
  }

  // What the reply says of each row's tokens.
  void Book(const Step& step) {
    std::map<RowId, std::vector<TokenId>> sent;
    for (const v1::RowUpdate& update : step.message().step().rows())
      sent[update.row()].assign(update.tokens().begin(), update.tokens().end());
    for (const RowResult& row : result_.rows()) {
      if (row.state == v1::ROW_STATE_REFUSED || row.row < 1 || row.row > kRows) continue;
      if (!step.message().step().open().empty()) taken_.try_emplace(row.row);
      const auto booked = taken_.find(row.row);
      if (booked == taken_.end() || row.masks.empty()) continue;
      std::vector<TokenId>& tokens = booked->second;
      tokens.insert(tokens.end(), sent[row.row].begin(), sent[row.row].end());
      ASSERT_LE(row.token_count, tokens.size());
      tokens.resize(row.token_count);
    }
  }

  // The masks of a stream that was never elsewhere.
  void Compare() {
    auto client = client::Client::Connect({.address = good_.address()});
    ASSERT_TRUE(client.ok()) << client.status();
    auto plain = (*client)->OpenStream({.logits_width = kWidth});
    ASSERT_TRUE(plain.ok()) << plain.status();
    Step step;
    for (const auto& [row, tokens] : taken_) step.Open(row, grammar_, {.tokens = tokens});
    step.WaitForCompile(kTimeout);
    ASSERT_TRUE((*plain)->Submit(step).ok());
    StepResult expected;
    ASSERT_TRUE((*plain)->Collect(kTimeout, expected).ok());
    for (const RowResult& row : expected.rows()) {
      const RowResult* const ours = result_.Find(row.row);
      ASSERT_TRUE(ours != nullptr && !ours->masks.empty()) << row.row;
      EXPECT_EQ(ours->token_count, row.token_count) << row.row;
      EXPECT_TRUE(std::ranges::equal(ours->masks[0].words(), row.masks[0].words())) << row.row;
      ++compared_;
    }
  }

  // Copies every mask and looks beside it.
  void Copy() {
    for (const RowResult& row : result_.rows()) {
      for (const MaskView& mask : row.masks) {
        if (mask.full() || mask.invalid()) continue;
        ASSERT_EQ(mask.words().size(), kWords);
      }
      std::vector<std::int32_t> words(kWords + 2, kUntouched);
      const RowId id = row.row;
      result_.CopyMasks({&id, 1}, {words.data() + 1, 1, kWords}).IgnoreError();
      ASSERT_EQ(words.front(), kUntouched);
      ASSERT_EQ(words.back(), kUntouched);
    }
  }

  const std::string socket_;
  client::ServerProgram good_{MASKD_BINARY, "good", {"--heap_mib=8"}};
  v1::Grammar grammar_;
  std::mt19937 random_;
  StepResult result_;
  std::map<RowId, std::vector<TokenId>> taken_;  // by each row that is open
  int opened_ = 0;
  int refused_ = 0;
  int failed_ = 0;
  int gone_on_ = 0;
  int compared_ = 0;
  int answered_by_bad_ = 0;  // steps
};

TEST_F(HostileFailoverTest, RowsEndWithAnErrorOrGoOnAtTheGoodServer) {
  for (std::uint32_t process = 0; process < kProcesses; ++process)
    ASSERT_NO_FATAL_FAILURE(Use(1 + process * kStreams)) << process;
  RecordProperty("opened", opened_);
  RecordProperty("refused", refused_);
  RecordProperty("failed", failed_);
  RecordProperty("gone_on", gone_on_);
  RecordProperty("rows_compared", compared_);
  RecordProperty("steps_answered_by_bad", answered_by_bad_);
  EXPECT_GT(gone_on_, static_cast<int>(kProcesses) / 2);
  EXPECT_GT(compared_, 0);
  EXPECT_GT(answered_by_bad_, 0) << "its lies are believed now and then";
}

}  // namespace
}  // namespace maskd::hostile
