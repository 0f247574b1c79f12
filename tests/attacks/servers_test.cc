// Cases of a server: what an operation comes to, the schemas they name, and both against a real
// server behind a socket.
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "tests/e2e/running_server.h"
#include "tools/attack/servers/conversation.h"
#include "tools/attack/servers/outcome.h"
#include "tools/attack/servers/schemas.h"
#include "tools/attack/servers/server_cases.h"
#include "tools/attack/servers/wire_cases.h"
#include "tools/attack/targets/bystander.h"
#include "tools/attack/targets/row_stream.h"
#include "tools/attack/targets/server_access.h"
#include "tools/attack/targets/service_target.h"
#include "tools/attack/targets/unary_calls.h"

namespace maskd::attack {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Outcome OfRow(absl::Status status) {
  Outcome outcome(std::move(status));
  outcome.is_of_a_row = true;
  return outcome;
}

Outcome Closed() {
  Outcome outcome;
  outcome.is_closed = true;
  return outcome;
}

struct Judged {
  const char* name;
  Outcome outcome;
  json step;
  std::vector<std::string> codes;
  bool is_right;
};

class OutcomeTest : public testing::TestWithParam<Judged> {};

TEST_P(OutcomeTest, IsJudged) {
  const std::string fault = JudgeOutcome(GetParam().outcome, GetParam().step, GetParam().codes);
  EXPECT_EQ(fault.empty(), GetParam().is_right) << fault;
}

INSTANTIATE_TEST_SUITE_P(
    Outcomes, OutcomeTest,
    testing::ValuesIn(std::vector<Judged>{
        {"SuccessUnasked", {}, json::object(), {}, true},
        {"FailureUnasked", absl::NotFoundError("x"), json::object(), {}, false},
        {"Success", {}, {{"want", "OK"}}, {}, true},
        {"FailureForSuccess", absl::NotFoundError("x"), {{"want", "OK"}}, {"NOT_FOUND"}, false},
        {"ItsCode", absl::NotFoundError("x"), {{"want", "NOT_FOUND"}}, {}, true},
        {"OtherCode", absl::AbortedError("x"), {{"want", "NOT_FOUND"}}, {}, false},
        {"ACodeOfTheCase", absl::AbortedError("x"), {{"want", "NOT_FOUND"}}, {"ABORTED"}, true},
        {"EitherOfTwo", absl::AbortedError("x"), {{"want", "NOT_FOUND_OR_ABORTED"}}, {}, true},
        {"Refused", absl::UnimplementedError("x"), {{"want", "REFUSED"}}, {}, true},
        {"InternalIsNoRefusal", absl::InternalError("x"), {{"want", "REFUSED"}}, {}, false},
        {"SuccessForARefusal", {}, {{"want", "REFUSED"}}, {"OK"}, false},
        {"OfARow", OfRow(absl::AbortedError("x")), {{"want", "ROW_ABORTED"}}, {}, true},
        {"OfTheStream", absl::AbortedError("x"), {{"want", "ROW_ABORTED"}}, {"ABORTED"}, false},
        {"ClosedIsWanted", Closed(), {{"want", "CLOSED"}}, {}, true},
        {"OpenStill", {}, {{"want", "CLOSED"}}, {}, false},
        {"AFaultWhateverIsWanted", Outcome::Fault("bad"), {{"want", "OK"}}, {}, false},
        {"ALongMessage",
         absl::NotFoundError(std::string(5000, 'x')),
         {{"want", "NOT_FOUND"}},
         {},
         false},
    }),
    [](const auto& test) { return test.param.name; });

// FNV-1a as its authors give it for 32 bits.
std::uint32_t Fnv(const std::string& text) {
  std::uint32_t value = 0x811C9DC5;
  for (const char byte : text) value = (value ^ static_cast<unsigned char>(byte)) * 0x01000193;
  return value;
}

TEST(Schemas, NamesCollide) {
  Schemas schemas;
  const json object = json::parse(schemas.Text("@colliding_keys_50").value());
  std::set<std::uint32_t> values;
  for (const auto& [name, schema] : object["properties"].items()) values.insert(Fnv(name));
  EXPECT_EQ(object["properties"].size(), 50U) << "each name once";
  EXPECT_EQ(values.size(), 1U);
}

TEST(Schemas, SameAndUniqueTexts) {
  Schemas schemas;
  const auto text = [&](const char* name) { return schemas.Text(name).value(); };
  const std::string same = text("@same");
  EXPECT_EQ(text("@same"), same);
  EXPECT_NE(text("@unique_small"), text("@unique_small"));
  EXPECT_NE(text("@slow_unique"), text("@slow_unique"));
  EXPECT_EQ(text("@slow"), text("@slow"));
  schemas.BeginCase();
  EXPECT_NE(text("@same"), same);
  EXPECT_NE(Schemas().Text("@same").value(), text("@same")) << "another run";
  for (const char* name : {"@same", "@unique_small", "@slow", "@poison"})
    EXPECT_TRUE(json::accept(text(name))) << name;
  EXPECT_FALSE(json::accept(text("@huge_invalid_1MB")));
  EXPECT_EQ(text("{}"), "{}");
}

TEST(Schemas, AnUnknownNameIsToldOnce) {
  Schemas schemas;
  EXPECT_TRUE(absl::IsUnimplemented(schemas.Text("@nothing").status()));
  EXPECT_TRUE(schemas.TakeUnknown());
  EXPECT_FALSE(schemas.TakeUnknown());
}

class AttackedServerTest : public testing::Test {
 protected:
  AttackedServerTest()
      : access_({.address = server_.address()}), target_(*ServiceTarget::Connect(access_)) {}

