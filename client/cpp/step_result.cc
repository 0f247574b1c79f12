#include "client/cpp/step_result.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace maskd::client {
namespace {

void CopyMask(const MaskView& mask, std::int64_t mask_words, std::span<std::int32_t> to) {
  const std::span<std::int32_t> words = to.first(static_cast<std::size_t>(mask_words));
  if (mask.full()) {
    std::ranges::fill(words, -1);
  } else {
    mask.CopyTo(words);
  }
  std::ranges::fill(to.subspan(words.size()), 0);
}

absl::Status CheckBuffer(const MaskBuffer& buffer, std::size_t rows, std::int64_t mask_words) {
  if (buffer.words == nullptr && rows > 0) {
    return absl::InvalidArgumentError("buffer.words: is null");
  }
  if (buffer.row_count < static_cast<std::int64_t>(rows)) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer.row_count: ", buffer.row_count, " is less than ", rows, " rows"));
  }
  if (buffer.row_words < mask_words) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer.row_words: ", buffer.row_words, " is less than ", mask_words));
  }
  return absl::OkStatus();
}

}  // namespace

const RowResult* StepResult::Find(RowId row) const {
  const auto found = std::ranges::find_if(rows_, [row](const RowResult& each) {
    return each.row == row && each.state != v1::ROW_STATE_REFUSED;
  });
  return found == rows_.end() ? nullptr : &*found;
}

absl::StatusOr<std::vector<const RowResult*>> StepResult::FindAll(
    std::span<const RowId> order) const {
  std::vector<const RowResult*> found;
  found.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const RowId row = order[i];
    // Engines ask in the order in which they sent.
    const bool in_place = i < rows_.size() && rows_[i].row == row && !rows_[i].masks.empty();
    const RowResult* const result = in_place ? &rows_[i] : Find(row);
    if (result == nullptr) return absl::NotFoundError(absl::StrCat("row ", row, ": no answer"));
    if (result->masks.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("row ", row, ": no mask, it is ", v1::RowState_Name(result->state)));
    }
    found.push_back(result);
  }
  return found;
}

absl::Status StepResult::CopyMasks(std::span<const RowId> order, const MaskBuffer& buffer) const {
  return CopyPositions(order, 1, buffer);
}

absl::Status StepResult::CopyPositions(std::span<const RowId> order, int positions,
                                       const MaskBuffer& buffer) const {
  if (positions < 1) return absl::InvalidArgumentError("positions: at least 1 is needed");
  const auto stride = static_cast<std::size_t>(positions);
  if (absl::Status status = CheckBuffer(buffer, order.size() * stride, mask_words_); !status.ok()) {
    return status;
  }
  const auto rows = FindAll(order);
  if (!rows.ok()) return rows.status();
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const auto& masks = (*rows)[i]->masks;
    for (std::size_t position = 0; position < std::min(stride, masks.size()); ++position) {
      if (masks[position].invalid()) continue;
      const auto at = static_cast<std::int64_t>(i * stride + position) * buffer.row_words;
      CopyMask(masks[position], mask_words_,
               {buffer.words + at, static_cast<std::size_t>(buffer.row_words)});
    }
  }
  return absl::OkStatus();
}

}  // namespace maskd::client
