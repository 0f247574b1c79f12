// The client against a real server, with the embedded vocabulary: ids 0 to 255 are the bytes, 256
// is the end.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "client/apply/make_applier.h"
#include "client/cpp/base/errors.h"
#include "client/cpp/client.h"
#include "service/process/server.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::Duration kTimeout = absl::Seconds(20);
constexpr std::uint32_t kWidth = 320;

v1::Grammar Choice(const std::string& list) {
  v1::Grammar grammar;
  grammar.set_kind("choice");
  grammar.set_source(list);
  return grammar;
}

// The tokens that a row's mask allows.
std::vector<int> Allowed(const RowResult& row) {
  std::vector<int> allowed;
  for (int token = 0; row.has_mask() && token < static_cast<int>(kWidth); ++token) {
    const std::int32_t word = row.masks[0].words()[static_cast<std::size_t>(token / 32)];
    if ((static_cast<std::uint32_t>(word) >> (token % 32)) & 1) allowed.push_back(token);
  }
  return allowed;
}

// The parameter: whether steps go through shared memory.
class ServedClientTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    service::Config config;
    config.listen = {address()};
    config.metrics_listen.clear();
    config.drain_ms = 2000;
    auto server = service::Server::Start(config);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto client = Client::Connect({.address = address()});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    auto stream = client_->OpenStream(Options());
    ASSERT_TRUE(stream.ok()) << stream.status();
    stream_ = *std::move(stream);
    ASSERT_EQ(stream_->uses_shared_memory(), GetParam());
  }

  static StreamOptions Options() { return {.logits_width = kWidth, .shared_memory = GetParam()}; }

  [[nodiscard]] static std::string address() {
    return absl::StrCat("unix:", (std::filesystem::temp_directory_path() /
                                  absl::StrCat("maskd_served_client_test.", getpid(), ".sock"))
                                     .string());
  }

  // Submits and collects `step_`, then clears it.
  void RunStep() {
    const auto submitted = stream_->Submit(step_);
    ASSERT_TRUE(submitted.ok()) << submitted.status();
    const absl::Status collected = stream_->Collect(kTimeout, result_);
    ASSERT_TRUE(collected.ok()) << collected;
    step_.Clear();
  }

  void Open(RowId row, const std::string& choices) {
    step_.Open(row, Choice(choices)).WaitForCompile(kTimeout);
    RunStep();
  }

  void Take(RowId row, const std::vector<TokenId>& tokens) {
    step_.Take(row, tokens);
    RunStep();
  }

  // The row's answer, which must be there.
  [[nodiscard]] const RowResult& Row(RowId row) const {
    const RowResult* const found = result_.Find(row);
    if (found == nullptr) ADD_FAILURE() << "row " << row << " was not answered";
    static const RowResult kNone;
    return found == nullptr ? kNone : *found;
  }

  std::unique_ptr<service::Server> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<MaskStream> stream_;
  Step step_;
  StepResult result_;
};

