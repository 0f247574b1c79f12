#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "client/c/handles.h"
#include "client/c/json.h"
#include "client/cpp/errors.h"

namespace maskd::client {
namespace {

absl::Status OpenStream(const maskd_client* client, const char* tokenizer,
                        std::uint32_t logits_width, std::int64_t timeout_ms,
                        maskd_stream** stream) {
  if (absl::Status status = NotNull(client, "client"); !status.ok()) return status;
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  auto opened = client->client->OpenStream({.tokenizer = tokenizer == nullptr ? "" : tokenizer,
                                            .logits_width = logits_width,
                                            .open_timeout = absl::Milliseconds(timeout_ms)});
  if (!opened.ok()) return opened.status();
  std::string welcome = ToJson((*opened)->welcome());
  *stream = new maskd_stream{*std::move(opened), std::move(welcome)};
  return absl::OkStatus();
}

absl::Status Submit(maskd_stream* stream, maskd_step* step, std::uint64_t* number) {
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  const auto submitted = stream->stream->Submit(step->step);
  if (!submitted.ok()) return submitted.status();
  if (number != nullptr) *number = *submitted;
  return absl::OkStatus();
}

absl::Status Collect(maskd_stream* stream, std::int64_t timeout_ms, maskd_result* result) {
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  result->strings.clear();
  result->vocab_size = stream->stream->welcome().tokenizer().vocab_size();
  return stream->stream->Collect(absl::Milliseconds(timeout_ms), result->result);
}

absl::Status CloseStream(maskd_stream* stream, std::int64_t timeout_ms) {
  if (absl::Status status = NotNull(stream, "stream"); !status.ok()) return status;
  return stream->stream->Close(absl::Milliseconds(timeout_ms));
}

// `gate` is where the options' reasoning gate lies, when there is one.
absl::Status ReadOptions(const maskd_open_options* from, OpenOptions& options,
                         v1::ReasoningGate& gate) {
  if (from == nullptr) return absl::OkStatus();
  absl::Status status = CheckSize(from->struct_size, sizeof(maskd_open_options), "options");
  if (!status.ok()) return status;
  status = ReadSpan(from->tokens, from->token_count, "options.tokens", options.tokens);
  if (!status.ok()) return status;
  status = ReadSpan(from->stop_ids, from->stop_id_count, "options.stop_ids", options.stop_ids);
  if (!status.ok()) return status;
  options.min_tokens = from->min_tokens;
  if (from->remaining_tokens > 0) options.remaining_tokens = from->remaining_tokens;
  if (from->reasoning_json == nullptr) return absl::OkStatus();
  options.reasoning = &gate;
  return FromJson(from->reasoning_json, gate, "options.reasoning_json");
}

absl::Status OpenRow(maskd_step* step, std::uint64_t row, const char* grammar_id,
                     const maskd_open_options* from) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  if (absl::Status status = NotNull(grammar_id, "grammar_id"); !status.ok()) return status;
  OpenOptions options;
  v1::ReasoningGate gate;
  if (absl::Status status = ReadOptions(from, options, gate); !status.ok()) return status;
  step->step.Open(row, grammar_id, options);
  return absl::OkStatus();
}

absl::Status OpenRowOnText(maskd_step* step, std::uint64_t row, const char* grammar_json,
                           const maskd_open_options* from) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  OpenOptions options;
  v1::ReasoningGate gate;
  if (absl::Status status = ReadOptions(from, options, gate); !status.ok()) return status;
  v1::Grammar grammar;
  absl::Status status = FromJson(grammar_json, grammar, "grammar_json");
  if (!status.ok()) return status;
  step->step.Open(row, grammar, options);
  return absl::OkStatus();
}

absl::Status Take(maskd_step* step, std::uint64_t row, const std::int32_t* tokens,
                  std::int64_t token_count) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  std::span<const std::int32_t> taken;
  absl::Status status = ReadSpan(tokens, token_count, "tokens", taken);
  if (!status.ok()) return status;
  step->step.Take(row, taken);
  return absl::OkStatus();
}

absl::Status TakeEach(maskd_step* step, const std::uint64_t* rows, const std::int32_t* tokens,
                      std::int64_t count) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  std::span<const std::uint64_t> named;
  if (absl::Status status = ReadSpan(rows, count, "rows", named); !status.ok()) return status;
  std::span<const std::int32_t> sampled;
  absl::Status status = ReadSpan(tokens, count, "tokens", sampled);
  if (!status.ok()) return status;
  for (std::size_t i = 0; i < named.size(); ++i) step->step.Take(named[i], sampled.subspan(i, 1));
  return absl::OkStatus();
}

