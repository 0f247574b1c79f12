// The steps of a stream that go through shared memory, with a client in this process and no gRPC.
#include "service/calls/memory_stream.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include <gtest/gtest.h>

#include "maskd/v1/mask_service.pb.h"
#include "service/base/log.h"
#include "service/streams/stream_terms.h"
#include "tests/service/config/nothing_ahead.h"

namespace maskd::service {
namespace {

constexpr ring::RingSizes kSizes = {.to_server = 4096, .to_client = 4096};
constexpr std::size_t kMaxStep = 1 << 20;

class MemoryStreamTest : public testing::Test {
 protected:
  MemoryStreamTest()
      : tokenizers_(*TokenizerStore::Load({}, 1 << 20)), grammars_(NothingAhead(), nullptr) {
    SilenceLog();
    host_.grammars = &grammars_;
    Hello hello;
    hello.logits_width = tokenizers_->all()[0].vocabulary().size();
    exchange_.emplace(host_, *AgreeOnTerms(hello, tokenizers_, host_.limits));
    ring::SharedMemory memory = *ring::SharedMemory::Create(kSizes);
    client_.emplace(*ring::SharedMemory::Map(memory.TakeFd(), kSizes), ring::Side::kClient,
                    std::size_t{64} << 20);
    stream_ = std::make_unique<MemoryStream>(std::move(memory), StandbyThread::Start(), kMaxStep,
                                             absl::ZeroDuration(), &*exchange_, &offers_, [this] {
                                               ended_ = true;
                                               ended_.notify_all();
                                             });
  }

  // The next step, which opens `opens` rows and waits for their compiles.
  std::string NextStep(int opens) {
    v1::DecodeRequest request;
    v1::Step& step = *request.mutable_step();
    step.set_step(++sent_);
    step.set_wait_for_compile_ms(60'000);
    for (int i = 0; i < opens; ++i) {
      v1::OpenRow& open = *step.add_open();
      open.set_row(static_cast<std::uint64_t>(next_row_++));
      open.mutable_grammar()->set_kind("choice");
      open.mutable_grammar()->set_source(R"(["yes","no"])");
    }
    return request.SerializeAsString();
  }

  // All of it, or what there is room for.
  void Send(const std::string& message) {
    client_->StartWrite(message);
    for (auto sent = client_->ContinueWrite(); !*sent; sent = client_->ContinueWrite())
      ASSERT_TRUE(client_->Sleep(ring::kRoom, absl::Milliseconds(100)).ok());
  }

  v1::StepReply Read() {
    v1::DecodeResponse response;
    for (;;) {
      const auto message = client_->TryRead();
      EXPECT_TRUE(message.ok()) << message.status();
      if (!message.ok()) return {};
      if (message->has_value()) {
        EXPECT_TRUE(
            response.ParseFromArray((*message)->data(), static_cast<int>((*message)->size())));
        return response.step();
      }
      EXPECT_TRUE(client_->Sleep(ring::kBytes, absl::Milliseconds(100)).ok());
    }
  }

  absl::Status End() {
    ended_.wait(false);
    return stream_->status();
  }

  const TokenizerStorePtr tokenizers_;
  GrammarStore grammars_;
  StreamHost host_;
  std::optional<StepExchange> exchange_;
  MemoryOffers offers_;
  std::optional<ring::Channel> client_;
  std::atomic<bool> ended_ = false;
  std::uint64_t sent_ = 0;
  int next_row_ = 0;
  std::unique_ptr<MemoryStream> stream_;  // last: its thread uses all of the above
};

TEST_F(MemoryStreamTest, StepsAreAnsweredInOrderAndCountAsActivity) {
  std::int64_t before = stream_->activity();
  for (int i = 1; i <= 5; ++i) {
    Send(NextStep(1));
    const v1::StepReply reply = Read();
    EXPECT_EQ(reply.step(), static_cast<std::uint64_t>(i));
    ASSERT_EQ(reply.rows_size(), 1);
    EXPECT_FALSE(reply.rows(0).has_error()) << reply.rows(0).error().message();
    EXPECT_GT(stream_->activity(), before);
    before = stream_->activity();
  }
  stream_->HalfClose();
  EXPECT_TRUE(End().ok()) << stream_->status();
}

TEST_F(MemoryStreamTest, WhatCameBeforeTheHalfCloseIsAnswered) {
  Send(NextStep(1));
  Send(NextStep(1));
  stream_->HalfClose();
  stream_->HalfClose();
  EXPECT_TRUE(End().ok()) << stream_->status();
  EXPECT_EQ(Read().step(), 1U);
  EXPECT_EQ(Read().step(), 2U);
}

// Its reply is larger than the ring, so it goes as the client makes room, or not at all.
TEST_F(MemoryStreamTest, AReplyThatNobodyReadsIsLeftWhenItIsStopped) {
  Send(NextStep(500));
  const std::int64_t before = stream_->activity();
  while (!client_->StayAwake(ring::kBytes, absl::Milliseconds(100))) {
  }
  EXPECT_FALSE(ended_);
  EXPECT_LE(stream_->activity(), before + 1) << "it is not answered yet";
  stream_->HalfClose();  // which does not end what is being sent
  stream_->Stop();
  EXPECT_TRUE(absl::IsCancelled(End())) << stream_->status();
}

TEST_F(MemoryStreamTest, ALargeReplyGoesInPieces) {
  Send(NextStep(500));
  EXPECT_EQ(Read().rows_size(), 500);
  stream_->HalfClose();
  EXPECT_TRUE(End().ok()) << stream_->status();
}

TEST_F(MemoryStreamTest, AWrongStepIsItsEnd) {
  ++sent_;
  Send(NextStep(1));
  EXPECT_EQ(Read().step(), 2U) << "the first number may be any";
  sent_ += 5;
  Send(NextStep(1));
  EXPECT_TRUE(absl::IsAborted(End())) << stream_->status();
}

TEST_F(MemoryStreamTest, AMessageThatIsTooLargeIsItsEnd) {
  const std::string large(kMaxStep + 1, 'x');
  client_->StartWrite(large);
  (void)client_->ContinueWrite();
  EXPECT_TRUE(absl::IsResourceExhausted(End())) << stream_->status();
}

TEST_F(MemoryStreamTest, ItsEndStopsIt) {
  Send(NextStep(500));  // which may be read, applied, answered, sent: wherever it is
  stream_ = nullptr;
  EXPECT_TRUE(ended_);
}

}  // namespace
}  // namespace maskd::service