  // What is wrong with the operations at the server.
  CaseResult RunSteps(const json& steps, ServerCases::Times times = ServerCases::Times::kHeld) {
    AttackCase attack;
    attack.id = "x";
    attack.format = "service";
    attack.steps = steps;
    CaseResult result;
    ServerCases(access_, target_.get(), times).Run(attack, &result);
    return result;
  }

  service::RunningServer server_;
  const ServerAccess access_;
  const std::unique_ptr<ServiceTarget> target_;
};

TEST_F(AttackedServerTest, RightAnswersPassAndOthersAreFaults) {
  const json open = {{"op", "open"}, {"session", "s"}, {"schema", R"({"type":"boolean"})"}};
  const json step = {{"op", "step"}, {"session", "s"}, {"seq", 1}, {"want", "OK"}};
  json again = open;
  again["want"] = "ALREADY_EXISTS";
  EXPECT_THAT(RunSteps({open, again, step}).faults, IsEmpty());
  again["want"] = "OK";
  EXPECT_THAT(RunSteps({open, again, step}).faults, ElementsAre(HasSubstr("open: wants OK")));
  EXPECT_THAT(RunSteps({{{"op", "health"}, {"want", "SERVING"}}}).faults, IsEmpty());
}

TEST_F(AttackedServerTest, HealthIsWaitedForWhereTimesAreNotHeld) {
  // Over before it begins: what is 0 ms away is sometimes met.
  const json steps = {{{"op", "health"}, {"want", "SERVING"}, {"within_ms", -1000}}};
  EXPECT_EQ(RunSteps(steps, ServerCases::Times::kHeld).faults.size(), 1U);
  EXPECT_TRUE(RunSteps(steps, ServerCases::Times::kWaited).faults.empty());
}

TEST_F(AttackedServerTest, WhatCannotBeSeenOrIsNotKnownIsNoPass) {
  EXPECT_THAT(RunSteps({{{"op", "jump"}}}).missing_operations, ElementsAre("jump"));
  EXPECT_NE(RunSteps({{{"op", "memory_below"}, {"mib", 1}}}).absent, "");
  EXPECT_THAT(RunSteps({{{"op", "batch_step"}, {"rows", {"*"}}}}).faults,
              ElementsAre(HasSubstr("there are no rows")));
  EXPECT_THAT(RunSteps({{{"op", "batch_step"}, {"rows", json::array()}}}).faults,
              ElementsAre(HasSubstr("there are no rows")));
}

TEST_F(AttackedServerTest, RawMessagesAreAnswered) {
  WireCases wire(access_, target_->tokens().size);
  EXPECT_TRUE(
      absl::IsInvalidArgument(wire.Run({{"op", "raw_message"}, {"nested_groups", 200}}).status));
  EXPECT_FALSE(wire.Run({{"op", "raw_message"}}).is_known);
  EXPECT_FALSE(wire.Run({{"op", "jump"}}).is_known);
  EXPECT_TRUE(wire.Run({{"op", "tcp_connect_silent"}, {"n", 3}}).status.ok());
  wire.CloseConnections();
  server_.ExpectServes();
}

TEST_F(AttackedServerTest, ARowOverTheWireTakesWhatItsMasksAllow) {
  const auto grammar = target_->Compile("choice", R"(["ab"])");
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  const std::unique_ptr<Row> row = (*grammar)->Open().value();
  const MaskWords first = row->Mask().value();
  for (TokenId id = 0; id < target_->tokens().size; ++id) EXPECT_EQ(Allows(first, id), id == 'a');
  std::int64_t taken = 0;
  EXPECT_FALSE(row->Take(std::vector<TokenId>{'a', 'c'}, &taken).ok());
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(row->token_count(), 1);
  const std::unique_ptr<Row> fork = row->Fork().value();
  EXPECT_TRUE(row->Rollback(1).ok());
  EXPECT_EQ(row->Mask().value(), first);
  EXPECT_TRUE(Allows(fork->Mask().value(), 'b')) << "a fork stays where it is";
  EXPECT_FALSE(row->Rollback(5).ok());
  EXPECT_FALSE(row->TakeNoToken(-1).ok());
  EXPECT_TRUE(row->Write({}).ok());
  EXPECT_FALSE(row->Write({.more_words = -1'000'000}).ok());
  EXPECT_FALSE(row->Write({.row = 1}).ok());
  const auto refused = target_->Compile("regex", "(");
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  EXPECT_FALSE(target_->ReasonOf(refused.status()).empty());
}

TEST_F(AttackedServerTest, RowsThatAreGoneAreClosed) {
  const auto compiled = target_->client().Compile([] {
    v1::CompileRequest request;
    *request.mutable_grammar() = service::GrammarOf("choice", R"(["ab"])");
    return request;
  }());
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto stream = RowStream::Open(target_->client(), "", target_->tokens().size);
  ASSERT_TRUE(stream.ok()) << stream.status();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE((*stream)->OpenRow(compiled->grammar_id()).ok());
    EXPECT_TRUE((*stream)->CloseRows());
  }
  EXPECT_TRUE(absl::IsNotFound((*stream)->OpenRow(std::string(64, '0')).status()));
}

