// What a FailoverStream keeps to when it moves: masks mean what they meant, and a step that ends
// servers does not go on from one to the next.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/cpp/base/errors.h"
#include "client/cpp/base/steady_time.h"
#include "client/cpp/failover/failover_stream.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint32_t kWidth = 257;
constexpr absl::Duration kTimeout = absl::Seconds(20);
constexpr TokenId kDeadly = 66;  // ends the server that is given it
constexpr RowId kLeave = 99;     // a row whose opening ends a server that may be left

// What a server is, and what it was sent.
struct ModelServer {
  std::string hash = "h1";
  int size = 257;
  std::string format = "f1";
  std::string grammar_id = "g1";
  bool is_left = false;  // ends when row kLeave is opened
  absl::Duration opens_in = absl::ZeroDuration();
  int refusals = 0;  // of openings, for load
  absl::Duration retry_after = absl::ZeroDuration();

  absl::Mutex mutex;
  std::vector<v1::Step> steps ABSL_GUARDED_BY(mutex);
  std::vector<SteadyTime> refused_at ABSL_GUARDED_BY(mutex);

  std::vector<v1::Step> Steps() {
    const absl::MutexLock lock(&mutex);
    return steps;
  }
};

void Answer(RowId row, std::uint32_t tokens, const std::string& grammar_id,
            v1::DecodeResponse& response) {
  v1::RowReply& reply = *response.mutable_step()->add_rows();
  reply.set_row(row);
  reply.set_state(v1::ROW_STATE_ACTIVE);
  reply.set_token_count(tokens);
  reply.set_grammar_id(grammar_id);
  reply.add_positions()->set_full(true);
}

bool Ends(const ModelServer& server, const v1::Step& step) {
  for (const v1::RowUpdate& update : step.rows()) {
    for (const TokenId token : update.tokens())
      if (token == kDeadly) return true;
  }
  for (const v1::OpenRow& open : step.open())
    if (server.is_left && open.row() == kLeave) return true;
  return false;
}

// Whether it refuses to open rows for load; then it says so of each.
bool Refuses(ModelServer& server, const v1::Step& step, v1::DecodeResponse& response) {
  const absl::MutexLock lock(&server.mutex);
  if (step.open().empty() || std::ssize(server.refused_at) >= server.refusals) return false;
  server.refused_at.push_back(SteadyTime::Now());
  for (const v1::OpenRow& open : step.open()) {
    v1::RowReply& reply = *response.mutable_step()->add_rows();
    reply.set_row(open.row());
    reply.set_state(v1::ROW_STATE_FAILED);
    reply.mutable_error()->set_code(8);
    reply.mutable_error()->set_reason("COMPILE_QUEUE_FULL");
    reply.mutable_error()->set_retry_after_ms(
        static_cast<std::uint32_t>(absl::ToInt64Milliseconds(server.retry_after)));
  }
  return true;
}

// Takes every token of every row that it knows.
grpc::Status Serve(ModelServer& server, ServerStream& stream) {
  v1::DecodeRequest request;
  stream.Read(&request);
  v1::DecodeResponse welcome;
  welcome.mutable_welcome()->set_mask_words((kWidth + 31) / 32);
  welcome.mutable_welcome()->set_grammar_format(server.format);
  welcome.mutable_welcome()->mutable_tokenizer()->set_name("m");
  welcome.mutable_welcome()->mutable_tokenizer()->set_hash(server.hash);
  welcome.mutable_welcome()->mutable_tokenizer()->set_vocab_size(server.size);
  stream.Write(welcome);
  absl::flat_hash_map<RowId, std::uint32_t> rows;
  while (stream.Read(&request)) {
    const v1::Step& step = request.step();
    {
      const absl::MutexLock lock(&server.mutex);
      server.steps.push_back(step);
    }
    if (Ends(server, step)) return {grpc::StatusCode::UNAVAILABLE, "killed"};
    if (step.open_size() > 0) absl::SleepFor(server.opens_in);
    v1::DecodeResponse response;
    response.mutable_step()->set_step(step.step());
    if (Refuses(server, step, response)) {
      stream.Write(response);
      continue;
    }
    for (const v1::OpenRow& open : step.open()) {
      rows[open.row()] = static_cast<std::uint32_t>(open.tokens_size());
      Answer(open.row(), rows[open.row()], server.grammar_id, response);
    }
    for (const v1::RowUpdate& update : step.rows()) {
      if (!rows.contains(update.row())) {
        v1::RowReply& refused = *response.mutable_step()->add_rows();
        refused.set_row(update.row());
        refused.set_state(v1::ROW_STATE_REFUSED);
        refused.mutable_error()->set_code(5);
        continue;
      }
      rows[update.row()] += static_cast<std::uint32_t>(update.tokens_size());
      Answer(update.row(), rows[update.row()], "", response);
    }
    stream.Write(response);
  }
  return grpc::Status::OK;
}

