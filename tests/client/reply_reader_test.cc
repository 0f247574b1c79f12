// Replies read from their bytes: every field, in any order and writing that the wire allows.
#include "client/cpp/steps/reply_reader.h"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"
#include "grpcpp/support/slice.h"
#include "gtest/gtest.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;

v1::Welcome MakeWelcome() {
  v1::Welcome welcome;
  welcome.set_mask_words(2);
  welcome.mutable_tokenizer()->set_vocab_size(64);
  welcome.set_dictionary_size(1);
  return welcome;
}

v1::DecodeResponse Parse(const std::string& text) {
  v1::DecodeResponse response;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &response)) << text;
  return response;
}

absl::Status ReadBytes(const std::string& bytes, ServerMessage& message) {
  return ReplyReader(MakeWelcome()).Read(bytes, message);
}

constexpr char kEverything[] =
    "step {step: 300 rows {row: 1000 state: ROW_STATE_ACTIVE token_count: 5 may_end: true "
    "grammar_id: 'the id' accepted_drafts: 0 forced_bytes: 'ab' forced_tokens: [7, 300] "
    "forced_draft: [7, 300, 1] positions {allowed_ids {ids: [3, 63]} temperature: 0.5 "
    "biases {id: 3 bias: -1.5}} positions {invalid: true}} "
    "rows {row: 2 state: ROW_STATE_REFUSED error {code: 3 reason: 'R' message: 'm' place: 'p' "
    "token {index: 4 id: 5 text: 'x'}}} snapshots {row: 9 grammar_id: 'g' tokens: [1, 2]}}";

TEST(ReplyReader, ReadsEveryField) {
  ServerMessage message;
  ASSERT_TRUE(ReadBytes(Parse(kEverything).SerializeAsString(), message).ok());
  EXPECT_TRUE(message.has_step);
  EXPECT_FALSE(message.go_away.has_value());
  const StepResult& result = message.result;
  EXPECT_EQ(result.step(), 300U);
  ASSERT_EQ(result.rows().size(), 2U);
  const RowResult& row = result.rows()[0];
  EXPECT_EQ(row.row, 1000U);
  EXPECT_EQ(row.state, v1::ROW_STATE_ACTIVE);
  EXPECT_EQ(row.token_count, 5U);
  EXPECT_TRUE(row.may_end);
  EXPECT_EQ(row.grammar_id, "the id");
  EXPECT_EQ(row.accepted_drafts, 0U);
  EXPECT_EQ(row.forced_bytes, "ab");
  EXPECT_THAT(row.forced_tokens, ElementsAre(7, 300));
  EXPECT_THAT(row.forced_draft, ElementsAre(7, 300, 1));
  ASSERT_EQ(row.masks.size(), 2U);
  EXPECT_THAT(row.masks[0].words(), ElementsAre(8, -2147483647 - 1));
  EXPECT_EQ(row.masks[0].temperature(), 0.5F);
  EXPECT_EQ(row.masks[0].biases()[0].bias, -1.5F);
  EXPECT_TRUE(row.masks[1].invalid());
  EXPECT_EQ(result.rows()[1].error.message(), "m");
  EXPECT_EQ(result.rows()[1].refused_token->text, "x");
  ASSERT_EQ(result.snapshots().size(), 1);
  EXPECT_THAT(result.snapshots()[0].tokens(), ElementsAre(1, 2));
}

TEST(ReplyReader, AResultUsedAgainHasNothingOfBefore) {
  ServerMessage message;
  ASSERT_TRUE(ReadBytes(Parse(kEverything).SerializeAsString(), message).ok());
  ASSERT_TRUE(ReadBytes(Parse("step {rows {}}").SerializeAsString(), message).ok());
  EXPECT_EQ(message.result.step(), 0U);
  ASSERT_EQ(message.result.rows().size(), 1U);
  EXPECT_TRUE(message.result.rows()[0].masks.empty());
  EXPECT_TRUE(message.result.snapshots().empty());
}

