// A step's result for programs in C. Texts and lists are pointers into the result. What C++ has as
// views without an end, C gets as strings that are made when the row is asked for and kept with the
// result.
//
// Invariant  a pointer that was given out is good until the result is collected into again or
//            freed, or the same row is asked for again.
// Cost       the strings of a row when it is asked for; masks are copied only by the functions that
//            say so.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "client/c/handles.h"
#include "client/c/json.h"
#include "client/cpp/base/errors.h"
#include "client/cpp/steps/target_rows.h"

namespace maskd::client {
namespace {

// Of the first version.
constexpr std::size_t kLeastRow = offsetof(maskd_row_result, forced_bytes);

absl::StatusOr<const RowResult*> FindRow(const maskd_result& result, std::int64_t index) {
  const std::span<const RowResult> rows = result.result.rows();
  if (index >= 0 && index < std::ssize(rows)) return &rows[static_cast<std::size_t>(index)];
  return absl::OutOfRangeError(
      absl::StrCat("index: ", index, " is not one of the ", rows.size(), " rows"));
}

absl::Status ReadRowResult(maskd_result* result, std::int64_t index, maskd_row_result* row) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  if (absl::Status status = NotNull(row, "row"); !status.ok()) return status;
  absl::Status status = CheckSize(row->struct_size, kLeastRow, "row");
  if (!status.ok()) return status;
  const auto found = FindRow(*result, index);
  if (!found.ok()) return found.status();
  if (result->strings.empty()) result->strings.resize(result->result.rows().size());
  const RowResult& from = **found;
  maskd_result::Strings& strings = result->strings[static_cast<std::size_t>(index)];
  strings = {std::string(from.error.message()), ErrorPlace(from.error), ErrorReason(from.error),
             std::string(from.grammar_id)};
  const bool refused = from.refused_token.has_value();
  maskd_row_result to = {.struct_size = row->struct_size,
                         .row = from.row,
                         .state = from.state,
                         .error_code = static_cast<std::int32_t>(from.error.code()),
                         .error_message = strings.message.c_str(),
                         .error_place = strings.place.c_str(),
                         .error_reason = strings.reason.c_str(),
                         .grammar_id = strings.grammar_id.c_str(),
                         .position_count = std::ssize(from.masks),
                         .refused_index = refused ? std::int64_t{from.refused_token->index} : -1,
                         .accepted_drafts = from.accepted_drafts.has_value()
                                                ? std::int64_t{*from.accepted_drafts}
                                                : -1,
                         .refused_token = refused ? from.refused_token->id : 0,
                         .token_count = from.token_count,
                         .may_end = from.may_end,
                         .has_mask = from.has_mask(),
                         .forced_bytes = from.forced_bytes.data(),
                         .forced_byte_count = std::ssize(from.forced_bytes),
                         .forced_tokens = from.forced_tokens.data(),
                         .forced_token_count = std::ssize(from.forced_tokens),
                         .forced_draft = from.forced_draft.data(),
                         .forced_draft_count = std::ssize(from.forced_draft),
                         .has_answer = from.answer != nullptr,
                         .reserved = 0};
  WriteStruct(to, row);
  return absl::OkStatus();
}

void ReadCalls(const v1::AnswerDelta& from, std::vector<maskd_call_delta>& calls) {
  calls.clear();
  for (const v1::ToolCallDelta& call : from.tool_calls()) {
    calls.push_back({.index = call.index(),
                     .reserved = 0,
                     .id = call.id().data(),
                     .id_size = std::ssize(call.id()),
                     .name = call.name().data(),
                     .name_size = std::ssize(call.name()),
                     .arguments = call.arguments().data(),
                     .argument_size = std::ssize(call.arguments())});
  }
}

absl::Status ReadAnswer(maskd_result* result, std::int64_t index, maskd_answer_delta* to) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  if (absl::Status status = NotNull(to, "answer"); !status.ok()) return status;
  absl::Status status = CheckSize(to->struct_size, sizeof(maskd_answer_delta), "answer");
  if (!status.ok()) return status;
  const auto row = FindRow(*result, index);
  if (!row.ok()) return row.status();
  if ((*row)->answer == nullptr)
    return absl::NotFoundError(absl::StrCat("row ", (*row)->row, ": says nothing of its answer"));
  const v1::AnswerDelta& from = *(*row)->answer;
  const v1::AnswerSize& cut = from.cut();
  if (result->calls.empty()) result->calls.resize(result->result.rows().size());
  std::vector<maskd_call_delta>& calls = result->calls[static_cast<std::size_t>(index)];
  ReadCalls(from, calls);
  WriteStruct<maskd_answer_delta>({.struct_size = to->struct_size,
                                   .has_cut = from.has_cut(),
                                   .cut_tool_calls = cut.tool_calls(),
                                   .cut_reasoning = cut.reasoning_content(),
                                   .cut_content = cut.content(),
                                   .cut_arguments = cut.arguments(),
                                   .cut_id = cut.id(),
                                   .reserved = 0,
                                   .reasoning = from.reasoning_content().data(),
                                   .reasoning_size = std::ssize(from.reasoning_content()),
                                   .content = from.content().data(),
                                   .content_size = std::ssize(from.content()),
                                   .calls = calls.data(),
                                   .call_count = std::ssize(calls)},
                                  to);
  return absl::OkStatus();
}

