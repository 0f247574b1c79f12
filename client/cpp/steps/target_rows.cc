#include "client/cpp/steps/target_rows.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace maskd::client {
namespace {

// Words past the vocabulary, which allow nothing, are left to the applier, as the row's end is.
MaskRow WithoutTuning(const MaskView& mask, std::int64_t vocab_size, std::int64_t logits_row) {
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

absl::StatusOr<const MaskView*> FindMask(const StepResult& result, const MaskTarget& target) {
  const RowResult* const row = result.Find(target.row);
  if (row == nullptr)
    return absl::NotFoundError(absl::StrCat("row ", target.row, ": has no answer in this step"));
  if (target.position < 0 || target.position >= std::ssize(row->masks)) {
    return absl::FailedPreconditionError(
        absl::StrCat("row ", target.row, ": has no mask at position ", target.position));
  }
  const MaskView& mask = row->masks[static_cast<std::size_t>(target.position)];
  if (!mask.invalid()) return &mask;
  return absl::FailedPreconditionError(absl::StrCat(
      "row ", target.row, ": position ", target.position, " comes after a draft that was refused"));
}

}  // namespace

MaskRow ToMaskRow(const MaskView& mask, std::int64_t vocab_size, std::int64_t logits_row) {
  const MaskRow row = WithoutTuning(mask, vocab_size, logits_row);
  const bool tuned = mask.temperature().has_value() || !mask.biases().empty();
  return tuned ? row.With(mask.biases(), mask.temperature().value_or(1)) : row;
}

absl::Status TargetRows(const StepResult& result, std::span<const MaskTarget> targets,
                        std::int64_t vocab_size, std::vector<MaskRow>& rows) {
  rows.clear();
  rows.reserve(targets.size());
  for (const MaskTarget& target : targets) {
    const absl::StatusOr<const MaskView*> mask = FindMask(result, target);
    if (!mask.ok()) return mask.status();
    rows.push_back(ToMaskRow(**mask, vocab_size, target.logits_row));
  }
  return absl::OkStatus();
}

}  // namespace maskd::client
