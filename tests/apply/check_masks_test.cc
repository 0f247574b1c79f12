// What is refused before anything is written: one mismatch a row of the table.
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/apply/make_applier.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {
namespace {

constexpr std::int64_t kVocab = 100;

// A call that fits until a case spoils it: three rows of logits, masks for rows 0 and 2.
struct Call {
  Call() : plane(LogitsType::kFloat32, 3, kVocab), words(MaskOf(kVocab, {1})) {
    plane.FillDistinct();
    logits = plane.view();
    rows = {MaskRow::Dense(0, words), MaskRow::Dense(2, words)};
  }
  LogitsPlane plane;
  std::vector<std::int32_t> words;
  Logits logits;
  std::vector<MaskRow> rows;
  std::int64_t vocab_size = kVocab;
};

struct CheckCase {
  std::string name;
  std::function<void(Call&)> spoil;
  absl::StatusCode code;
  std::string message;
};

class CheckMasksTest : public testing::TestWithParam<CheckCase> {};

TEST_P(CheckMasksTest, RefusedBeforeAnythingIsWritten) {
  Call call;
  const auto before = call.plane.bytes();
  GetParam().spoil(call);
  auto applier = MakeApplier("auto");
  ASSERT_TRUE(applier.ok());
  const MaskRows masks{.vocab_size = call.vocab_size, .rows = call.rows};
  const absl::Status status = (*applier)->Apply(masks, call.logits);
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(status.message(), GetParam().message);
  EXPECT_EQ(CheckMasks(masks, call.logits), status);
  EXPECT_EQ(call.plane.bytes(), before);
}

const std::vector<std::int32_t> kTooLong(5, 0);
const std::vector<std::int32_t> kIdsOutOfOrder = {1, 7, 5};
const std::vector<std::int32_t> kIdTwice = {1, 7, 7};
const std::vector<std::int32_t> kIdPastTheEnd = {1, 100};
const std::vector<std::int32_t> kNegativeId = {-1, 3};

INSTANTIATE_TEST_SUITE_P(
    Mismatches, CheckMasksTest,
    testing::ValuesIn(std::vector<CheckCase>{
        {"NullData", [](Call& call) { call.logits.data = nullptr; },
         absl::StatusCode::kInvalidArgument, "logits.data: is null"},
        {"UnknownType", [](Call& call) { call.logits.type = static_cast<LogitsType>(9); },
         absl::StatusCode::kInvalidArgument, "logits.type: 9 is not a known type"},
        {"NegativeRowCount", [](Call& call) { call.logits.row_count = -1; },
         absl::StatusCode::kInvalidArgument, "logits.row_count: -1 is negative"},
        {"StrideBelowWidth", [](Call& call) { call.logits.row_stride = 99; },
         absl::StatusCode::kInvalidArgument, "logits.row_stride: 99 is less than width 100"},
        {"PlaneOverflows",
         [](Call& call) { call.logits.row_stride = std::numeric_limits<std::int64_t>::max() / 4; },
         absl::StatusCode::kInvalidArgument,
         "logits.row_stride: 3 rows of 2305843009213693951 elements are more than memory can hold"},
        {"WidthBelowVocabulary", [](Call& call) { call.logits.width = 99; },
         absl::StatusCode::kInvalidArgument,
         "logits.width: 99 is less than the vocabulary of 100 tokens"},
        {"NoVocabulary", [](Call& call) { call.vocab_size = 0; },
         absl::StatusCode::kInvalidArgument, "masks.vocab_size: 0 is not positive"},
        {"NegativeVocabulary", [](Call& call) { call.vocab_size = -32; },
         absl::StatusCode::kInvalidArgument, "masks.vocab_size: -32 is not positive"},
        {"RowPastTheEnd", [](Call& call) { call.rows[1] = MaskRow::Dense(3, call.words); },
         absl::StatusCode::kOutOfRange,
         "masks.rows[1].logits_row: 3 is not one of the 3 rows of logits"},
        {"NegativeRow", [](Call& call) { call.rows[0] = MaskRow::Dense(-1, call.words); },
         absl::StatusCode::kOutOfRange,
         "masks.rows[0].logits_row: -1 is not one of the 3 rows of logits"},
        {"FullRowPastTheEnd", [](Call& call) { call.rows[1] = MaskRow::Full(3); },
         absl::StatusCode::kOutOfRange,
         "masks.rows[1].logits_row: 3 is not one of the 3 rows of logits"},
        {"TooFewWords",
         [](Call& call) { call.rows[1] = MaskRow::Dense(2, std::span(call.words).first(3)); },
         absl::StatusCode::kInvalidArgument,
         "masks.rows[1].words: has 3 words, a vocabulary of 100 needs 4"},
        {"TooManyWords", [](Call& call) { call.rows[1] = MaskRow::Dense(2, kTooLong); },
         absl::StatusCode::kInvalidArgument,
         "masks.rows[1].words: has 5 words, a vocabulary of 100 needs 4"},
        {"NullWords",
         [](Call& call) {
           call.rows[0] = MaskRow::Dense(
               0, std::span<const std::int32_t>(static_cast<const std::int32_t*>(nullptr), 4));
         },
         absl::StatusCode::kInvalidArgument, "masks.rows[0].words: is null"},
        {"IdsOutOfOrder", [](Call& call) { call.rows[1] = MaskRow::Allowed(2, kIdsOutOfOrder); },
         absl::StatusCode::kInvalidArgument, "masks.rows[1].ids[2]: 5 does not come after 7"},
        {"IdTwice", [](Call& call) { call.rows[1] = MaskRow::Forbidden(2, kIdTwice); },
         absl::StatusCode::kInvalidArgument, "masks.rows[1].ids[2]: 7 does not come after 7"},
        {"IdPastTheEnd", [](Call& call) { call.rows[1] = MaskRow::Allowed(2, kIdPastTheEnd); },
         absl::StatusCode::kInvalidArgument,
         "masks.rows[1].ids[1]: 100 is not one of the 100 tokens"},
        {"NegativeId",
         [](Call& call) { call.rows[0] = MaskRow::Delta(0, call.words, kNegativeId); },
         absl::StatusCode::kInvalidArgument,
         "masks.rows[0].ids[0]: -1 is not one of the 100 tokens"},
        {"SlotWithoutDictionary", [](Call& call) { call.rows[0] = MaskRow::Same(0, 0); },
         absl::StatusCode::kInvalidArgument, "masks.rows[0].slot: there is no dictionary"},
        {"RowTwice", [](Call& call) { call.rows[1] = MaskRow::Dense(0, call.words); },
         absl::StatusCode::kInvalidArgument, "masks.rows: logits row 0 is named twice"},
        {"RowTwiceOutOfOrder",
         [](Call& call) {
           call.rows = {MaskRow::Dense(2, call.words), MaskRow::Full(0),
                        MaskRow::Dense(2, call.words)};
         },
         absl::StatusCode::kInvalidArgument, "masks.rows: logits row 2 is named twice"},
        {"RowTwiceOnceFull", [](Call& call) { call.rows[1] = MaskRow::Full(0); },
         absl::StatusCode::kInvalidArgument, "masks.rows: logits row 0 is named twice"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(CheckMasks, NothingSpoiledIsOk) {
  Call call;
  EXPECT_TRUE(CheckMasks({.vocab_size = kVocab, .rows = call.rows}, call.logits).ok());
}

TEST(CheckMasks, NoLogitsAndNoRowsIsOk) {
  const Logits none{.width = kVocab, .row_stride = kVocab};
  EXPECT_TRUE(CheckMasks({.vocab_size = kVocab, .rows = {}}, none).ok());
}

}  // namespace
}  // namespace maskd::client