std::int32_t FormOf(const MaskView& mask) {
  if (mask.form() == MaskView::Form::kAllowedIds) return MASKD_ROW_ALLOWED;
  if (mask.form() == MaskView::Form::kForbiddenIds) return MASKD_ROW_FORBIDDEN;
  return mask.form() == MaskView::Form::kDense ? MASKD_ROW_WORDS : MASKD_ROW_FULL;
}

absl::Status FillPosition(const maskd_result* result, std::int64_t index, std::int64_t position,
                          maskd_position* to) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  if (absl::Status status = NotNull(to, "to"); !status.ok()) return status;
  absl::Status status = CheckSize(to->struct_size, sizeof(maskd_position), "to");
  if (!status.ok()) return status;
  const auto row = FindRow(*result, index);
  if (!row.ok()) return row.status();
  const auto& masks = (*row)->masks;
  if (position < 0 || position >= std::ssize(masks)) {
    return absl::OutOfRangeError(
        absl::StrCat("position: ", position, " is not one of the row's ", masks.size()));
  }
  const MaskView& mask = masks[static_cast<std::size_t>(position)];
  WriteStruct<maskd_position>({.struct_size = to->struct_size,
                               .form = FormOf(mask),
                               .invalid = mask.invalid(),
                               .ids = mask.ids().data(),
                               .id_count = std::ssize(mask.ids()),
                               .words = mask.words().data(),
                               .word_count = std::ssize(mask.words()),
                               .biases = reinterpret_cast<const maskd_bias*>(mask.biases().data()),
                               .bias_count = std::ssize(mask.biases()),
                               .has_temperature = mask.temperature().has_value(),
                               .temperature = mask.temperature().value_or(1)},
                              to);
  return absl::OkStatus();
}

absl::Status ReadSnapshot(const maskd_result* result, std::int64_t index, char** json) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  if (absl::Status status = NotNull(json, "snapshot_json"); !status.ok()) return status;
  const auto& snapshots = result->result.snapshots();
  if (index < 0 || index >= snapshots.size()) {
    return absl::OutOfRangeError(
        absl::StrCat("index: ", index, " is not one of the ", snapshots.size(), " snapshots"));
  }
  *json = strdup(ToJson(snapshots[static_cast<int>(index)]).c_str());
  return absl::OkStatus();
}

// So many positions of each of these rows.
absl::Status ReadOrder(const std::uint64_t* order, std::int64_t count, std::int64_t positions,
                       std::span<const std::uint64_t>& rows) {
  if (absl::Status status = ReadSpan(order, count, "order", rows); !status.ok()) return status;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (positions >= 1 && positions <= kMost / std::max<std::int64_t>(count, 1))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("positions: ", positions, " are no count"));
}

absl::Status CopyPositions(const maskd_result* result, const std::uint64_t* order,
                           std::int64_t count, std::int64_t positions, std::int32_t* words,
                           std::int64_t words_per_row) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  std::span<const std::uint64_t> rows;
  absl::Status status = ReadOrder(order, count, positions, rows);
  if (!status.ok()) return status;
  return result->result.CopyPositions(
      rows, static_cast<int>(positions),
      {.words = words, .row_count = count * positions, .row_words = words_per_row});
}

absl::Status NewPlane(std::int32_t* words, std::int64_t row_count, std::int64_t words_per_row,
                      maskd_mask_plane** plane) {
  if (absl::Status status = NotNull(plane, "plane"); !status.ok()) return status;
  std::span<const std::int32_t> rows;
  absl::Status status = ReadSpan(words, row_count, "words", rows);
  if (!status.ok()) return status;
  *plane = new maskd_mask_plane{MaskPlane({words, row_count, words_per_row})};
  return absl::OkStatus();
}

