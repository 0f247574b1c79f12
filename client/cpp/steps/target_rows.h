// The masks of a step's result as an applier takes them (client/apply/applier.h), each in the form
// in which it came: no dense mask is made of a short one.
//
//   std::vector<MaskRow> rows;
//   absl::Status found = TargetRows(result, targets, vocab_size, rows);
//   applier->Apply({.vocab_size = vocab_size, .rows = rows}, logits);
//
// Ownership  rows are views into the result, as its masks are.
// Threads  as the result.
#ifndef MASKD_CLIENT_CPP_STEPS_TARGET_ROWS_H_
#define MASKD_CLIENT_CPP_STEPS_TARGET_ROWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "client/apply/mask_rows.h"
#include "client/cpp/masks/mask_view.h"
#include "client/cpp/steps/step_result.h"

namespace maskd::client {

// Which row of the logits a position of a row masks.
struct MaskTarget {
  RowId row = 0;
  std::int64_t position = 0;
  std::int64_t logits_row = 0;
};

// One mask, with its temperature and biases. An invalid one is as a full one: nothing is applied.
MaskRow ToMaskRow(const MaskView& mask, std::int64_t vocab_size, std::int64_t logits_row);

// Those of all targets, in their order. `vocab_size` is that of the stream's tokenizer. Errors:
// NOT_FOUND (a row without an answer), FAILED_PRECONDITION (one without that position, or whose
// position comes after a draft that was refused).
absl::Status TargetRows(const StepResult& result, std::span<const MaskTarget> targets,
                        std::int64_t vocab_size, std::vector<MaskRow>& rows);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_STEPS_TARGET_ROWS_H_
