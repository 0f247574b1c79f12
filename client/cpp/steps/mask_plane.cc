#include "client/cpp/steps/mask_plane.h"

#include <cstddef>

namespace maskd::client {

absl::Status MaskPlane::Write(const StepResult& result, std::span<const RowId> order,
                              int positions) {
  if (result.mask_words_ != mask_words_) Forget();
  mask_words_ = result.mask_words_;
  return result.VisitPositions(
      order, positions, buffer_,
      [this](const MaskView& mask, std::size_t row, std::span<std::int32_t> words) {
        WriteRow(mask, words, &rows_[row]);
      });
}

MaskPlane::Has MaskPlane::KindOf(const MaskView& mask) {
  if (mask.full()) return Has::kOnes;
  if (mask.is_list() && mask.ids().size() <= kShortList)
    return mask.form() == MaskView::Form::kAllowedIds ? Has::kAllowed : Has::kForbidden;
  return mask.serial() != 0 ? Has::kDictionary : Has::kOther;
}

void MaskPlane::WriteRow(const MaskView& mask, std::span<std::int32_t> words, Row* row) const {
  const Has has = KindOf(mask);
  const bool is_list = has == Has::kAllowed || has == Has::kForbidden;
  const bool alike = has == row->has && mask.vocab_size() == row->vocab_size;
  if (alike && (has == Has::kOnes || (has == Has::kDictionary && mask.serial() == row->serial)))
    return;
  if (alike && is_list) {
    FlipIds(row->ids, words);
    FlipIds(mask.ids(), words);
  } else {
    mask.CopyToRow(mask_words_, words);
  }
  row->has = has;
  row->vocab_size = mask.vocab_size();
  row->serial = mask.serial();
  const auto ids = is_list ? mask.ids() : std::span<const std::int32_t>();
  row->ids.assign(ids.begin(), ids.end());
}

}  // namespace maskd::client