absl::Status WritePlane(maskd_mask_plane* plane, const maskd_result* result,
                        const std::uint64_t* order, std::int64_t count, std::int64_t positions) {
  if (absl::Status status = NotNull(plane, "plane"); !status.ok()) return status;
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  std::span<const std::uint64_t> rows;
  absl::Status status = ReadOrder(order, count, positions, rows);
  return status.ok() ? plane->plane.Write(result->result, rows, static_cast<int>(positions))
                     : status;
}

absl::Status ApplyResult(const maskd_result* result, const maskd_applier* applier,
                         const maskd_target* targets, std::int64_t count,
                         const maskd_logits* logits, const maskd_logits* output) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  if (absl::Status status = NotNull(applier, "applier"); !status.ok()) return status;
  Logits plane;
  if (absl::Status status = ReadLogits(logits, plane); !status.ok()) return status;
  Logits to;
  if (absl::Status status = ReadLogits(output, to); !status.ok()) return status;
  std::span<const maskd_target> given;
  absl::Status status = ReadSpan(targets, count, "targets", given);
  if (!status.ok()) return status;
  std::vector<MaskTarget> wanted;
  wanted.reserve(given.size());
  for (const maskd_target& target : given)
    wanted.push_back({target.row, target.position, target.logits_row});
  std::vector<MaskRow> rows;
  const std::int64_t vocab_size = result->result.vocab_size();
  status = TargetRows(result->result, wanted, vocab_size, rows);
  if (!status.ok()) return status;
  return applier->applier->Apply({.vocab_size = vocab_size, .rows = rows}, plane, to);
}

}  // namespace
}  // namespace maskd::client

using maskd::client::ToC;

extern "C" {

maskd_result* maskd_result_new(void) { return new maskd_result; }

void maskd_result_free(maskd_result* result) { delete result; }

uint64_t maskd_result_step(const maskd_result* result) {
  return result == nullptr ? 0 : result->result.step();
}

int64_t maskd_result_row_count(const maskd_result* result) {
  return result == nullptr ? 0 : std::ssize(result->result.rows());
}

maskd_status* maskd_result_row(maskd_result* result, int64_t index, maskd_row_result* row) {
  return ToC(maskd::client::ReadRowResult(result, index, row));
}

maskd_status* maskd_result_answer(maskd_result* result, int64_t index, maskd_answer_delta* answer) {
  return ToC(maskd::client::ReadAnswer(result, index, answer));
}

maskd_status* maskd_result_position(const maskd_result* result, int64_t index, int64_t position,
                                    maskd_position* to) {
  return ToC(maskd::client::FillPosition(result, index, position, to));
}

int64_t maskd_result_snapshot_count(const maskd_result* result) {
  return result == nullptr ? 0 : result->result.snapshots().size();
}

maskd_status* maskd_result_snapshot(const maskd_result* result, int64_t index,
                                    char** snapshot_json) {
  return ToC(maskd::client::ReadSnapshot(result, index, snapshot_json));
}

maskd_status* maskd_result_copy_masks(const maskd_result* result, const uint64_t* order,
                                      int64_t count, int32_t* words, int64_t words_per_row) {
  return ToC(maskd::client::CopyPositions(result, order, count, 1, words, words_per_row));
}

maskd_status* maskd_result_copy_positions(const maskd_result* result, const uint64_t* order,
                                          int64_t count, int64_t positions, int32_t* words,
                                          int64_t words_per_row) {
  return ToC(maskd::client::CopyPositions(result, order, count, positions, words, words_per_row));
}

maskd_status* maskd_mask_plane_new(int32_t* words, int64_t row_count, int64_t words_per_row,
                                   maskd_mask_plane** plane) {
  return ToC(maskd::client::NewPlane(words, row_count, words_per_row, plane));
}

void maskd_mask_plane_free(maskd_mask_plane* plane) { delete plane; }

maskd_status* maskd_mask_plane_write(maskd_mask_plane* plane, const maskd_result* result,
                                     const uint64_t* order, int64_t count, int64_t positions) {
  return ToC(maskd::client::WritePlane(plane, result, order, count, positions));
}

void maskd_mask_plane_forget(maskd_mask_plane* plane) {
  if (plane != nullptr) plane->plane.Forget();
}

maskd_status* maskd_result_apply(const maskd_result* result, const maskd_applier* applier,
                                 const maskd_target* targets, int64_t count,
                                 const maskd_logits* logits) {
  return ToC(maskd::client::ApplyResult(result, applier, targets, count, logits, logits));
}

maskd_status* maskd_result_apply_to(const maskd_result* result, const maskd_applier* applier,
                                    const maskd_target* targets, int64_t count,
                                    const maskd_logits* logits, const maskd_logits* output) {
  return ToC(maskd::client::ApplyResult(result, applier, targets, count, logits, output));
}

}  // extern "C"
