// The engine of an address "local:", as C++ programs have it. tests/python runs its clients' tests
// over it, and holds its masks and errors against a server's.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/support/byte_buffer.h"
#include "gtest/gtest.h"

#include "client/cpp/client.h"
#include "client/cpp/local_engine.h"
#include "local/local_engines.h"

namespace maskd::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kWidth = 320;
constexpr absl::Duration kPatience = absl::Seconds(30);

v1::Grammar Regex(const std::string& source) {
  v1::Grammar grammar;
  grammar.set_kind("regex");
  grammar.set_source(source);
  return grammar;
}

std::unique_ptr<client::Client> Connect() {
  Enable();
  auto client = client::Client::Connect({.address = "local:"});
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

std::unique_ptr<client::MaskStream> OpenStream() {
  auto stream = Connect()->OpenStream({.logits_width = kWidth});
  EXPECT_TRUE(stream.ok()) << stream.status();
  return *std::move(stream);
}

// A call of its own, past its hello.
std::unique_ptr<client::StepCall> OpenCall() {
  Enable();
  v1::DecodeRequest hello;
  hello.mutable_hello()->set_protocol_version(1);
  hello.mutable_hello()->set_logits_width(kWidth);
  v1::Welcome welcome;
  const auto engine = client::FindLocalEngine("local:");
  EXPECT_TRUE(engine.ok()) << engine.status();
  auto call = (*engine)->OpenCall(hello, &welcome);
  EXPECT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(welcome.mask_words(), 10);
  return *std::move(call);
}

absl::Status Write(client::StepCall& call, const v1::DecodeRequest& message) {
  return call.Write(message, message.ByteSizeLong(), absl::Now() + kPatience);
}

TEST(LocalAddress, IsWhatTheFlagTokenizerTakesSeveralTimes) {
  const auto config =
      ReadAddress("local:a=/models/a.json,stop=</s>;/models/b/tokenizer.model;/models/c.gguf");
  ASSERT_TRUE(config.ok()) << config.status();
  std::vector<std::string> names;
  for (const VocabularySource& each : config->tokenizers)
    names.push_back(absl::StrCat(each.name, " ", each.path));
  EXPECT_THAT(names, ElementsAre("a /models/a.json", "tokenizer /models/b/tokenizer.model",
                                 "c /models/c.gguf"));
  EXPECT_THAT(config->tokenizers[0].stop_tokens, ElementsAre("</s>"));
  EXPECT_TRUE(ReadAddress("local:")->tokenizers.empty());
}

TEST(LocalAddress, ErrorsBeginWithTheAddress) {
  Enable();
  const auto wrong = client::Client::Connect({.address = "local:a=/x,colour=red"});
  EXPECT_TRUE(absl::IsInvalidArgument(wrong.status()));
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("address: local: \"colour=red\""));
  const auto missing = client::Client::Connect({.address = "local:/nowhere/tokenizer.json"});
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("address: local: tokenizer: "));
}

TEST(LocalStream, GivesMasksInOrderOfItsSteps) {
  const auto stream = OpenStream();
  EXPECT_STREQ(stream->transport(), "local");
  client::Step step;
  step.Open(1, Regex("[ab]c")).WaitForCompile(kPatience);
  ASSERT_TRUE(stream->Submit(step).ok());
  step.Clear();
  const client::TokenId token = 'a';
  step.Take(1, {&token, 1});
  ASSERT_TRUE(stream->Submit(step).ok());  // while the first may still compile
  client::StepResult result;
  ASSERT_TRUE(stream->Collect(kPatience, result).ok());
  EXPECT_TRUE(result.Find(1)->masks.front().Allows('b', kWidth));
  ASSERT_TRUE(stream->Collect(kPatience, result).ok());
  EXPECT_TRUE(result.Find(1)->masks.front().Allows('c', kWidth));
  EXPECT_FALSE(result.Find(1)->masks.front().Allows('b', kWidth));
  EXPECT_TRUE(stream->Close(kPatience).ok());
}

TEST(LocalStream, AReplyThatIsNotThereIsADeadline) {
  const auto call = OpenCall();
  grpc::ByteBuffer message;
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      call->Read(message, absl::Now() + absl::Milliseconds(5), absl::UnixEpoch())));
  call->Interrupt();
  const auto read = call->ReadUntilInterrupted(message);
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(*read);
}

TEST(LocalStream, AnErrorOfTheStreamIsItsEnd) {
  const auto call = OpenCall();
  v1::DecodeRequest step;
  step.mutable_step()->set_step(7);
  ASSERT_TRUE(Write(*call, step).ok());
  grpc::ByteBuffer message;
  ASSERT_TRUE(call->Read(message, absl::Now() + kPatience, absl::UnixEpoch()).ok());
  step.mutable_step()->set_step(3);  // out of order
  ASSERT_TRUE(Write(*call, step).ok());
  const absl::Status ended = call->Read(message, absl::Now() + kPatience, absl::UnixEpoch());
  EXPECT_TRUE(absl::IsAborted(ended)) << ended;
  EXPECT_EQ(Write(*call, step), ended);
  EXPECT_EQ(call->Finish(absl::Now() + kPatience), ended);
}

TEST(LocalStream, MayGoWhileItsStepCompiles) {
  const auto client = Connect();
  for (int i = 0; i < 20; ++i) {
    auto stream = client->OpenStream({.logits_width = kWidth});
    ASSERT_TRUE(stream.ok());
    client::Step step;
    step.Open(1, Regex(absl::StrCat("([a-z]{1,40}", i, "){1,30}"))).WaitForCompile(kPatience);
    ASSERT_TRUE((*stream)->Submit(step).ok());
  }
}

}  // namespace
}  // namespace maskd::local