INSTANTIATE_TEST_SUITE_P(Transports, ServedClientTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Memory" : "Grpc"; });

TEST_P(ServedClientTest, ARowFromItsFirstMaskToItsEnd) {
  Open(7, R"(["ab", "ac"])");
  EXPECT_EQ(Row(7).state, v1::ROW_STATE_ACTIVE);
  EXPECT_EQ(Row(7).grammar_id.size(), 64U);
  EXPECT_THAT(Allowed(Row(7)), ElementsAre('a'));
  Take(7, {'a'});
  EXPECT_THAT(Allowed(Row(7)), ElementsAre('b', 'c'));
  EXPECT_EQ(Row(7).token_count, 1U);
  EXPECT_FALSE(Row(7).may_end);
  Take(7, {'c'});
  EXPECT_THAT(Allowed(Row(7)), ElementsAre(256));
  EXPECT_TRUE(Row(7).may_end);
  Take(7, {256});
  EXPECT_EQ(Row(7).state, v1::ROW_STATE_FINISHED);
  EXPECT_FALSE(Row(7).has_mask());
  step_.Close(7);
  RunStep();
  EXPECT_THAT(result_.rows(), IsEmpty());
  EXPECT_TRUE(stream_->Close(kTimeout).ok());
}

TEST_P(ServedClientTest, RollbackForkAndReplayGiveTheSameMasks) {
  Open(1, R"(["abc", "abd", "xyz"])");
  Take(1, {'a', 'b'});
  const std::vector<int> at_ab = Allowed(Row(1));
  EXPECT_THAT(at_ab, ElementsAre('c', 'd'));
  step_.Fork(1, 2).Take(1, {}).Take(2, {});
  RunStep();
  EXPECT_EQ(Allowed(Row(2)), at_ab);
  step_.Rollback(1, 2);
  RunStep();
  EXPECT_THAT(Allowed(Row(1)), ElementsAre('a', 'x'));
  const std::vector<TokenId> replayed = {'a', 'b'};
  step_.Open(3, Choice(R"(["abc", "abd", "xyz"])"), {.tokens = replayed}).WaitForCompile(kTimeout);
  RunStep();
  EXPECT_EQ(Allowed(Row(3)), at_ab);
}

// One stream with every form and a dictionary that must replace, one with dense masks only: the
// same rows take the same tokens.
TEST_P(ServedClientTest, ShortFormsSayWhatDenseOnesSay) {
  const auto short_forms = client_->OpenStream(
      {.logits_width = kWidth, .dictionary_size = 3, .shared_memory = GetParam()});
  const auto dense = client_->OpenStream(
      {.logits_width = kWidth, .short_forms = false, .shared_memory = GetParam()});
  ASSERT_TRUE(short_forms.ok() && dense.ok());
  EXPECT_EQ((*short_forms)->welcome().dictionary_size(), 3U);
  EXPECT_EQ((*short_forms)->welcome().row_forms_size(), 6);
  EXPECT_EQ((*dense)->welcome().row_forms_size(), 2);
  v1::Grammar grammar;
  grammar.set_kind("json_schema");
  grammar.set_source(
      R"({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "n": {"type": "number"},
                         "l": {"items": {"pattern": "^[a-f]{3}$", "type": "string"}}}})");
  for (RowId row = 1; row <= 4; ++row) step_.Open(row, grammar);
  step_.WaitForCompile(kTimeout);
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same walk in every run
  std::set<MaskView::Form> seen;
  for (int i = 0; i < 150; ++i) {
    StepResult expected;
    ASSERT_TRUE((*short_forms)->Submit(step_).ok() && (*dense)->Submit(step_).ok());
    ASSERT_TRUE((*short_forms)->Collect(kTimeout, result_).ok());
    ASSERT_TRUE((*dense)->Collect(kTimeout, expected).ok());
    step_.Clear();
    for (const RowResult& row : result_.rows()) {
      ASSERT_TRUE(row.error.ok()) << row.error;
      const MaskView& mask = row.masks.front();
      const MaskView& dense_mask = expected.Find(row.row)->masks.front();
      ASSERT_TRUE(std::ranges::equal(mask.words(), dense_mask.words())) << "step " << i;
      seen.insert(mask.form());
      const std::vector<int> allowed = Allowed(row);
      if (allowed.empty()) continue;  // it has ended
      const TokenId token = allowed[random() % allowed.size()];
      step_.Take(row.row, {&token, 1});
    }
  }
  EXPECT_TRUE(seen.contains(MaskView::Form::kAllowedIds));
  EXPECT_TRUE(seen.contains(MaskView::Form::kForbiddenIds) ||
              seen.contains(MaskView::Form::kDense));
}

TEST_P(ServedClientTest, DraftsAreAnsweredPositionByPosition) {
  Open(1, R"(["abc", "abd"])");
  const std::vector<TokenId> drafts = {'a', 'b', 'x', 'c'};
  step_.Draft(1, drafts);
  RunStep();
  EXPECT_EQ(Row(1).accepted_drafts, 2U);
  ASSERT_EQ(Row(1).masks.size(), 5U);
  EXPECT_TRUE(Row(1).masks[3].invalid() && Row(1).masks[4].invalid());
  std::vector<std::int32_t> buffer(5 * 10, 77);
  const std::vector<RowId> order = {1};
  ASSERT_TRUE(
      result_.CopyPositions(order, 5, {.words = buffer.data(), .row_count = 5, .row_words = 10})
          .ok());
  EXPECT_EQ(buffer[3], 1 << ('a' % 32));
  EXPECT_EQ(buffer[10 + 3], 1 << ('b' % 32));
  EXPECT_EQ(buffer[20 + 3], 3 << ('c' % 32));
  EXPECT_EQ(buffer[30 + 3], 77) << "an invalid position is not written";
}