// Takes connections and says nothing.
class SilentServer {
 public:
  explicit SilentServer(const std::string& name)
      : path_((std::filesystem::temp_directory_path() /
               absl::StrCat("maskd_rules_test.", getpid(), name))
                  .string()),
        socket_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(socket_, 16), 0);
  }
  ~SilentServer() {
    close(socket_);
    std::filesystem::remove(path_);
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  [[nodiscard]] std::string address() const { return absl::StrCat("unix:", path_); }

 private:
  const std::string path_;
  const int socket_;
};

// Up to three servers, and a stream over them in order.
class FailoverRulesTest : public testing::Test {
 protected:
  void Open(int count, absl::Duration give_up_after = absl::Milliseconds(200),
            absl::Duration step_timeout = absl::Seconds(2)) {
    FailoverStream::Options options{.addresses = {},
                                    .in_order = true,
                                    .stream = {.logits_width = kWidth},
                                    .step_timeout = step_timeout,
                                    .give_up_after = give_up_after};
    options.stream.open_timeout = step_timeout;
    for (int i = 0; i < count; ++i) {
      Restart(i);
      options.addresses.push_back(running_[i]->address());
      if (i == 0)
        options.addresses.insert(options.addresses.end(), between_.begin(), between_.end());
    }
    auto stream = FailoverStream::Open(std::move(options));
    ASSERT_TRUE(stream.ok()) << stream.status();
    stream_ = *std::move(stream);
  }

  void Restart(int i) {
    ModelServer& server = servers_[i];
    running_[i] = std::make_unique<ScriptedServer>(
        Script{.decode = [&server](ServerStream& to) { return Serve(server, to); }},
        absl::StrCat(".", i));
  }

  absl::Status Run(Step step) {
    if (const auto sent = stream_->Submit(step); !sent.ok()) return sent.status();
    return stream_->Collect(kTimeout, result_);
  }

  void Begin() {
    v1::Grammar grammar;
    grammar.set_kind("regex");
    const absl::Status begun = Run(Step().Open(1, "g1").Open(2, grammar));
    ASSERT_TRUE(begun.ok()) << begun;
  }

  // The answer that has the row's state.
  const RowResult& Row(RowId row) {
    const RowResult* found = result_.Find(row);
    EXPECT_NE(found, nullptr) << row;
    static const RowResult none;
    return found == nullptr ? none : *found;
  }

  static Step Take(RowId row, TokenId token) {
    Step step;
    step.Take(row, {&token, 1});
    return step;
  }

  ModelServer servers_[3];
  std::vector<std::string> between_;  // addresses behind the first server's
  std::unique_ptr<ScriptedServer> running_[3];
  std::unique_ptr<FailoverStream> stream_;
  StepResult result_;
};

TEST_F(FailoverRulesTest, AServerWithAnotherVocabularyIsRefusedWithBothValues) {
  servers_[1].hash = "h2";
  servers_[1].size = 200;
  Open(2);
  ASSERT_NO_FATAL_FAILURE(Begin());
  running_[0].reset();
  const absl::Status moved = Run(Take(1, 5));
  EXPECT_TRUE(absl::IsFailedPrecondition(moved)) << moved;
  EXPECT_THAT(moved.message(),
              AllOf(HasSubstr("200 tokens and the hash h2"),
                    HasSubstr("257 tokens and the hash h1"), HasSubstr(stream_->address())));
  EXPECT_TRUE(servers_[1].Steps().empty()) << "it was sent rows";
}

TEST_F(FailoverRulesTest, TheNextAddressIsTriedBehindOneWithAnotherVocabulary) {
  servers_[1].hash = "h2";
  Open(3);
  ASSERT_NO_FATAL_FAILURE(Begin());
  running_[0].reset();
  const absl::Status moved = Run(Take(1, 5));
  ASSERT_TRUE(moved.ok()) << moved;
  EXPECT_EQ(stream_->address(), running_[2]->address());
  EXPECT_EQ(Row(1).token_count, 1U);
  EXPECT_TRUE(servers_[1].Steps().empty());
}