TEST(ReplyReader, AResultThatMovesShowsWhatItShowed) {
  ServerMessage message;
  ASSERT_TRUE(ReadBytes(Parse(kEverything).SerializeAsString(), message).ok());
  const StepResult moved = std::move(message.result);
  EXPECT_EQ(moved.rows()[0].grammar_id, "the id");
  EXPECT_THAT(moved.rows()[0].forced_tokens, ElementsAre(7, 300));
  EXPECT_THAT(moved.rows()[0].masks[0].ids(), ElementsAre(3, 63));
  EXPECT_THAT(moved.rows()[0].masks[0].words(), ElementsAre(8, -2147483647 - 1));
}

TEST(ReplyReader, GoAwayIsNoStep) {
  ServerMessage message;
  ASSERT_TRUE(
      ReadBytes(Parse("go_away {reason: 'r' deadline_ms: 7}").SerializeAsString(), message).ok());
  EXPECT_FALSE(message.has_step);
  EXPECT_EQ(message.go_away->deadline_ms(), 7U);
}

// Fields of a later version are skipped, wherever they stand.
TEST(ReplyReader, UnknownFieldsAreSkipped) {
  v1::DecodeResponse response = Parse("step {rows {row: 4 positions {full: true}}}");
  v1::RowReply& row = *response.mutable_step()->mutable_rows(0);
  for (google::protobuf::Message* const with : std::initializer_list<google::protobuf::Message*>{
           &response, response.mutable_step(), &row, row.mutable_positions(0)}) {
    auto& unknown = *with->GetReflection()->MutableUnknownFields(with);
    unknown.AddVarint(99, 1);
    unknown.AddLengthDelimited(100, "bytes");
    unknown.AddFixed64(101, 5);
  }
  ServerMessage message;
  ASSERT_TRUE(ReadBytes(response.SerializeAsString(), message).ok());
  EXPECT_TRUE(message.result.rows()[0].masks[0].full());
}

// The same list as one packed field and as a field for each of its numbers.
TEST(ReplyReader, ListsMayComeUnpacked) {
  // step { rows { positions { allowed_ids { ids: 3 ids: 5 } } } }
  const std::string ids = {0x08, 3, 0x08, 5};
  const std::string position = std::string{0x22, static_cast<char>(ids.size())} + ids;
  const std::string row = std::string{0x1A, static_cast<char>(position.size())} + position;
  const std::string step = std::string{0x12, static_cast<char>(row.size())} + row;
  ServerMessage message;
  ASSERT_TRUE(ReadBytes(std::string{0x12, static_cast<char>(step.size())} + step, message).ok());
  EXPECT_THAT(message.result.rows()[0].masks[0].ids(), ElementsAre(3, 5));
}

// gRPC hands out long messages in pieces, cut anywhere.
TEST(ReplyReader, PiecesAreReadAsOne) {
  const std::string bytes = Parse(kEverything).SerializeAsString();
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    const grpc::Slice slices[] = {grpc::Slice(bytes.substr(0, cut)),
                                  grpc::Slice(bytes.substr(cut))};
    grpc::ByteBuffer buffer(slices, 2);
    ServerMessage message;
    ASSERT_TRUE(ReplyReader(MakeWelcome()).Read(buffer, message).ok()) << cut;
    EXPECT_EQ(message.result.rows()[0].grammar_id, "the id");
    EXPECT_THAT(message.result.rows()[0].masks[0].ids(), ElementsAre(3, 63));
  }
}

TEST(ReplyReader, WhatIsCutOffIsInternal) {
  const std::string bytes = Parse(kEverything).SerializeAsString();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    ServerMessage message;
    EXPECT_TRUE(absl::IsInternal(ReadBytes(bytes.substr(0, size), message))) << size;
  }
}

// Nothing that a server sends may hurt: an error or a result, and no access beyond the bytes.
TEST(ReplyReader, ChangedBytesAreReadOrRefused) {
  const std::string bytes = Parse(kEverything).SerializeAsString();
  const google::protobuf::LogSilencer quiet;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = bytes;
    for (int times = 0; times < 3; ++times)
      changed[random() % changed.size()] = static_cast<char>(random());
    ServerMessage message;
    const absl::Status read = ReadBytes(changed, message);
    EXPECT_TRUE(read.ok() || absl::IsInternal(read)) << read;
  }
}

}  // namespace
}  // namespace maskd::client
