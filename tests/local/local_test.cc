// The engine of an address "local:", as C++ programs have it. tests/python runs its clients' tests
// over it, and holds its masks and errors against a server's.
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/support/byte_buffer.h"
#include "gtest/gtest.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/local_engine.h"
#include "client/cpp/client.h"
#include "local/engine.h"
#include "local/local_call.h"
#include "local/local_engines.h"
#include "service/base/log.h"
#include "tests/service/base/no_threads.h"

namespace maskd::local {
namespace {

using client::SteadyTime;
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
  return call.Write(message, message.ByteSizeLong(), SteadyTime::Now() + kPatience);
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
  EXPECT_EQ(ReadAddress("local:bytes")->tokenizers.front().path, "");
  const auto relative = ReadAddress("local:tokenizer.json,stop=</s>");
  ASSERT_TRUE(relative.ok()) << relative.status();
  EXPECT_EQ(relative->tokenizers.front().name, "tokenizer");
  EXPECT_EQ(relative->tokenizers.front().path, "tokenizer.json");
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
      call->Read(message, SteadyTime::Now() + absl::Milliseconds(5), SteadyTime::LongAgo())));
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
  ASSERT_TRUE(call->Read(message, SteadyTime::Now() + kPatience, SteadyTime::LongAgo()).ok());
  step.mutable_step()->set_step(3);  // out of order
  ASSERT_TRUE(Write(*call, step).ok());
  const absl::Status ended =
      call->Read(message, SteadyTime::Now() + kPatience, SteadyTime::LongAgo());
  EXPECT_TRUE(absl::IsAborted(ended)) << ended;
  EXPECT_EQ(Write(*call, step), ended);
  EXPECT_EQ(call->Finish(SteadyTime::Now() + kPatience), ended);
}

// A step whose grammar takes a while.
v1::DecodeRequest LongStep(std::uint64_t number) {
  v1::DecodeRequest request;
  v1::Step& step = *request.mutable_step();
  step.set_step(number);
  v1::OpenRow& open = *step.add_open();
  open.set_row(number);
  *open.mutable_grammar() = Regex(absl::StrCat("([a-z]{1,40}", number, "){1,30}"));
  step.set_wait_for_compile_ms(30'000);
  return request;
}

TEST(LocalStream, FinishedAgainItIsFinished) {
  const auto call = OpenCall();
  EXPECT_TRUE(call->Finish(SteadyTime::Now() + kPatience).ok());
  EXPECT_TRUE(call->Finish(SteadyTime::Now() + kPatience).ok());
  EXPECT_TRUE(absl::IsCancelled(Write(*call, LongStep(2))));
  grpc::ByteBuffer message;
  EXPECT_TRUE(absl::IsCancelled(call->Read(message, SteadyTime::Never(), SteadyTime::LongAgo())));
  EXPECT_TRUE(absl::IsCancelled(call->ReadUntilInterrupted(message).status()));
  const auto stream = OpenStream();
  EXPECT_TRUE(stream->Close(kPatience).ok());
  EXPECT_TRUE(stream->Close(kPatience).ok());
}

// Those that wait behind it are never begun.
TEST(LocalStream, AtTheDeadlineStepsThatAreUnderWayAreCancelled) {
  for (int i = 0; i < 5; ++i) {
    const auto call = OpenCall();
    for (std::uint64_t number = 2; number < 10; ++number)
      ASSERT_TRUE(Write(*call, LongStep(number)).ok());
    const absl::Status finished = call->Finish(i == 0 ? SteadyTime::LongAgo() : SteadyTime::Now());
    // What ended the stream is the step that was cancelled, where that was under way by then.
    EXPECT_TRUE(finished.ok() || absl::IsCancelled(finished)) << finished;
  }
}

TEST(LocalStream, RepliesComeInOrderWhoeverReads) {
  const auto call = OpenCall();
  std::thread writer([&] {
    for (std::uint64_t number = 2; number < 40; ++number) {
      v1::DecodeRequest step;
      step.mutable_step()->set_step(number);
      ASSERT_TRUE(Write(*call, number % 10 == 0 ? LongStep(number) : step).ok());
    }
  });
  writer.join();
  for (std::uint64_t number = 2; number < 40;) {
    grpc::ByteBuffer message;
    if (number % 3 == 0) {
      const auto read = call->ReadUntilInterrupted(message);
      ASSERT_TRUE(read.ok() && *read) << read.status();
    } else {
      ASSERT_TRUE(call->Read(message, SteadyTime::Never(), SteadyTime::LongAgo()).ok());
    }
    grpc::Slice bytes;
    ASSERT_TRUE(message.DumpToSingleSlice(&bytes).ok());
    v1::DecodeResponse response;
    ASSERT_TRUE(response.ParseFromArray(bytes.begin(), static_cast<int>(bytes.size())));
    EXPECT_EQ(response.step().step(), number++);
  }
  std::thread other([&] { call->Interrupt(); });
  grpc::ByteBuffer message;
  const auto read = call->ReadUntilInterrupted(message);
  other.join();
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(*read);
}

std::shared_ptr<Engine> Load() {
  service::SilenceLog();
  auto engine = Engine::Load(*ReadAddress("local:"));
  EXPECT_TRUE(engine.ok()) << engine.status();
  return *std::move(engine);
}

TEST(LocalEngine, WhatItCannotBeMadeWithIsAnErrorOfTheAddress) {
  const auto config = ReadAddress("local:a=/nonexistent/tokenizer.json");
  ASSERT_TRUE(config.ok()) << config.status();
  const absl::Status absent = Engine::Load(*config).status();
  EXPECT_TRUE(absl::IsNotFound(absent)) << absent;
  EXPECT_THAT(std::string(absent.message()), testing::StartsWith("address: local: "));
  const service::NoThreads none;
  const absl::Status no_thread = Engine::Load(*ReadAddress("local:")).status();
  EXPECT_TRUE(absl::IsResourceExhausted(no_thread)) << no_thread;
  EXPECT_THAT(std::string(no_thread.message()), testing::StartsWith("address: local: "));
}

TEST(LocalEngine, TokensOutsideTheVocabularyAreNone) {
  const auto engine = Load();
  for (const int first : {-1, 257, 1 << 30}) {
    v1::ListTokensRequest request;
    request.set_first_id(first);
    v1::ListTokensResponse response;
    const absl::Status status = engine->ListTokens(request, SteadyTime::Never(), &response);
    EXPECT_TRUE(absl::IsOutOfRange(status) || absl::IsInvalidArgument(status)) << status;
    EXPECT_EQ(response.tokens_size(), 0);
  }
  v1::GetTokenizerRequest named;
  named.set_name("another");
  v1::GetTokenizerResponse tokenizer;
  EXPECT_TRUE(absl::IsNotFound(engine->GetTokenizer(named, SteadyTime::Never(), &tokenizer)));
}

TEST(LocalEngine, AStreamKeepsIt) {
  std::unique_ptr<client::StepCall> call;
  {
    const auto engine = Load();
    v1::DecodeRequest hello;
    v1::Welcome welcome;
    EXPECT_TRUE(absl::IsInvalidArgument(engine->OpenCall(hello, &welcome).status()))
        << "no hello is none";
    hello.mutable_hello()->set_protocol_version(1);
    hello.mutable_hello()->set_logits_width(kWidth);
    call = *engine->OpenCall(hello, &welcome);
  }
  ASSERT_TRUE(Write(*call, LongStep(2)).ok());
  grpc::ByteBuffer message;
  EXPECT_TRUE(call->Read(message, SteadyTime::Now() + kPatience, SteadyTime::LongAgo()).ok());
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
