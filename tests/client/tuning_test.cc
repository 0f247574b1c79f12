// Temperatures and biases of rows, from the step that opens them to the logits, against a real
// server with the embedded vocabulary: ids 0 to 255 are the bytes, 256 is the end.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "client/apply/make_applier.h"
#include "client/cpp/base/errors.h"
#include "client/cpp/client.h"
#include "client/cpp/steps/target_rows.h"
#include "service/process/server.h"

namespace maskd::client {

bool operator==(const LogitBias& a, const LogitBias& b) { return a.id == b.id && a.bias == b.bias; }

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr absl::Duration kTimeout = absl::Seconds(20);
constexpr std::uint32_t kWidth = 320;
constexpr std::int64_t kVocab = 257;

v1::Grammar GrammarOf(const std::string& kind, const std::string& source) {
  v1::Grammar grammar;
  grammar.set_kind(kind);
  grammar.set_source(source);
  return grammar;
}

class TuningTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string address = absl::StrCat(
        "unix:",
        (std::filesystem::temp_directory_path() / absl::StrCat("maskd_tuning.", getpid(), ".sock"))
            .string());
    service::Config config;
    config.listen = {address};
    config.metrics_listen.clear();
    auto server = service::Server::Start(config);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto client = Client::Connect({.address = address});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    OpenStream(/*wanted=*/true);
  }

  void OpenStream(bool wanted) {
    auto stream = client_->OpenStream(
        {.logits_width = kWidth, .want_temperature = wanted, .want_bias = wanted});
    ASSERT_TRUE(stream.ok()) << stream.status();
    stream_ = *std::move(stream);
  }

  void RunStep() {
    step_.WaitForCompile(kTimeout);
    ASSERT_TRUE(stream_->Submit(step_).ok());
    const absl::Status collected = stream_->Collect(kTimeout, result_);
    ASSERT_TRUE(collected.ok()) << collected;
    step_.Clear();
  }

  std::unique_ptr<service::Server> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<MaskStream> stream_;
  Step step_;
  StepResult result_;
};

TEST_F(TuningTest, PositionsCarryWhatTheRowWasOpenedWith) {
  const std::vector<LogitBias> biases = {{'b', -2.5F}, {'a', 1.5F}};
  step_.Open(1, GrammarOf("regex", "[ab]c*"), {.temperature = 0.25F, .biases = biases});
  const std::vector<TokenId> drafts = {'a', 'c'};
  step_.Draft(1, drafts);
  RunStep();
  const RowResult& row = *result_.Find(1);
  ASSERT_EQ(row.masks.size(), 3U);
  EXPECT_THAT(row.masks[0].biases(), ElementsAre(LogitBias{'a', 1.5F}, LogitBias{'b', -2.5F}))
      << "ascending, as masks are";
  for (const MaskView& mask : row.masks) EXPECT_EQ(mask.temperature(), 0.25F);
  EXPECT_THAT(row.masks[1].biases(), IsEmpty()) << "neither token is allowed there";
}

TEST_F(TuningTest, WhatIsNotMaskedIsNotTuned) {
  v1::ReasoningGate gate;
  gate.add_end_tokens('#');
  step_.Open(1, GrammarOf("choice", R"(["a"])"),
             {.reasoning = &gate, .temperature = 0.5F, .biases = {}});
  const std::vector<TokenId> drafts = {'#', 'a', 256};
  step_.Draft(1, drafts);
  RunStep();
  const RowResult& row = *result_.Find(1);
  ASSERT_EQ(row.masks.size(), 4U);
  EXPECT_EQ(row.masks[0].temperature(), std::nullopt) << "reasoning";
  EXPECT_EQ(row.masks[1].temperature(), 0.5F);
  EXPECT_EQ(row.masks[2].temperature(), 0.5F);
  EXPECT_EQ(row.masks[3].temperature(), std::nullopt) << "finished";
}

TEST_F(TuningTest, AGrammarsOwnTemperatureGivesWayToTheRows) {
  const v1::Grammar lark = GrammarOf("lark", "start[temperature=0.7]: /[ab]+/");
  const v1::Grammar ebnf = GrammarOf("ebnf", "root[temperature=0] ::= \"a\"");
  step_.Open(1, lark).Open(2, lark, {.temperature = 2.0F}).Open(3, ebnf);
  RunStep();
  EXPECT_EQ(result_.Find(1)->masks[0].temperature(), 0.7F);
  EXPECT_EQ(result_.Find(2)->masks[0].temperature(), 2.0F);
  EXPECT_EQ(result_.Find(3)->masks[0].temperature(), 0.0F);
}

TEST_F(TuningTest, ForksAndSnapshotsKeepThem) {
  const std::vector<LogitBias> biases = {{'a', 1.0F}};
  step_.Open(1, GrammarOf("regex", "[ab]+"), {.temperature = 0.5F, .biases = biases});
  RunStep();
  step_.Fork(1, 2).Take(2, {}).Snapshot(1);
  RunStep();
  EXPECT_EQ(result_.Find(2)->masks[0].temperature(), 0.5F);
  EXPECT_THAT(result_.Find(2)->masks[0].biases(), ElementsAre(LogitBias{'a', 1.0F}));
  const v1::OpenRow snapshot = result_.snapshots()[0];
  OpenStream(/*wanted=*/true);
  step_.Open(snapshot);
  RunStep();
  EXPECT_EQ(result_.Find(1)->masks[0].temperature(), 0.5F);
  EXPECT_THAT(result_.Find(1)->masks[0].biases(), ElementsAre(LogitBias{'a', 1.0F}));
}

