// What a stream keeps to that goes where there are fewer: nothing is lost on the way, and a server
// that does not take the rows is left for the old one.
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "client/cpp/failover/failover_stream.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

constexpr std::uint32_t kWidth = 257;
constexpr absl::Duration kTimeout = absl::Seconds(20);

// What a server says, and what it was sent.
struct Place {
  std::string hash = "h1";
  grpc::StatusCode compiles = grpc::StatusCode::OK;
  std::atomic<bool> is_silent = false;  // where rows are opened
  std::atomic<std::uint32_t> streams = 0;

  absl::Mutex mutex;
  std::vector<v1::Step> steps ABSL_GUARDED_BY(mutex);
  int compiled ABSL_GUARDED_BY(mutex) = 0;

  std::vector<v1::Step> Steps() {
    const absl::MutexLock lock(&mutex);
    return steps;
  }
  int Compiled() {
    const absl::MutexLock lock(&mutex);
    return compiled;
  }
};

void Say(RowId row, std::uint32_t tokens, v1::StepReply* step) {
  v1::RowReply& reply = *step->add_rows();
  reply.set_row(row);
  reply.set_state(v1::ROW_STATE_ACTIVE);
  reply.set_token_count(tokens);
  reply.set_grammar_id("g1");
  reply.add_positions()->set_full(true);
}

grpc::Status Decode(Place& place, ServerStream& stream) {
  v1::DecodeRequest request;
  stream.Read(&request);
  v1::DecodeResponse said;
  v1::Welcome& welcome = *said.mutable_welcome();
  welcome.set_mask_words((kWidth + 31) / 32);
  welcome.mutable_tokenizer()->set_hash(place.hash);
  welcome.mutable_tokenizer()->set_vocab_size(kWidth);
  welcome.set_stream_number(7);
  welcome.set_open_streams(1);
  stream.Write(said);
  absl::flat_hash_map<RowId, std::uint32_t> rows;
  while (stream.Read(&request)) {
    const v1::Step& step = request.step();
    {
      const absl::MutexLock lock(&place.mutex);
      place.steps.push_back(step);
    }
    if (place.is_silent && step.open_size() > 0) continue;
    v1::DecodeResponse response;
    response.mutable_step()->set_step(step.step());
    for (const v1::OpenRow& open : step.open()) {
      rows[open.row()] = static_cast<std::uint32_t>(open.tokens_size());
      Say(open.row(), rows[open.row()], response.mutable_step());
    }
    for (const v1::RowUpdate& update : step.rows()) {
      rows[update.row()] += static_cast<std::uint32_t>(update.tokens_size());
      Say(update.row(), rows[update.row()], response.mutable_step());
    }
    stream.Write(response);
  }
  return grpc::Status::OK;
}

// A stream at the first of two servers, which has five streams too many as soon as Crowd() is
// called.
class SpreadRulesTest : public testing::Test {
 protected:
  void SetUp() override {
    Run(2);
    places_[1].streams = 5;
    Open();
    ASSERT_EQ(stream_->address(), running_[0]->address()) << "where there are fewer";
  }

  void Run(int servers) {
    for (int i = 0; i < servers; ++i) {
      Place& place = places_.emplace_back();
      running_.push_back(std::make_unique<ScriptedServer>(
          Script{.compile = [&place](const auto& /*request*/, auto& response) -> grpc::Status {
                   const absl::MutexLock lock(&place.mutex);
                   ++place.compiled;
                   response.set_grammar_id("g1");
                   return {place.compiles, ""};
                 },
                 .decode = [&place](ServerStream& to) { return Decode(place, to); },
                 .get_load =
                     [&place](const auto& request, auto& response) {
                       response.set_open_streams(place.streams);
                       if (request.stream_number() == 7) response.set_rank(place.streams);
                       return grpc::Status::OK;
                     }},
          absl::StrCat(".spread", i)));
    }
  }
  void Open() {
    std::vector<std::string> addresses;
    for (const auto& server : running_) addresses.push_back(server->address());
    auto stream = FailoverStream::Open({.addresses = addresses,
                                        .stream = {.logits_width = kWidth},
                                        .look_every = absl::Milliseconds(100)});
    ASSERT_TRUE(stream.ok()) << stream.status();
    stream_ = *std::move(stream);
    v1::Grammar grammar;
    grammar.set_kind("regex");
    step_.Open(1, grammar).Open(2, "g1");
  }

