// What engines ask of a whole batch: the rows' answers as arrays, and whether tokens are allowed.
#include <cstdint>
#include <span>

#include "absl/strings/str_cat.h"

#include "client/c/handles.h"

namespace maskd::client {
namespace {

absl::Status ReadOutcomes(const maskd_result* result, std::int64_t count, std::uint64_t* rows,
                          std::int32_t* states, std::int32_t* accepted_drafts,
                          std::int32_t* error_codes) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  const std::span<const RowResult> answers = result->result.rows();
  if (count != std::ssize(answers)) {
    return absl::InvalidArgumentError(
        absl::StrCat("count: ", count, " is not the result's ", answers.size(), " rows"));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const RowResult& answer = answers[i];
    if (rows != nullptr) rows[i] = answer.row;
    if (states != nullptr) states[i] = answer.state;
    if (accepted_drafts != nullptr) {
      accepted_drafts[i] = answer.accepted_drafts.has_value()
                               ? static_cast<std::int32_t>(*answer.accepted_drafts)
                               : -1;
    }
    if (error_codes != nullptr) error_codes[i] = static_cast<std::int32_t>(answer.error.code());
  }
  return absl::OkStatus();
}

// Whether the mask of a row's place allows each token.
absl::Status ReadAllowed(const maskd_result* result, const std::uint64_t* rows,
                         const std::int32_t* tokens, std::int64_t count, std::uint8_t* allowed) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  std::span<const std::uint64_t> asked;
  if (absl::Status status = ReadSpan(rows, count, "rows", asked); !status.ok()) return status;
  if (asked.empty()) return absl::OkStatus();
  if (absl::Status status = NotNull(tokens, "tokens"); !status.ok()) return status;
  if (absl::Status status = NotNull(allowed, "allowed"); !status.ok()) return status;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const RowResult* const row = result->result.Find(asked[i]);
    if (row == nullptr)
      return absl::NotFoundError(absl::StrCat("row ", asked[i], ": has no answer in this step"));
    if (row->masks.empty())
      return absl::FailedPreconditionError(absl::StrCat("row ", asked[i], ": has no mask"));
    allowed[i] = row->masks.front().Allows(tokens[i], result->result.vocab_size()) ? 1 : 0;
  }
  return absl::OkStatus();
}

std::int32_t FormOf(MaskView::Form form) {
  switch (form) {
    case MaskView::Form::kAllowedIds:
      return MASKD_ROW_ALLOWED;
    case MaskView::Form::kForbiddenIds:
      return MASKD_ROW_FORBIDDEN;
    case MaskView::Form::kDense:
      return MASKD_ROW_WORDS;
    case MaskView::Form::kFull:
    case MaskView::Form::kInvalid:
      break;
  }
  return MASKD_ROW_FULL;
}

absl::Status ReadMask(const maskd_result* result, std::uint64_t row, std::int64_t position,
                      maskd_mask* to) {
  if (absl::Status status = NotNull(result, "result"); !status.ok()) return status;
  if (absl::Status status = NotNull(to, "mask"); !status.ok()) return status;
  absl::Status status = CheckSize(to->struct_size, sizeof(maskd_mask), "mask");
  if (!status.ok()) return status;
  const RowResult* const answer = result->result.Find(row);
  if (answer == nullptr)
    return absl::NotFoundError(absl::StrCat("row ", row, ": has no answer in this step"));
  if (position < 0 || position >= std::ssize(answer->masks)) {
    return absl::OutOfRangeError(absl::StrCat("row ", row, ": position ", position,
                                              " is not one of its ", answer->masks.size(),
                                              " masks"));
  }
  const MaskView& mask = answer->masks[static_cast<std::size_t>(position)];
  const auto words =
      mask.form() == MaskView::Form::kDense ? mask.words() : std::span<const std::int32_t>();
  WriteStruct<maskd_mask>({.struct_size = to->struct_size,
                           .form = FormOf(mask.form()),
                           .invalid = mask.invalid(),
                           .ids = mask.ids().data(),
                           .id_count = std::ssize(mask.ids()),
                           .words = words.data(),
                           .word_count = std::ssize(words),
                           .serial = mask.serial(),
                           .biases = reinterpret_cast<const maskd_bias*>(mask.biases().data()),
                           .bias_count = std::ssize(mask.biases()),
                           .has_temperature = mask.temperature().has_value(),
                           .temperature = mask.temperature().value_or(1)},
                          to);
  return absl::OkStatus();
}

}  // namespace
}  // namespace maskd::client

using maskd::client::ToC;

extern "C" {

maskd_status* maskd_result_mask(const maskd_result* result, uint64_t row, int64_t position,
                                maskd_mask* mask) {
  return ToC(maskd::client::ReadMask(result, row, position, mask));
}

maskd_status* maskd_result_outcomes(const maskd_result* result, int64_t count, uint64_t* rows,
                                    int32_t* states, int32_t* accepted_drafts,
                                    int32_t* error_codes) {
  return ToC(
      maskd::client::ReadOutcomes(result, count, rows, states, accepted_drafts, error_codes));
}

maskd_status* maskd_result_allows(const maskd_result* result, const uint64_t* rows,
                                  const int32_t* tokens, int64_t count, uint8_t* allowed) {
  return ToC(maskd::client::ReadAllowed(result, rows, tokens, count, allowed));
}

}  // extern "C"