absl::Status Draft(maskd_step* step, std::uint64_t row, const std::int32_t* drafts,
                   const std::int32_t* parents, std::int64_t draft_count) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  std::span<const std::int32_t> tokens;
  absl::Status status = ReadSpan(drafts, draft_count, "drafts", tokens);
  if (!status.ok()) return status;
  std::span<const std::int32_t> tree;
  if (parents != nullptr) tree = {parents, tokens.size()};
  step->step.Draft(row, tokens, tree);
  return absl::OkStatus();
}

// Changes a step that is not null.
template <typename Change>
maskd_status* ChangeStep(maskd_step* step, const Change& change) {
  if (step == nullptr) return ToC(NotNull(step, "step"));
  change(step->step);
  return nullptr;
}

absl::Status ReadRowResult(maskd_result* result, std::int64_t index, maskd_row_result* row) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  if (absl::Status status = NotNull(row, "row"); !status.ok()) return status;
  absl::Status status = CheckSize(row->struct_size, sizeof(maskd_row_result), "row");
  if (!status.ok()) return status;
  const std::span<const RowResult> rows = result->result.rows();
  if (index < 0 || index >= std::ssize(rows)) {
    return absl::OutOfRangeError(
        absl::StrCat("index: ", index, " is not one of the ", rows.size(), " rows"));
  }
  if (result->strings.empty()) result->strings.resize(rows.size());
  const RowResult& from = rows[static_cast<std::size_t>(index)];
  maskd_result::Strings& strings = result->strings[static_cast<std::size_t>(index)];
  strings = {std::string(from.error.message()), ErrorPlace(from.error), ErrorReason(from.error),
             std::string(from.grammar_id)};
  const bool refused = from.refused_token.has_value();
  *row = {.struct_size = row->struct_size,
          .row = from.row,
          .state = from.state,
          .error_code = static_cast<std::int32_t>(from.error.code()),
          .error_message = strings.message.c_str(),
          .error_place = strings.place.c_str(),
          .error_reason = strings.reason.c_str(),
          .grammar_id = strings.grammar_id.c_str(),
          .position_count = std::ssize(from.masks),
          .refused_index = refused ? std::int64_t{from.refused_token->index} : -1,
          .accepted_drafts =
              from.accepted_drafts.has_value() ? std::int64_t{*from.accepted_drafts} : -1,
          .refused_token = refused ? from.refused_token->id : 0,
          .token_count = from.token_count,
          .may_end = from.may_end,
          .has_mask = from.has_mask()};
  return absl::OkStatus();
}

absl::Status CopyMasks(const maskd_result* result, const std::uint64_t* order, std::int64_t count,
                       std::int32_t* words, std::int64_t words_per_row) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  std::span<const std::uint64_t> rows;
  if (absl::Status status = ReadSpan(order, count, "order", rows); !status.ok()) return status;
  return result->result.CopyMasks(rows,
                                  {.words = words, .row_count = count, .row_words = words_per_row});
}

// Words past the vocabulary, which allow nothing, are left to the applier, as the row's end is.
MaskRow RowOf(const MaskView& mask, std::int64_t vocab_size, std::int64_t logits_row) {
  const auto word_count = static_cast<std::size_t>(MaskWordCount(vocab_size));
  switch (mask.form()) {
    case MaskView::Form::kAllowedIds:
      return MaskRow::Allowed(logits_row, mask.ids());
    case MaskView::Form::kForbiddenIds:
      return MaskRow::Forbidden(logits_row, mask.ids());
    case MaskView::Form::kDense:
      return MaskRow::Dense(logits_row, mask.words().first(word_count));
    default:
      return MaskRow::Full(logits_row);
  }
}

absl::StatusOr<MaskRow> FindMask(const maskd_result& result, const maskd_target& target) {
  const RowResult* const row = result.result.Find(target.row);
  if (row == nullptr) {
    return absl::NotFoundError(absl::StrCat("row ", target.row, ": has no answer in this step"));
  }
  if (target.position < 0 || target.position >= std::ssize(row->masks)) {
    return absl::FailedPreconditionError(
        absl::StrCat("row ", target.row, ": has no mask at position ", target.position));
  }
  const MaskView& mask = row->masks[static_cast<std::size_t>(target.position)];
  if (mask.invalid()) {
    return absl::FailedPreconditionError(absl::StrCat("row ", target.row, ": position ",
                                                      target.position,
                                                      " comes after a draft that was refused"));
  }
  return RowOf(mask, result.vocab_size, target.logits_row);
}

absl::Status ApplyResult(const maskd_result* result, const maskd_applier* applier,
                         const maskd_target* targets, std::int64_t count,
                         const maskd_logits* logits) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  if (absl::Status status = NotNull(applier, "applier"); !status.ok()) return status;
  Logits plane;
  if (absl::Status status = ReadLogits(logits, plane); !status.ok()) return status;
  std::span<const maskd_target> given;
  if (absl::Status status = ReadSpan(targets, count, "targets", given); !status.ok()) {
    return status;
  }
  std::vector<MaskRow> rows;
  rows.reserve(given.size());
  for (const maskd_target& target : given) {
    absl::StatusOr<MaskRow> row = FindMask(*result, target);
    if (!row.ok()) return row.status();
    rows.push_back(*row);
  }
  return applier->applier->Apply({.vocab_size = result->vocab_size, .rows = rows}, plane);
}

}  // namespace
}  // namespace maskd::client

