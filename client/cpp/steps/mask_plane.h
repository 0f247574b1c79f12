// The masks of a batch as packed rows that stay from step to step: for engines that keep a bitmask
// of their own, where most rows have the mask that they had a step before.
//
//   MaskPlane plane({.words = bitmask, .row_count = 64, .row_words = words});
//   status = plane.Write(result, order);   // row i is the mask of order[i]
//
// Cost      a mask of the stream's dictionary that is there already: a comparison. A short list
//           where another one was: a word for each id of both. Anything else: the row, once, as
//           StepResult::CopyMasks() writes it each time.
// Memory    the caller's, which outlives this. What else writes to it calls Forget() afterwards;
//           reading it is free.
// Threads   one thread at a time.
#ifndef MASKD_CLIENT_CPP_STEPS_MASK_PLANE_H_
#define MASKD_CLIENT_CPP_STEPS_MASK_PLANE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "client/cpp/masks/mask_view.h"
#include "client/cpp/steps/step_result.h"

namespace maskd::client {

// Remembers what each row holds, so a mask that is there already is not written again.
class MaskPlane {
 public:
  // Nothing is written yet.
  explicit MaskPlane(const MaskBuffer& buffer)
      : buffer_(buffer), rows_(static_cast<std::size_t>(buffer.row_count)) {}

  // Makes row i the mask of `order[i]`, all ones where it is full; words past the mask become 0,
  // other rows stay. Errors, before anything is written: those of StepResult::CopyMasks().
  absl::Status Write(const StepResult& result, std::span<const RowId> order) {
    return Write(result, order, 1);
  }
  // The same with all positions of each row, see StepResult::CopyPositions().
  absl::Status Write(const StepResult& result, std::span<const RowId> order, int positions);

  // Rows may have any words by now.
  void Forget() { rows_.assign(rows_.size(), {}); }

 private:
  // What a row has: any words, all ones, a mask of a dictionary, a short list, another mask.
  enum class Has : std::uint8_t { kAnything, kOnes, kDictionary, kAllowed, kForbidden, kOther };
  struct Row {
    Has has = Has::kAnything;
    std::int64_t vocab_size = 0;    // of what came as a list
    std::uint64_t serial = 0;       // of the dictionary's mask
    std::vector<std::int32_t> ids;  // of a short list
  };
  static Has KindOf(const MaskView& mask);
  void WriteRow(const MaskView& mask, std::span<std::int32_t> words, Row* row) const;

  MaskBuffer buffer_;
  std::int64_t mask_words_ = 0;  // of the results so far
  std::vector<Row> rows_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_STEPS_MASK_PLANE_H_
