// Masks an engine's logits in place, before it samples.
//
//   absl::StatusOr<std::unique_ptr<Applier>> applier = MakeApplier("auto");   // once, at start
//   absl::Status masked = (*applier)->Apply({.vocab_size = 32000, .rows = rows}, logits);
//
// Result   in each named row, the logit of every token that its mask does not allow, and every
//          logit past the vocabulary, is minus infinity; all others keep their bits. Rows not
//          named, full rows and the gap between width and row_stride are neither read nor written.
// Errors   found before anything is written: INVALID_ARGUMENT (null data, unknown type, a shape
//          that does not fit, words or ids that do not match the vocabulary, an empty slot, a row
//          named twice, logits in memory that the applier cannot reach), OUT_OF_RANGE (no such row
//          of logits). The message starts with the field at fault.
// Threads  any number of threads may use one applier, each with logits of its own.
#ifndef MASKD_CLIENT_APPLY_APPLIER_H_
#define MASKD_CLIENT_APPLY_APPLIER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/apply/logits.h"
#include "client/apply/mask_dictionary.h"
#include "client/apply/mask_rows.h"

namespace maskd::client {

// Batches that are to come, for Applier::WarmUp().
struct WarmUpShape {
  std::int64_t vocab_size = 0;
  std::int64_t width = 0;
  std::vector<std::int64_t> row_counts = {};
  LogitsType type = LogitsType::kFloat32;
};

class Applier {
 public:
  virtual ~Applier() = default;

  // The name it was made by, never "auto".
  [[nodiscard]] virtual absl::string_view name() const = 0;

  absl::Status Apply(const MaskRows& masks, const Logits& logits) const;

  // Makes now what Apply() of such batches would otherwise make in a step. Errors: Apply()'s.
  virtual absl::Status WarmUp(const WarmUpShape& shape);

  // Slots for masks of `vocab_size` tokens, all empty. Errors: INVALID_ARGUMENT (a size that is not
  // positive, a negative count); those of the device.
  absl::StatusOr<std::unique_ptr<MaskDictionary>> MakeDictionary(std::int64_t vocab_size,
                                                                 std::int64_t slot_count) const;

 private:
  // Called with arguments that CheckMasks() accepts and a dictionary that is this applier's.
  virtual absl::Status ApplyChecked(const MaskRows& masks, const Logits& logits) const = 0;
  virtual absl::StatusOr<std::unique_ptr<MaskDictionary>> MakeCheckedDictionary(
      std::int64_t vocab_size, std::int64_t slot_count) const;
};

// Whether `masks` fit `logits`, as Apply() requires; for refusing a batch before its forward pass.
absl::Status CheckMasks(const MaskRows& masks, const Logits& logits);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_APPLIER_H_