using maskd::client::ChangeStep;
using maskd::client::Step;
using maskd::client::ToC;

extern "C" {

maskd_status* maskd_stream_open(const maskd_client* client, const char* tokenizer,
                                uint32_t logits_width, int64_t timeout_ms, maskd_stream** stream) {
  return ToC(maskd::client::OpenStream(client, tokenizer, logits_width, timeout_ms, stream));
}

void maskd_stream_free(maskd_stream* stream) { delete stream; }

const char* maskd_stream_welcome_json(const maskd_stream* stream) {
  return stream == nullptr ? "" : stream->welcome_json.c_str();
}

int64_t maskd_stream_mask_words(const maskd_stream* stream) {
  return stream == nullptr ? 0 : stream->stream->welcome().mask_words();
}

int32_t maskd_stream_in_flight(const maskd_stream* stream) {
  return stream == nullptr ? 0 : stream->stream->in_flight();
}

int32_t maskd_stream_going_away(const maskd_stream* stream) {
  return stream != nullptr && stream->stream->go_away().has_value();
}

maskd_status* maskd_stream_submit(maskd_stream* stream, maskd_step* step, uint64_t* number) {
  return ToC(maskd::client::Submit(stream, step, number));
}

maskd_status* maskd_stream_collect(maskd_stream* stream, int64_t timeout_ms, maskd_result* result) {
  return ToC(maskd::client::Collect(stream, timeout_ms, result));
}

maskd_status* maskd_stream_close(maskd_stream* stream, int64_t timeout_ms) {
  return ToC(maskd::client::CloseStream(stream, timeout_ms));
}

maskd_step* maskd_step_new(void) { return new maskd_step; }

void maskd_step_free(maskd_step* step) { delete step; }

void maskd_step_clear(maskd_step* step) {
  if (step != nullptr) step->step.Clear();
}

maskd_status* maskd_step_open(maskd_step* step, uint64_t row, const char* grammar_id,
                              const maskd_open_options* options) {
  return ToC(maskd::client::OpenRow(step, row, grammar_id, options));
}

maskd_status* maskd_step_open_grammar(maskd_step* step, uint64_t row, const char* grammar_json,
                                      const maskd_open_options* options) {
  return ToC(maskd::client::OpenRowOnText(step, row, grammar_json, options));
}

maskd_status* maskd_step_take(maskd_step* step, uint64_t row, const int32_t* tokens,
                              int64_t token_count) {
  return ToC(maskd::client::Take(step, row, tokens, token_count));
}

maskd_status* maskd_step_take_each(maskd_step* step, const uint64_t* rows, const int32_t* tokens,
                                   int64_t count) {
  return ToC(maskd::client::TakeEach(step, rows, tokens, count));
}

maskd_status* maskd_step_rollback(maskd_step* step, uint64_t row, uint32_t token_count) {
  return ChangeStep(step, [&](Step& change) { change.Rollback(row, token_count); });
}

maskd_status* maskd_step_set_remaining(maskd_step* step, uint64_t row, uint32_t token_count) {
  return ChangeStep(step, [&](Step& change) { change.SetRemaining(row, token_count); });
}

maskd_status* maskd_step_draft(maskd_step* step, uint64_t row, const int32_t* drafts,
                               const int32_t* parents, int64_t draft_count) {
  return ToC(maskd::client::Draft(step, row, drafts, parents, draft_count));
}

maskd_status* maskd_step_fork(maskd_step* step, uint64_t parent, uint64_t child) {
  return ChangeStep(step, [&](Step& change) { change.Fork(parent, child); });
}

maskd_status* maskd_step_close(maskd_step* step, uint64_t row) {
  return ChangeStep(step, [&](Step& change) { change.Close(row); });
}

maskd_status* maskd_step_wait_for_compile(maskd_step* step, int64_t at_most_ms) {
  return ChangeStep(step,
                    [&](Step& change) { change.WaitForCompile(absl::Milliseconds(at_most_ms)); });
}

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

maskd_status* maskd_result_copy_masks(const maskd_result* result, const uint64_t* order,
                                      int64_t count, int32_t* words, int64_t words_per_row) {
  return ToC(maskd::client::CopyMasks(result, order, count, words, words_per_row));
}

maskd_status* maskd_result_apply(const maskd_result* result, const maskd_applier* applier,
                                 const maskd_target* targets, int64_t count,
                                 const maskd_logits* logits) {
  return ToC(maskd::client::ApplyResult(result, applier, targets, count, logits));
}

}  // extern "C"