  // From now on the stream is to go.
  void Crowd() {
    places_[0].streams = 6;
    places_[1].streams = 1;
  }

  // A step in which row 1 takes a token.
  void RunStep() {
    ASSERT_TRUE(stream_->Submit(step_).ok());
    StepResult result;
    const absl::Status collected = stream_->Collect(kTimeout, result);
    ASSERT_TRUE(collected.ok()) << collected;
    ASSERT_EQ(result.Find(1)->token_count, taken_) << "no token is lost or taken twice";
    const TokenId token = 5;
    step_.Clear();
    step_.Take(1, {&token, 1});
    ++taken_;
    absl::SleepFor(absl::Milliseconds(1));
  }
  template <typename Condition>
  void RunUntil(Condition condition) {
    for (int i = 0; i < 10'000 && !condition(); ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
    ASSERT_TRUE(condition());
  }
  void ExpectItStays() {
    ASSERT_NO_FATAL_FAILURE(RunStep());
    EXPECT_EQ(stream_->moves(), 0);
    EXPECT_EQ(stream_->address(), running_[0]->address());
  }

  std::deque<Place> places_;
  std::vector<std::unique_ptr<ScriptedServer>> running_;
  std::unique_ptr<FailoverStream> stream_;
  Step step_;
  std::uint32_t taken_ = 0;
};

TEST_F(SpreadRulesTest, ItGoesWithItsRowsAndTheirTokens) {
  for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
  EXPECT_TRUE(places_[1].Steps().empty());
  Crowd();
  ASSERT_NO_FATAL_FAILURE(RunUntil([this] { return stream_->moves() == 1; }));
  EXPECT_EQ(stream_->address(), running_[1]->address());
  const v1::Step replay = places_[1].Steps().front();
  ASSERT_EQ(replay.open_size(), 2);
  EXPECT_GE(replay.open(0).tokens_size(), 4);
  EXPECT_EQ(places_[1].Compiled(), 1) << "one grammar, once";
  for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
}

TEST_F(SpreadRulesTest, AServerThatDoesNotTakeTheRowsIsLeftForTheOldOne) {
  ASSERT_NO_FATAL_FAILURE(RunStep());
  places_[1].is_silent = true;
  Crowd();
  ASSERT_NO_FATAL_FAILURE(RunUntil([this] { return !places_[1].Steps().empty(); }));
  for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
  ExpectItStays();
}

TEST_F(SpreadRulesTest, AServerWithAnotherVocabularyIsSentNoRows) {
  ASSERT_NO_FATAL_FAILURE(RunStep());
  places_[1].hash = "h2";
  Crowd();
  ASSERT_NO_FATAL_FAILURE(RunUntil([this] { return places_[1].Compiled() > 0; }));
  for (int i = 0; i < 300; ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
  EXPECT_TRUE(places_[1].Steps().empty());
  ExpectItStays();
}

TEST_F(SpreadRulesTest, AServerThatLacksAGrammarIsSentNoRows) {
  ASSERT_NO_FATAL_FAILURE(RunStep());
  places_[1].compiles = grpc::StatusCode::NOT_FOUND;
  Crowd();
  ASSERT_NO_FATAL_FAILURE(RunUntil([this] { return places_[1].Compiled() > 0; }));
  for (int i = 0; i < 300; ++i) ASSERT_NO_FATAL_FAILURE(RunStep());
  EXPECT_TRUE(places_[1].Steps().empty());
  EXPECT_EQ(places_[1].Compiled(), 1) << "it is left alone for a while";
  ExpectItStays();
}

// More servers than are asked in one look.
class SpreadOverManyTest : public SpreadRulesTest {
 protected:
  void SetUp() override {
    Run(16);
    Open();
  }
};

TEST_F(SpreadOverManyTest, TheServersThatWereAskedAreAskedAgainBeforeItGoes) {
  ASSERT_NO_FATAL_FAILURE(RunStep());
  for (std::size_t i = 0; i < places_.size(); ++i)
    places_[i].streams = running_[i]->address() == stream_->address() ? 6 : 1;
  ASSERT_NO_FATAL_FAILURE(RunUntil([this] { return stream_->moves() == 1; }));
  int compiled = 0;
  for (Place& place : places_) compiled += place.Compiled();
  EXPECT_EQ(compiled, 1) << "no server was prepared in vain";
}

}  // namespace
}  // namespace maskd::client