TEST_F(FailoverRulesTest, AGrammarWithAnotherIdOfTheSameFormatIsRefusedWithBothIds) {
  servers_[1].grammar_id = "g2";
  Open(2);
  ASSERT_NO_FATAL_FAILURE(Begin());
  running_[0].reset();
  const absl::Status moved = Run(Take(1, 5));
  EXPECT_TRUE(absl::IsFailedPrecondition(moved)) << moved;
  EXPECT_THAT(moved.message(), AllOf(HasSubstr("g1"), HasSubstr("g2")));
}

TEST_F(FailoverRulesTest, AServerWhoseIdsHaveAnotherFormatIsGivenTheTexts) {
  servers_[1].grammar_id = "g2";
  servers_[1].format = "f2";
  Open(2);
  v1::Grammar grammar;
  grammar.set_kind("regex");
  grammar.set_source("a");
  stream_->Remember("g1", grammar);
  ASSERT_NO_FATAL_FAILURE(Begin());
  running_[0].reset();
  Step step = Take(1, 5);
  step.Open(3, "g1");
  const absl::Status moved = Run(step);
  ASSERT_TRUE(moved.ok()) << moved;
  EXPECT_EQ(Row(3).state, v1::ROW_STATE_ACTIVE);
  for (const v1::Step& sent : servers_[1].Steps())
    for (const v1::OpenRow& open : sent.open()) EXPECT_TRUE(open.has_grammar()) << open.row();
  Step later;
  later.Open(4, "g1");
  ASSERT_TRUE(Run(later).ok());
  EXPECT_TRUE(servers_[1].Steps().back().open(0).has_grammar());
}

TEST_F(FailoverRulesTest, AStepUnderWhichTwoServersEndedIsNotSentToAThird) {
  Open(3);
  ASSERT_NO_FATAL_FAILURE(Begin());
  const absl::Status answered = Run(Take(1, kDeadly));
  ASSERT_TRUE(answered.ok()) << answered;
  EXPECT_EQ(Row(1).state, v1::ROW_STATE_FAILED);
  EXPECT_EQ(ErrorReason(Row(1).error), "SERVERS_ENDED");
  EXPECT_THAT(Row(1).error.message(),
              AllOf(HasSubstr(running_[0]->address()), HasSubstr(running_[1]->address())));
  EXPECT_EQ(result_.rows().size(), 1U) << "row 2 was not in the step";
  EXPECT_TRUE(servers_[2].Steps().empty());

  Step step = Take(2, 5);
  step.Close(1);
  const absl::Status going_on = Run(step);
  ASSERT_TRUE(going_on.ok()) << going_on;
  EXPECT_EQ(stream_->address(), running_[2]->address());
  EXPECT_EQ(Row(2).token_count, 1U);
  for (const v1::Step& sent : servers_[2].Steps()) {
    EXPECT_EQ(sent.close_size(), 0) << "the third server does not know the row";
    for (const v1::OpenRow& open : sent.open()) EXPECT_EQ(open.row(), 2U);
  }
  v1::Grammar grammar;
  ASSERT_TRUE(Run(Step().Open(1, grammar)).ok());
  EXPECT_EQ(Row(1).state, v1::ROW_STATE_ACTIVE) << "the id is free";
}

TEST_F(FailoverRulesTest, AllStepsThatWereInFlightAreGivenUpAndAnsweredInOrder) {
  Open(3);
  ASSERT_NO_FATAL_FAILURE(Begin());
  Step deadly = Take(1, kDeadly);
  Step behind = Take(2, 5);
  const auto first = stream_->Submit(deadly);
  const auto second = stream_->Submit(behind);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(stream_->Collect(kTimeout, result_).ok());
  EXPECT_EQ(result_.step(), *first);
  EXPECT_EQ(Row(1).state, v1::ROW_STATE_FAILED);
  ASSERT_TRUE(stream_->Collect(kTimeout, result_).ok());
  EXPECT_EQ(result_.step(), *second);
  EXPECT_EQ(Row(2).state, v1::ROW_STATE_FAILED);
  v1::Grammar grammar;
  ASSERT_TRUE(Run(Step().Open(1, grammar)).ok());
  EXPECT_EQ(result_.step(), *second + 1);
}

