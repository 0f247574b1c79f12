#include "client/apply/applier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"

namespace maskd::client {
namespace {

// Bytes of the widest element type, for a bound on the whole plane that holds for all of them.
constexpr std::int64_t kMaxElementBytes = 4;

bool IsKnown(LogitsType type) {
  return type == LogitsType::kFloat32 || type == LogitsType::kFloat16 ||
         type == LogitsType::kBFloat16;
}

absl::Status CheckLogits(const Logits& logits) {
  if (!IsKnown(logits.type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("logits.type: ", static_cast<int>(logits.type), " is not a known type"));
  }
  if (logits.row_count < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("logits.row_count: ", logits.row_count, " is negative"));
  }
  if (logits.row_stride < logits.width) {
    return absl::InvalidArgumentError(absl::StrCat("logits.row_stride: ", logits.row_stride,
                                                   " is less than width ", logits.width));
  }
  constexpr std::int64_t kMaxBytes = std::numeric_limits<std::ptrdiff_t>::max();
  if (logits.row_count > 0 && logits.row_stride > kMaxBytes / kMaxElementBytes / logits.row_count) {
    return absl::InvalidArgumentError(absl::StrCat("logits.row_stride: ", logits.row_count,
                                                   " rows of ", logits.row_stride,
                                                   " elements are more than memory can hold"));
  }
  if (logits.data == nullptr && logits.row_count > 0) {
    return absl::InvalidArgumentError("logits.data: is null");
  }
  return absl::OkStatus();
}

absl::Status CheckRow(const MaskRow& row, std::size_t index, const MaskRows& masks,
                      const Logits& logits) {
  if (row.logits_row() < 0 || row.logits_row() >= logits.row_count) {
    return absl::OutOfRangeError(
        absl::StrCat("masks.rows[", index, "].logits_row: ", row.logits_row(),
                     " is not one of the ", logits.row_count, " rows of logits"));
  }
  if (row.full()) return absl::OkStatus();
  const std::int64_t word_count = MaskWordCount(masks.vocab_size);
  if (static_cast<std::int64_t>(row.words().size()) != word_count) {
    return absl::InvalidArgumentError(absl::StrCat("masks.rows[", index, "].words: has ",
                                                   row.words().size(), " words, a vocabulary of ",
                                                   masks.vocab_size, " needs ", word_count));
  }
  if (row.words().data() == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("masks.rows[", index, "].words: is null"));
  }
  return absl::OkStatus();
}

absl::Status CheckNoRowTwice(std::span<const MaskRow> rows) {
  const auto not_ascending = [](const MaskRow& a, const MaskRow& b) {
    return a.logits_row() >= b.logits_row();
  };
  // Engines list rows in ascending order; only others pay for a sorted copy.
  if (std::ranges::adjacent_find(rows, not_ascending) == rows.end()) return absl::OkStatus();
  std::vector<std::int64_t> sorted;
  sorted.reserve(rows.size());
  for (const MaskRow& row : rows) sorted.push_back(row.logits_row());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("masks.rows: logits row ", *twice, " is named twice"));
}

}  // namespace

absl::Status CheckMasks(const MaskRows& masks, const Logits& logits) {
  if (absl::Status status = CheckLogits(logits); !status.ok()) return status;
  if (masks.vocab_size <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("masks.vocab_size: ", masks.vocab_size, " is not positive"));
  }
  if (logits.width < masks.vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat("logits.width: ", logits.width,
                                                   " is less than the vocabulary of ",
                                                   masks.vocab_size, " tokens"));
  }
  for (std::size_t i = 0; i < masks.rows.size(); ++i) {
    if (absl::Status status = CheckRow(masks.rows[i], i, masks, logits); !status.ok()) {
      return status;
    }
  }
  return CheckNoRowTwice(masks.rows);
}

absl::Status Applier::Apply(const MaskRows& masks, const Logits& logits) const {
  if (absl::Status status = CheckMasks(masks, logits); !status.ok()) return status;
  return ApplyChecked(masks, logits);
}

}  // namespace maskd::client
