#include "client/cpp/steps/step_result.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace maskd::client {
namespace {

// Whether `result` has the state of `row`.
bool IsAnswerOf(const RowResult& result, RowId row) {
  return result.row == row && result.state != v1::ROW_STATE_REFUSED;
}

absl::Status CheckBuffer(const MaskBuffer& buffer, std::size_t rows, std::int64_t mask_words) {
  if (buffer.words == nullptr && rows > 0)
    return absl::InvalidArgumentError("buffer.words: is null");
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

std::span<std::int32_t> RowOf(const MaskBuffer& buffer, std::size_t row) {
  return {buffer.words + static_cast<std::int64_t>(row) * buffer.row_words,
          static_cast<std::size_t>(buffer.row_words)};
}

// Masks of a row's first positions, at most `most`.
std::size_t CountMasks(const RowResult& row, std::size_t most) {
  const auto end = std::ranges::find_if(row.masks, &MaskView::invalid);
  return std::min(static_cast<std::size_t>(end - row.masks.begin()), most);
}

}  // namespace

const RowResult* StepResult::Find(RowId row) const {
  const auto found =
      std::ranges::find_if(rows_, [row](const RowResult& each) { return IsAnswerOf(each, row); });
  return found == rows_.end() ? nullptr : &*found;
}

absl::StatusOr<std::vector<const RowResult*>> StepResult::FindAll(
    std::span<const RowId> order) const {
  std::vector<const RowResult*> found;
  found.reserve(order.size());
  // Engines ask in about the order in which they sent: each is looked for behind the one before.
  auto next = rows_.begin();
  for (const RowId row : order) {
    const auto is_it = [row](const RowResult& each) { return IsAnswerOf(each, row); };
    auto at = std::find_if(next, rows_.end(), is_it);
    if (at == rows_.end()) at = std::find_if(rows_.begin(), next, is_it);
    if (at == rows_.end() || !is_it(*at))
      return absl::NotFoundError(absl::StrCat("row ", row, ": no answer"));
    if (at->masks.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("row ", row, ": no mask, it is ", v1::RowState_Name(at->state)));
    }
    found.push_back(&*at);
    next = at + 1;
  }
  return found;
}

absl::Status StepResult::CopyMasks(std::span<const RowId> order, const MaskBuffer& buffer) const {
  return CopyPositions(order, 1, buffer);
}

absl::Status StepResult::CopyPositions(std::span<const RowId> order, int positions,
                                       const MaskBuffer& buffer) const {
  return VisitPositions(order, positions, buffer,
                        [this](const MaskView& mask, std::size_t, std::span<std::int32_t> row) {
                          mask.CopyToRow(mask_words_, row);
                        });
}

absl::Status StepResult::VisitPositions(std::span<const RowId> order, int positions,
                                        const MaskBuffer& buffer, const RowVisitor& visit) const {
  if (positions < 1) return absl::InvalidArgumentError("positions: at least 1 is needed");
  const auto stride = static_cast<std::size_t>(positions);
  if (absl::Status status = CheckBuffer(buffer, order.size() * stride, mask_words_); !status.ok())
    return status;
  const auto rows = FindAll(order);
  if (!rows.ok()) return rows.status();
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const auto& masks = (*rows)[i]->masks;
    for (std::size_t position = 0; position < std::min(stride, masks.size()); ++position) {
      if (masks[position].invalid()) continue;
      const std::size_t row = i * stride + position;
      visit(masks[position], row, RowOf(buffer, row));
    }
  }
  return absl::OkStatus();
}

absl::Status StepResult::CopyChains(std::span<const RowId> order, int stride,
                                    const MaskBuffer& buffer, std::span<std::int32_t> known) const {
  const auto rows = FindAll(order);
  if (!rows.ok()) return rows.status();
  const std::size_t most = stride > 0 ? static_cast<std::size_t>(stride) : buffer.row_count;
  std::size_t needed = 0;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    known[i] = static_cast<std::int32_t>(CountMasks(*(*rows)[i], most));
    needed += static_cast<std::size_t>(stride > 0 ? stride : known[i]);
  }
  if (absl::Status status = CheckBuffer(buffer, needed, mask_words_); !status.ok()) return status;
  std::size_t at = 0;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::size_t end = at + static_cast<std::size_t>(stride > 0 ? stride : known[i]);
    for (const MaskView& mask :
         std::span((*rows)[i]->masks).first(static_cast<std::size_t>(known[i]))) {
      mask.CopyToRow(mask_words_, RowOf(buffer, at++));
    }
    for (; at < end; ++at) std::ranges::fill(RowOf(buffer, at), -1);
  }
  return absl::OkStatus();
}

}  // namespace maskd::client