TEST_F(FailoverRulesTest, AStepUnderWhichOneServerEndedGoesToTheNext) {
  servers_[0].is_left = true;
  Open(3);
  ASSERT_NO_FATAL_FAILURE(Begin());
  v1::Grammar grammar;
  ASSERT_TRUE(Run(Step().Open(kLeave, grammar)).ok());
  EXPECT_EQ(Row(kLeave).state, v1::ROW_STATE_ACTIVE);
  EXPECT_EQ(stream_->address(), running_[1]->address());
}

TEST_F(FailoverRulesTest, AMoveThatTakesLongerThanACollectGoesOnWithTheNextOne) {
  servers_[1].opens_in = absl::Milliseconds(500);
  Open(2);
  ASSERT_NO_FATAL_FAILURE(Begin());
  running_[0].reset();
  Step step = Take(1, 5);
  ASSERT_TRUE(stream_->Submit(step).ok());
  absl::Status collected = absl::DeadlineExceededError("");
  int out_of_time = -1;
  for (; absl::IsDeadlineExceeded(collected) && out_of_time < 1'000; ++out_of_time)
    collected = stream_->Collect(absl::Milliseconds(20), result_);
  ASSERT_TRUE(collected.ok()) << collected;
  EXPECT_GE(out_of_time, 1);
  EXPECT_EQ(Row(1).token_count, 1U);
  EXPECT_EQ(servers_[1].Steps().size(), 2U) << "the rows are opened once";
}

// The server's own clock says whether it was asked too early.
TEST_F(FailoverRulesTest, AServerThatRefusesForLoadIsAskedAgainWhenItSaid) {
  servers_[1].refusals = 2;
  servers_[1].retry_after = absl::Milliseconds(300);
  Open(2, absl::Seconds(20));
  ASSERT_NO_FATAL_FAILURE(Begin());
  running_[0].reset();
  const absl::Status moved = Run(Take(1, 5));
  ASSERT_TRUE(moved.ok()) << moved;
  EXPECT_EQ(Row(1).token_count, 1U);
  const absl::MutexLock lock(&servers_[1].mutex);
  ASSERT_EQ(servers_[1].refused_at.size(), 2U);
  EXPECT_GE(servers_[1].refused_at[1] - servers_[1].refused_at[0], servers_[1].retry_after);
}

// Each of the silent ones would be given longer than the whole search has.
TEST_F(FailoverRulesTest, SilentServersAreNotWaitedForInTurn) {
  std::vector<std::unique_ptr<SilentServer>> zone;
  for (int i = 0; i < 8; ++i) {
    zone.push_back(std::make_unique<SilentServer>(absl::StrCat(".silent", i)));
    between_.push_back(zone.back()->address());
  }
  Open(2, absl::Seconds(20), absl::Minutes(1));
  ASSERT_NO_FATAL_FAILURE(Begin());
  running_[0].reset();
  const absl::Status moved = Run(Take(1, 5));
  ASSERT_TRUE(moved.ok()) << moved;
  EXPECT_EQ(stream_->address(), running_[1]->address());
  EXPECT_EQ(Row(1).token_count, 1U);
}

TEST_F(FailoverRulesTest, SubmittingWaitsForNoServer) {
  Open(2);
  ASSERT_NO_FATAL_FAILURE(Begin());
  running_[0].reset();
  running_[1].reset();
  for (int i = 0; i < 3; ++i) {
    Step step = Take(1, 5);
    ASSERT_TRUE(stream_->Submit(step).ok());
  }
  EXPECT_EQ(stream_->moves(), 0) << "Collect() looks for a server";
  EXPECT_TRUE(absl::IsUnavailable(stream_->Collect(kTimeout, result_)));
  EXPECT_EQ(stream_->in_flight(), 3);
}

TEST(FailoverSpreadTest, StreamsBeginAtDifferentServersUnlessToldNotTo) {
  ModelServer server;
  const Script script = {.decode = [&server](ServerStream& to) { return Serve(server, to); }};
  const ScriptedServer first(script, ".first");
  const ScriptedServer second(script, ".second");
  for (const bool in_order : {false, true}) {
    std::set<std::string> used;
    for (int i = 0; i < 40; ++i) {
      auto stream = FailoverStream::Open({.addresses = {first.address(), second.address()},
                                          .in_order = in_order,
                                          .stream = {.logits_width = kWidth}});
      ASSERT_TRUE(stream.ok()) << stream.status();
      used.insert((*stream)->address());
    }
    EXPECT_EQ(used.size(), in_order ? 1U : 2U);
  }
}

}  // namespace
}  // namespace maskd::client