TEST_F(TuningTest, AStreamThatDidNotAskGetsNone) {
  OpenStream(/*wanted=*/false);
  const std::vector<LogitBias> biases = {{'a', 1.0F}};
  const v1::Grammar lark = GrammarOf("lark", "start[temperature=0.7]: /[ab]+/");
  step_.Open(1, lark).Open(2, lark, {.temperature = 2.0F}).Open(3, lark, {.biases = biases});
  RunStep();
  EXPECT_EQ(result_.Find(1)->masks[0].temperature(), std::nullopt);
  for (const RowId row : {2, 3}) {
    EXPECT_EQ(result_.Find(row)->state, v1::ROW_STATE_FAILED);
    EXPECT_EQ(ErrorReason(result_.Find(row)->error), "NOT_ASKED_FOR");
  }
  EXPECT_EQ(ErrorPlace(result_.Find(2)->error), "temperature");
  EXPECT_EQ(ErrorPlace(result_.Find(3)->error), "biases");
}

// Logits that stay are tuned, all others are minus infinity: by hand.
TEST_F(TuningTest, TheApplierDoesWhatThePositionSays) {
  const std::vector<LogitBias> biases = {{'a', 3.0F}, {'z', 100.0F}};
  step_.Open(1, GrammarOf("regex", "[a-d]+"), {.temperature = 0.5F, .biases = biases});
  RunStep();
  std::vector<float> logits(kWidth, 1.25F);
  const std::vector<MaskTarget> targets = {{.row = 1, .logits_row = 0}};
  std::vector<MaskRow> rows;
  ASSERT_TRUE(TargetRows(result_, targets, kVocab, rows).ok());
  const auto applier = MakeApplier("cpu");
  ASSERT_TRUE(applier.ok());
  const Logits plane{.data = logits.data(), .row_count = 1, .width = kWidth, .row_stride = kWidth};
  ASSERT_TRUE((*applier)->Apply({.vocab_size = kVocab, .rows = rows}, plane).ok());
  for (int token = 0; token < static_cast<int>(kWidth); ++token) {
    float expected = -std::numeric_limits<float>::infinity();
    if (token >= 'a' && token <= 'd') expected = token == 'a' ? 8.5F : 2.5F;
    EXPECT_EQ(logits[static_cast<std::size_t>(token)], expected) << token;
  }
}

TEST_F(TuningTest, TargetsWithoutAMaskAreNamed) {
  step_.Open(1, GrammarOf("choice", R"(["ab"])"));
  const std::vector<TokenId> drafts = {'x'};
  step_.Draft(1, drafts);
  RunStep();
  std::vector<MaskRow> rows;
  const auto find = [&](const MaskTarget& target) {
    const std::vector<MaskTarget> targets = {target};
    return std::string(TargetRows(result_, targets, kVocab, rows).message());
  };
  EXPECT_EQ(find({.row = 2}), "row 2: has no answer in this step");
  EXPECT_EQ(find({.row = 1, .position = 5}), "row 1: has no mask at position 5");
  EXPECT_EQ(find({.row = 1, .position = 1}),
            "row 1: position 1 comes after a draft that was refused");
}

struct RefusedTuning {
  const char* name;
  std::function<void(v1::OpenRow*)> fill;
  const char* place;
};

void AddBias(v1::OpenRow* open, int id, float bias) {
  open->add_biases()->set_id(id);
  open->mutable_biases(open->biases_size() - 1)->set_bias(bias);
}

class RefusedTuningTest : public TuningTest, public testing::WithParamInterface<RefusedTuning> {};

TEST_P(RefusedTuningTest, IsAnErrorOfItsRow) {
  v1::OpenRow open;
  open.set_row(1);
  *open.mutable_grammar() = GrammarOf("choice", R"(["ab"])");
  GetParam().fill(&open);
  step_.Open(open).Open(2, open.grammar());
  RunStep();
  EXPECT_EQ(result_.Find(1)->state, v1::ROW_STATE_FAILED);
  EXPECT_EQ(ErrorPlace(result_.Find(1)->error), GetParam().place) << result_.Find(1)->error;
  EXPECT_EQ(result_.Find(2)->state, v1::ROW_STATE_ACTIVE);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

INSTANTIATE_TEST_SUITE_P(
    Fields, RefusedTuningTest,
    testing::ValuesIn(std::vector<RefusedTuning>{
        {"Negative", [](v1::OpenRow* open) { open->set_temperature(-1); }, "temperature"},
        {"Infinite", [](v1::OpenRow* open) { open->set_temperature(kInfinity); }, "temperature"},
        {"NoNumber", [](v1::OpenRow* open) { open->set_temperature(kNan); }, "temperature"},
        {"BiasNoNumber", [](v1::OpenRow* open) { AddBias(open, 1, kNan); }, "biases[0].bias"},
        {"BiasInfinite", [](v1::OpenRow* open) { AddBias(open, 1, -kInfinity); }, "biases[0].bias"},
        {"BiasOfNoToken", [](v1::OpenRow* open) { AddBias(open, 257, 1); }, "biases"},
        {"BiasBelowTokens", [](v1::OpenRow* open) { AddBias(open, -1, 1); }, "biases"},
        {"BiasTwice",
         [](v1::OpenRow* open) {
           AddBias(open, 1, 1);
           AddBias(open, 1, 1);
         },
         "biases"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd::client