TEST_F(AttackedServerTest, ABystanderSeesOneMask) {
  const auto bystander = Bystander::Start(access_);
  ASSERT_TRUE(bystander.ok()) << bystander.status();
  std::vector<double> times;
  while (times.size() < 3)
    for (const double ms : (*bystander)->TakeTimes()) times.push_back(ms);
  EXPECT_EQ((*bystander)->TakeFault(), "");
  EXPECT_FALSE(Bystander::Start({.address = "unix:/nowhere/at/all"}).ok());
}

TEST_F(AttackedServerTest, CallsSayWhatBecameOfThem) {
  EXPECT_TRUE(CheckHealth(access_.address, "", absl::Seconds(30)).ok());
  EXPECT_TRUE(absl::IsNotFound(CheckHealth(access_.address, "nobody", absl::Seconds(30))));
  EXPECT_TRUE(absl::IsUnimplemented(Call(access_.address, {.method = "/no.Service/Name"})));
  v1::CompileRequest request;
  *request.mutable_grammar() = service::GrammarOf("choice", R"(["ab"])");
  v1::CompileResponse response;
  EXPECT_TRUE(Compile(access_.address, request, {}, &response).ok());
  EXPECT_EQ(response.grammar_id().size(), 64U);
  std::int64_t asked = 0;
  const auto many = CompileMany(access_.address, {.count = 7, .window = 3, .request = [&] {
                                                    ++asked;
                                                    return request;
                                                  }});
  EXPECT_EQ(asked, 7);
  ASSERT_EQ(many.size(), 7U);
  for (const absl::Status& status : many) EXPECT_TRUE(status.ok()) << status;
}

TEST_F(AttackedServerTest, AConversationSaysWhatItIsGiven) {
  Conversation conversation(access_.address);
  v1::Hello hello;
  hello.set_logits_width(static_cast<std::uint32_t>(target_->tokens().size));
  const auto welcome = conversation.Greet(hello);
  ASSERT_TRUE(welcome.ok()) << welcome.status();
  v1::Step step = service::OpeningStep(service::OpenOf(9, "choice", R"(["ab"])"));
  step.set_step(1);
  const auto reply = conversation.Run(step);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->rows_size(), 1);
  EXPECT_EQ(reply->rows(0).row(), 9U);
  conversation.EndSending();
  EXPECT_TRUE(conversation.ReadToEnd().ok());

  Conversation silent(access_.address);
  EXPECT_FALSE(silent.Run(step).ok()) << "a step before any hello";
}

}  // namespace
}  // namespace maskd::attack
