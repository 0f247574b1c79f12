#include "service/wire/reply_writer.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "maskd/v1/mask_service.pb.h"
#include "service/wire/response_writer.h"

namespace maskd::service {
namespace {

constexpr int kVocabulary = 100;
constexpr int kMaskWords = 6;  // two more than the vocabulary needs

MaskRef MaskOf(const std::vector<TokenId>& allowed) {
  TokenMask mask(kVocabulary);
  for (const TokenId id : allowed) mask.Allow(id);
  return std::make_shared<const TokenMask>(std::move(mask));
}

Position Masked(MaskForm form) {
  return {Position::State::kMasked, MaskOf({0, 31, 32, 99}), std::move(form)};
}

MaskForm ListForm(MaskForm::Kind kind, std::vector<TokenId> ids) {
  return {.kind = kind, .ids = std::make_shared<const std::vector<TokenId>>(std::move(ids))};
}

MaskForm DeltaForm(MaskDelta delta) {
  return {.kind = MaskForm::Kind::kDelta,
          .delta = std::make_shared<const MaskDelta>(std::move(delta))};
}

RowResult Row(RowId id, RowState state, std::vector<Position> positions = {}) {
  RowResult row;
  row.row = id;
  row.state = state;
  row.positions.assign(positions.begin(), positions.end());
  return row;
}

StepResult Step(std::uint64_t number, std::vector<RowResult> rows) {
  StepResult result;
  result.step = number;
  result.rows = std::move(rows);
  return result;
}

StepResult WithEverything() {
  RowResult row = Row(std::uint64_t{1} << 63, RowState::kActive,
                      {Masked({}), {Position::State::kInvalid, nullptr, {}}});
  row.token_count = 300;
  row.may_end = true;
  row.grammar_id = std::string(64, 'f');
  row.accepted_drafts = 0;
  RowResult forced = Row(3, RowState::kActive, {Masked({})});
  forced.forced = ForcedTokens{.bytes = "ab", .tokens = {7, 8}, .certain_tokens = 1};
  RowResult refused = Row(4, RowState::kRefused);
  refused.error = absl::NotFoundError("rows: no row 4");
  refused.refused_token = RefusedToken{2, 5, "x"};
  StepResult result = Step(7, {row, forced, refused});
  result.snapshots.push_back(
      {9, "id", {1, 2, 3}, std::make_shared<const RowOptions>(), std::nullopt});
  return result;
}

// What the writer is held to.
v1::DecodeResponse MessageOf(const StepResult& result) {
  v1::DecodeResponse message;
  v1::StepReply& reply = *message.mutable_step();
  reply.set_step(result.step);
  for (const RowResult& row : result.rows) WriteRow(row, kMaskWords, reply.add_rows());
  for (const RowSnapshot& snapshot : result.snapshots)
    WriteSnapshot(snapshot, reply.add_snapshots());
  return message;
}

struct ReplyCase {
  const char* name;
  StepResult result;
};

class ReplyWriterTest : public testing::TestWithParam<ReplyCase> {};

TEST_P(ReplyWriterTest, WritesTheBytesOfTheMessage) {
  const v1::DecodeResponse message = MessageOf(GetParam().result);
  ReplyWriter writer;
  for (int use = 0; use < 2; ++use) {
    EXPECT_EQ(std::string(writer.Write(GetParam().result, kMaskWords)), message.SerializeAsString())
        << message.ShortDebugString();
  }
}

// A form alone, and put into a slot.
std::vector<RowResult> FormRows(const MaskForm& form) {
  MaskForm kept = form;
  kept.put = 0;
  return {Row(0, RowState::kActive, {Masked(form)}), Row(1, RowState::kActive, {Masked(kept)})};
}

// Biases of tokens that the mask does not allow are left out; 0, -0 and the first token's are said.
std::vector<RowResult> TunedRows() {
  static const std::vector<LogitBias> biases = {{0, 1.5F}, {1, 9}, {31, 0}, {32, -0.0F}, {99, -2}};
  Position position = Masked({.put = 2});
  position.biases = biases;
  Position tempered = position;
  tempered.temperature = 0;
  Position plain = Masked({});
  plain.temperature = 0.7F;
  return {Row(1, RowState::kActive, {position, tempered, plain})};
}

INSTANTIATE_TEST_SUITE_P(
    Replies, ReplyWriterTest,
    testing::ValuesIn(std::vector<ReplyCase>{
        {"Empty", Step(1, {})},
        {"NoNumber", Step(0, {})},
        {"LargeNumber", Step(~std::uint64_t{0}, {})},
        {"States", Step(1, {Row(1, RowState::kCompiling), Row(2, RowState::kFailed),
                            Row(3, RowState::kFree, {Position{}}),
                            Row(4, RowState::kFinished, {Position{}})})},
        {"Dense", Step(1, FormRows({}))},
        {"SameAs", Step(1, FormRows({.kind = MaskForm::Kind::kSameAs, .slot = 200}))},
        {"SlotZero", Step(1, FormRows({.kind = MaskForm::Kind::kSameAs, .slot = 0}))},
        {"AllowedIds", Step(1, FormRows(ListForm(MaskForm::Kind::kAllowedIds, {0, 128, 99'999})))},
        {"ForbiddenIds", Step(1, FormRows(ListForm(MaskForm::Kind::kForbiddenIds, {5})))},
        {"NoIds", Step(1, FormRows(ListForm(MaskForm::Kind::kAllowedIds, {})))},
        {"Delta", Step(1, FormRows(DeltaForm({3, {0, 2, 300}, {1, 0x80000000, 7}})))},
        {"EmptyDelta", Step(1, FormRows(DeltaForm({0, {}, {}})))},
        {"Tuned", Step(1, TunedRows())},
        {"Everything", WithEverything()},
        {"ManyRows", Step(1, std::vector<RowResult>(500, WithEverything().rows[0]))},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd::service