TEST_P(ServedClientTest, ReasoningIsFreeAndThenTheGrammarHolds) {
  v1::ReasoningGate gate;
  for (const char token : {'<', '/', '>'}) gate.add_end_tokens(token);
  gate.set_max_tokens(4);
  step_.Open(1, Choice(R"(["ab"])"), {.reasoning = &gate}).WaitForCompile(kTimeout);
  RunStep();
  EXPECT_EQ(Row(1).state, v1::ROW_STATE_FREE);
  EXPECT_FALSE(Row(1).has_mask());
  Take(1, {'h', 'm', '.', '<'});
  EXPECT_EQ(Row(1).state, v1::ROW_STATE_ACTIVE) << "the thinking budget is spent";
  EXPECT_THAT(Allowed(Row(1)), ElementsAre('/'));
  step_.WantForced(1);
  RunStep();
  EXPECT_EQ(Row(1).forced_bytes, "/>");
  EXPECT_THAT(Row(1).forced_tokens, ElementsAre('/', '>'));
  Take(1, {'/', '>'});
  EXPECT_THAT(Allowed(Row(1)), ElementsAre('a'));
}

TEST_P(ServedClientTest, ASnapshotOpensTheRowOnAnotherStream) {
  v1::ReasoningGate gate;
  gate.add_end_tokens('>');
  const std::vector<TokenId> stops = {'!'};
  step_.Open(1, Choice(R"(["ab", "ac"])"), {.stop_ids = stops, .reasoning = &gate, .min_tokens = 1})
      .WaitForCompile(kTimeout);
  RunStep();
  step_.Take(1, std::vector<TokenId>{'x', '>', 'a'}).Snapshot(1);
  RunStep();
  ASSERT_EQ(result_.snapshots().size(), 1);
  EXPECT_EQ(result_.snapshots().Get(0).tokens_size(), 3);
  const std::vector<int> allowed = Allowed(Row(1));
  step_.Open(result_.snapshots().Get(0));
  auto other = client_->OpenStream(Options());
  ASSERT_TRUE(other.ok()) << other.status();
  stream_ = *std::move(other);
  RunStep();
  EXPECT_EQ(Allowed(Row(1)), allowed);
  Take(1, {'b'});
  EXPECT_THAT(Allowed(Row(1)), ElementsAre('!'));
}

TEST_P(ServedClientTest, CompiledOnceOpenedById) {
  v1::CompileRequest request;
  *request.mutable_grammar() = Choice(R"(["q"])");
  const auto compiled = client_->Compile(request);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  step_.Open(1, compiled->grammar_id());
  RunStep();
  EXPECT_THAT(Allowed(Row(1)), ElementsAre('q'));
}

TEST_P(ServedClientTest, ARefusedTokenLeavesTheRowUsable) {
  Open(1, R"(["ab"])");
  Take(1, {'a', 'z'});
  EXPECT_EQ(Row(1).error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorReason(Row(1).error), "TOKEN_REFUSED");
  ASSERT_TRUE(Row(1).refused_token.has_value());
  EXPECT_EQ(Row(1).refused_token->index, 1U);
  EXPECT_EQ(Row(1).refused_token->id, 'z');
  EXPECT_EQ(Row(1).refused_token->text, "z");
  EXPECT_THAT(Allowed(Row(1)), ElementsAre('b'));
  Take(1, {'b'});
  EXPECT_TRUE(Row(1).error.ok()) << Row(1).error;
}

TEST_P(ServedClientTest, ABadRowIsAFieldOfThatRowAlone) {
  v1::Grammar bad;
  bad.set_kind("json_schema");
  bad.set_source(R"({"properties": {"a": {"type": "strange"}}})");
  step_.Open(1, bad).Open(2, Choice(R"(["ok"])")).Take(9, {}).WaitForCompile(kTimeout);
  RunStep();
  EXPECT_EQ(Row(1).state, v1::ROW_STATE_FAILED);
  EXPECT_EQ(ErrorPlace(Row(1).error), "/properties/a/type");
  EXPECT_THAT(Allowed(Row(2)), ElementsAre('o'));
  ASSERT_EQ(result_.rows().size(), 3U);
  bool refused = false;
  for (const RowResult& row : result_.rows())
    if (row.row == 9) refused = row.state == v1::ROW_STATE_REFUSED && absl::IsNotFound(row.error);
  EXPECT_TRUE(refused);
}

TEST_P(ServedClientTest, ASecondOpenOfARowIsRefused) {
  Open(1, R"(["ab"])");
  Open(1, R"(["cd"])");
  EXPECT_EQ(result_.Find(1), nullptr);
  ASSERT_EQ(result_.rows().size(), 1U);
  EXPECT_TRUE(absl::IsAlreadyExists(result_.rows()[0].error)) << result_.rows()[0].error;
  Take(1, {});
  EXPECT_THAT(Allowed(Row(1)), ElementsAre('a'));
}

TEST_P(ServedClientTest, AWidthBelowTheVocabularyIsRefusedAtOnce) {
  const absl::Status status = client_->OpenStream({.logits_width = 256}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorReason(status), "WIDTH_BELOW_VOCABULARY");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(" is below 257, the size of the tokenizer \"bytes\": is it the model's?"));
  EXPECT_EQ(ErrorPlace(status), "hello.logits_width");
}

