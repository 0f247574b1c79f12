// A step read from its bytes is what request_reader makes of its message, whatever is in it.
#include "service/wire/step_reader.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

#include "maskd/v1/mask_service.pb.h"
#include "service/wire/request_reader.h"
#include "tests/service/wire/step_text.h"

namespace maskd::service {
namespace {

constexpr std::size_t kMostRows = 1000;

// Both readers, each with a step that was used before.
void ExpectTheSame(const v1::DecodeRequest& request) {
  StepRequest by_message;
  const absl::Status message_read = ReadStep(request, &by_message);
  StepRequest by_bytes;
  by_bytes.moves.resize(2);
  by_bytes.moves[0].has_drafts = true;
  by_bytes.moves[0].drafts = {1};
  by_bytes.moves[0].refusal = absl::InternalError("of an earlier step");
  by_bytes.closes = {9};
  const absl::Status bytes_read = ReadStep(request.SerializeAsString(), kMostRows, &by_bytes);
  EXPECT_EQ(Outcome(bytes_read, by_bytes), Outcome(message_read, by_message))
      << request.ShortDebugString();
}

struct StepCase {
  const char* name;
  const char* request;
};

class StepReaderTest : public testing::TestWithParam<StepCase> {};

TEST_P(StepReaderTest, ReadsWhatTheMessageSays) {
  v1::DecodeRequest request;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().request, &request));
  ExpectTheSame(request);
}

INSTANTIATE_TEST_SUITE_P(
    Steps, StepReaderTest,
    testing::ValuesIn(std::vector<StepCase>{
        {"Nothing", "step {}"},
        {"NoStep", ""},
        {"AHello", "hello {logits_width: 9}"},
        {"Tokens",
         "step {step: 3 rows {row: 1 tokens: [5, 128255]} rows {tokens: -1} rows {row: 7}}"},
        {"Drafts",
         "step {step: 3 rows {row: 1 tokens: 5 drafts {tokens: [6, -1] parents: [-1, 0]}}}"},
        {"EmptyDrafts", "step {rows {row: 1 drafts {}}}"},
        {"AllOfARow",
         "step {rows {row: 1 rollback: 2 tokens: 5 remaining_tokens: 4000000000 want_forced: true} "
         "rows {row: 2 tokens: 8}}"},
        {"TooFarBack", "step {rows {row: 1 rollback: 4000000000}}"},
        {"Opens",
         "step {step: 1 wait_for_compile_ms: 50 open {row: 4 grammar_id: 'g' tokens: [1, 2] "
         "stop_ids: 3 min_tokens: 2 remaining_tokens: 10} open {row: 5 grammar {kind: 'regex' "
         "source: 'a+'}} open {row: 6}}"},
        {"EveryOtherVerb",
         "step {step: 9 fork {parent: 1 child: 2} snapshot: [1, 300] close: [5, 6] rows {row: 1}}"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(StepReader, UnknownFieldsAreRefusedAsInTheMessage) {
  for (const bool of_row : {false, true}) {
    v1::DecodeRequest request;
    v1::RowUpdate& row = *request.mutable_step()->add_rows();
    row.set_row(4);
    google::protobuf::Message& with =
        of_row ? static_cast<google::protobuf::Message&>(row) : *request.mutable_step();
    with.GetReflection()->MutableUnknownFields(&with)->AddVarint(99, 1);
    ExpectTheSame(request);
  }
}

TEST(StepReader, WhatIsNoMessageIsRefused) {
  v1::DecodeRequest request;
  request.mutable_step()->set_step(5);
  request.mutable_step()->add_rows()->add_tokens(300);
  const std::string bytes = request.SerializeAsString();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    StepRequest step;
    EXPECT_TRUE(absl::IsInvalidArgument(ReadStep(bytes.substr(0, size), kMostRows, &step))) << size;
  }
}

// Refused before a message is built of them, whatever else is in the step.
TEST(StepReader, TooManyRowsAreRefused) {
  for (const char* verb : {"rows {}", "open {}", "fork {}", "snapshot: 7", "close: 7"}) {
    for (const bool unknown : {false, true}) {
      v1::DecodeRequest request;
      std::string text = "step {step: 3 ";
      for (std::size_t i = 0; i <= kMostRows; ++i) absl::StrAppend(&text, verb, " ");
      ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text + "}", &request));
      v1::Step& step = *request.mutable_step();
      if (unknown) step.GetReflection()->MutableUnknownFields(&step)->AddVarint(99, 1);
      StepRequest read;
      const absl::Status status = ReadStep(request.SerializeAsString(), kMostRows, &read);
      EXPECT_TRUE(absl::IsResourceExhausted(status)) << verb << ": " << status;
      EXPECT_LE(read.closes.size() + read.snapshots.size(), kMostRows);
    }
  }
}

// Whatever the bytes are, both readers say the same of them.
TEST(StepReader, ChangedBytesAreReadAsTheMessageIs) {
  v1::DecodeRequest request;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "step {step: 3 close: 4 rows {row: 1 tokens: [5, 300] drafts {tokens: 6}} rows {row: 2}}",
      &request));
  const std::string bytes = request.SerializeAsString();
  const google::protobuf::LogSilencer quiet;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = bytes;
    changed[random() % changed.size()] = static_cast<char>(random());
    v1::DecodeRequest parsed;
    StepRequest step;
    const absl::Status read = ReadStep(changed, kMostRows, &step);
    if (!parsed.ParseFromString(changed)) continue;  // a list may end early in it, and be read
    StepRequest by_message;
    const absl::Status message_read = ReadStep(parsed, &by_message);
    EXPECT_EQ(Outcome(read, step), Outcome(message_read, by_message)) << parsed.ShortDebugString();
  }
}

}  // namespace
}  // namespace maskd::service
