// A step that takes long, beside others.

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "service/sequences/row_counts.h"
#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

// Long beside a plain step, and far from the streams' deadline: under AddressSanitizer each mask
// takes some thirty times as long.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kLongRows = 10;
#else
constexpr int kLongRows = 20;
#endif
constexpr int kDrafts = 300;

// Rows of distinct strings, whose masks depend on all that they hold.
v1::Step Opening() {
  v1::Step step;
  step.set_wait_for_compile_ms(10'000);
  for (int row = 1; row <= kLongRows; ++row) {
    *step.add_open() = OpenOf(static_cast<std::uint64_t>(row), "json_schema",
                              R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})");
  }
  return step;
}

// So many guessed tokens for each of them: ["a0","a1",...
v1::Step Guessing() {
  std::string guessed = "[";
  for (int i = 0; std::ssize(guessed) < kDrafts; ++i) guessed += "\"a" + std::to_string(i) + "\",";
  v1::Step step;
  for (int row = 1; row <= kLongRows; ++row) {
    v1::RowUpdate& update = *step.add_rows();
    update.set_row(static_cast<std::uint64_t>(row));
    for (const char byte : guessed) update.mutable_drafts()->add_tokens(byte);
  }
  return step;
}

v1::DecodeRequest Numbered(v1::Step step, std::uint64_t number) {
  v1::DecodeRequest request;
  *request.mutable_step() = std::move(step);
  request.mutable_step()->set_step(number);
  return request;
}

// The second of two long steps is taken up when the first one's answer comes: from there on to its
// own answer another stream's steps are answered.
TEST(LongStepTest, OtherStreamsGoOnBesideIt) {
  const RunningServer running;
  TestStream slow(running.channel());
  slow.Greet();
  slow.Run(Opening());
  TestStream plain(ConnectTo(running.address()));
  plain.Greet();
  plain.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
  std::atomic<int> answers = 0;
  const std::uint64_t first = slow.last_step() + 1;
  ASSERT_TRUE(slow.Send(Numbered(Guessing(), first)));
  ASSERT_TRUE(slow.Send(Numbered(Guessing(), first + 1)));
  std::thread reader([&] {
    v1::DecodeResponse response;
    while (answers < 2 && slow.Read(&response)) ++answers;
  });
  int beside = 0;
  v1::Step step;
  step.add_rows()->set_row(1);
  while (answers < 2) {
    EXPECT_EQ(plain.Run(step).rows(0).state(), v1::ROW_STATE_ACTIVE);
    if (answers == 1) ++beside;
  }
  reader.join();
  EXPECT_GE(beside, 5) << "steps of the other stream while the long one ran";
}

// Another thread frees them, and the client hears of the end behind that.
TEST(LongStepTest, TheRowsOfAStreamAreGoneBeforeItsEndIsTold) {
  const RunningServer running;
  const std::int64_t before = LiveRowBytes();
  TestStream stream(running.channel());
  stream.Greet();
  stream.Run(Opening());
  stream.Run(Guessing());
  EXPECT_GT(LiveRowBytes(), before);
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_EQ(LiveRowBytes(), before);
}

// Tokens of a message that is too large to be read beside other streams.
constexpr int kManyTokens = 100'000;

// It is read by another thread, and answered as if it had been short.
TEST(LongStepTest, ALargeMessageIsAnsweredInItsOrder) {
  const RunningServer running;
  TestStream stream(running.channel());
  stream.Greet();
  stream.Run(OpeningStep(OpenOf(1, "regex", "[a-z]*")));
  v1::Step large;
  large.add_rows()->set_row(1);
  for (int i = 0; i < kManyTokens; ++i) large.mutable_rows(0)->add_tokens('a' + i % 26);
  v1::Step small;
  small.add_rows()->set_row(1);
  small.mutable_rows(0)->add_tokens('b');
  const std::uint64_t first = stream.last_step() + 1;
  ASSERT_TRUE(stream.Send(Numbered(large, first)));
  ASSERT_TRUE(stream.Send(Numbered(small, first + 1)));
  for (int i = 0; i < 2; ++i) {
    v1::DecodeResponse response;
    ASSERT_TRUE(stream.Read(&response));
    EXPECT_EQ(response.step().step(), first + i);
    ASSERT_EQ(response.step().rows_size(), 1);
    EXPECT_EQ(response.step().rows(0).state(), v1::ROW_STATE_ACTIVE);
    EXPECT_EQ(response.step().rows(0).token_count(), kManyTokens + i);
  }
  EXPECT_TRUE(stream.Finish().ok());
}

// Messages so large that a second thread looks for events, too.
TEST(LongStepTest, AnswersAreTheSameWhileTwoThreadsLookForEvents) {
  constexpr int kRows = 4;
  constexpr int kSteps = 5;
  const RunningServer running;
  TestStream large(running.channel());
  large.Greet();
  for (std::uint64_t row = 1; row <= kRows; ++row)
    large.Run(OpeningStep(OpenOf(row, "regex", "[a-z]*")));
  v1::Step step;
  for (int row = 1; row <= kRows; ++row) {
    step.add_rows()->set_row(static_cast<std::uint64_t>(row));
    for (int i = 0; i < kManyTokens; ++i) step.mutable_rows(row - 1)->add_tokens('a' + i % 26);
  }
  TestStream plain(ConnectTo(running.address()));
  plain.Greet();
  plain.Run(OpeningStep(OpenOf(1, "regex", "(ab)*")));
  std::atomic<int> answered = 0;
  std::jthread sender([&] {
    for (int i = 0; i < kSteps; ++i, ++answered) {
      const v1::StepReply result = large.Run(step);
      EXPECT_EQ(result.rows_size(), kRows);
      for (const v1::RowReply& row : result.rows())
        EXPECT_EQ(row.token_count(), (i + 1) * kManyTokens);
    }
  });
  std::uint32_t tokens = 0;
  for (; answered < kSteps; ++tokens) {
    v1::Step next;
    next.add_rows()->set_row(1);
    next.mutable_rows(0)->add_tokens(tokens % 2 == 0 ? 'a' : 'b');
    const v1::StepReply result = plain.Run(next);
    ASSERT_EQ(result.rows_size(), 1);
    EXPECT_EQ(result.rows(0).token_count(), tokens + 1);
  }
  sender.join();
  EXPECT_GT(tokens, 0);
  EXPECT_TRUE(large.Finish().ok());
  EXPECT_TRUE(plain.Finish().ok());
}

// A large message that is refused ends its stream as a short one does, and no other.
TEST(LongStepTest, ALargeMessageThatIsWrongEndsItsStream) {
  const RunningServer running;
  TestStream plain(running.channel());
  plain.Greet();
  plain.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
  const auto refused = [&](int tokens) {
    TestStream stream(running.channel());
    stream.Greet();
    v1::Step step;
    step.add_rows()->set_row(1);
    for (int i = 0; i < tokens; ++i) step.mutable_rows(0)->add_tokens('a');
    EXPECT_TRUE(stream.Send(Numbered(step, 0)));  // steps are numbered from 1
    return stream.Finish();
  };
  const grpc::Status of_short = refused(1);
  const grpc::Status of_large = refused(kManyTokens);
  EXPECT_EQ(of_short.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(of_large.error_code(), of_short.error_code());
  EXPECT_EQ(of_large.error_message(), of_short.error_message());
  ExpectServes(running.channel());
  v1::Step step;
  step.add_rows()->set_row(1);
  EXPECT_EQ(plain.Run(step).rows(0).state(), v1::ROW_STATE_ACTIVE);
}

}  // namespace
}  // namespace maskd::service