TEST_P(ServedClientTest, AnotherTokenizerThanExpectedIsRefused) {
  EXPECT_TRUE(absl::IsFailedPrecondition(
      client_->OpenStream({.tokenizer_hash = "00", .logits_width = kWidth}).status()));
  EXPECT_TRUE(absl::IsNotFound(
      client_->OpenStream({.tokenizer = "gpt9", .logits_width = kWidth}).status()));
}

TEST_P(ServedClientTest, TheWelcomeSaysWhatTheTokenizerIs) {
  EXPECT_EQ(stream_->welcome().mask_words(), 10U);
  EXPECT_EQ(stream_->welcome().tokenizer().vocab_size(), 257);
  EXPECT_THAT(stream_->welcome().tokenizer().stop_ids(), ElementsAre(256));
}

TEST_P(ServedClientTest, StepsInFlightAreAnsweredInOrder) {
  Open(1, R"(["abcdef"])");
  constexpr int kTokens = 6;
  for (int i = 0; i < kTokens; ++i) {
    const TokenId token = 'a' + i;
    step_.Take(1, {&token, 1});
    ASSERT_TRUE(stream_->Submit(step_).ok());
    step_.Clear();
  }
  for (int i = 0; i < kTokens; ++i) {
    ASSERT_TRUE(stream_->Collect(kTimeout, result_).ok());
    EXPECT_THAT(Allowed(Row(1)), ElementsAre(i + 1 < kTokens ? 'b' + i : 256));
  }
}

TEST_P(ServedClientTest, MasksInTheCallersBufferAreAppliedToItsLogits) {
  step_.Open(5, Choice(R"(["Z"])")).Open(6, Choice(R"(["Q"])")).WaitForCompile(kTimeout);
  RunStep();
  const std::vector<RowId> order = {6, 5};
  std::vector<std::int32_t> masks(2 * 10);
  ASSERT_TRUE(
      result_.CopyMasks(order, {.words = masks.data(), .row_count = 2, .row_words = 10}).ok());
  std::vector<float> logits(3 * kWidth, 1.0F);
  const std::vector<MaskRow> rows = {MaskRow::Dense(0, std::span(masks).first(10)),
                                     MaskRow::Dense(2, std::span(masks).last(10))};
  const auto applier = MakeApplier("auto");
  ASSERT_TRUE(applier.ok());
  ASSERT_TRUE(
      (*applier)
          ->Apply({.vocab_size = kWidth, .rows = rows},
                  {.data = logits.data(), .row_count = 3, .width = kWidth, .row_stride = kWidth})
          .ok());
  const auto greedy = [&](int row) {
    const auto first = logits.begin() + row * kWidth;
    return std::max_element(first, first + kWidth) - first;
  };
  EXPECT_EQ(greedy(0), 'Q');
  EXPECT_EQ(greedy(1), 0);
  EXPECT_EQ(greedy(2), 'Z');
}

TEST_P(ServedClientTest, ADrainingServerSaysGoAwayAndStillAnswers) {
  Open(1, R"(["ab"])");
  std::thread drain([this] { server_->Drain(); });
  while (!stream_->go_away().has_value()) Take(1, {});
  Take(1, {'a'});
  EXPECT_THAT(Allowed(Row(1)), ElementsAre('b'));
  EXPECT_TRUE(stream_->Close(kTimeout).ok());
  drain.join();
}

TEST_P(ServedClientTest, AServerThatIsGoneEndsTheStream) {
  Open(1, R"(["ab"])");
  server_->Drain();
  server_.reset();
  step_.Take(1, {});
  const absl::Status submitted = stream_->Submit(step_).status();
  const absl::Status status = submitted.ok() ? stream_->Collect(kTimeout, result_) : submitted;
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_TRUE(absl::IsUnavailable(status) || absl::IsCancelled(status)) << status;
}

TEST_P(ServedClientTest, ManyThreadsShareOneClient) {
  std::vector<std::thread> threads;
  std::vector<std::string> ids(8);
  for (std::string& id : ids) {
    threads.emplace_back([this, &id] {
      v1::CompileRequest request;
      *request.mutable_grammar() = Choice(R"(["same"])");
      const auto compiled = client_->Compile(request);
      if (compiled.ok()) id = compiled->grammar_id();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& id : ids) EXPECT_EQ(id, ids.front());
  EXPECT_THAT(ids.front(), testing::SizeIs(64));
}

}  // namespace
}  // namespace maskd::client
