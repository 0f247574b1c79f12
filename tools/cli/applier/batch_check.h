// Holds an applier to a plain loop over one batch, bit for bit, and counts what it spares.
//
// The batch   `rows` rows of logits, of which some are held. Masks of four forms and densities take
//             turns; the first held row allows token 90 alone.
// Threads     plain values; one thread a call.
#ifndef MASKD_TOOLS_CLI_APPLIER_BATCH_CHECK_H_
#define MASKD_TOOLS_CLI_APPLIER_BATCH_CHECK_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "client/apply/applier.h"
#include "client/apply/logits.h"

namespace maskd::cli {

// Requires vocab_size > 90 and 0 <= held <= rows.
struct BatchShape {
  std::int64_t rows = 0;
  std::int64_t held = 0;
  std::int64_t vocab_size = 0;
};

// All but the last two count logits.
struct BatchCounts {
  std::int64_t plane = 0;    // rows times vocabulary
  std::int64_t named = 0;    // held rows times vocabulary: all that an applier may touch
  std::int64_t written = 0;  // that are not what they were
  std::int64_t wrong = 0;    // that are not what the plain loop makes of them
  // The token of the first held row that a greedy sampler takes; -1 where no row is held.
  std::int64_t greedy_before = -1;
  std::int64_t greedy_after = -1;
};

// Masks such a batch in host memory. Errors: the applier's.
absl::StatusOr<BatchCounts> CheckBatch(const client::Applier& applier, const BatchShape& shape,
                                       client::LogitsType type);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_APPLIER_BATCH_CHECK_H_
