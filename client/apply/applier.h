// Masks an engine's logits in place, before it samples.
//
//   absl::StatusOr<std::unique_ptr<Applier>> applier = MakeApplier("auto");   // once, at start
//   absl::Status masked = (*applier)->Apply({.vocab_size = 32000, .rows = rows}, logits);
//
// Result   in each named row, the logit of every token that its mask does not allow, and every
//          logit past the vocabulary, is minus infinity; all others keep their bits. Rows not
//          named, full rows and the gap between width and row_stride are neither read nor written.
//          With a separate output the logits are only read: each named row of the output is
//          what the row would have become, full rows are copied; no other byte of it is written.
// Errors   found before anything is written: OUT_OF_RANGE (no such row of logits);
//          INVALID_ARGUMENT. That is null data, an unknown type, a shape that does not fit, words
//          or ids that do not match the vocabulary, an empty slot, or a row named twice. It is also
//          memory that the applier cannot reach, and an output of another shape or in the logits'
//          memory. The message starts with the field at fault.
// Threads  any number of threads may use one applier, each with its own logits.
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

// Made by MakeApplier(), once, at start; it holds threads or a device for as long as it lives.
class Applier {
 public:
  virtual ~Applier() = default;

  // The name it was made by, never "auto".
  [[nodiscard]] virtual absl::string_view name() const = 0;

  // In place. Returns when the logits are masked; on the engine's own queue, when the commands are
  // queued.
  absl::Status Apply(const MaskRows& masks, const Logits& logits) const;
  // Into `output`: of the logits' type, memory, rows and width; its stride is its own. It may be
  // the logits themselves, and must not share memory with them otherwise.
  absl::Status Apply(const MaskRows& masks, const Logits& logits, const Logits& output) const;

  // Makes now what Apply() of such batches would otherwise make in a step. Errors: Apply()'s.
  virtual absl::Status WarmUp(const WarmUpShape& shape);

  // Slots for masks of `vocab_size` tokens, all empty. Errors: INVALID_ARGUMENT (a size that is not
  // positive or no int32, a negative count), RESOURCE_EXHAUSTED (no memory); those of the device.
  absl::StatusOr<std::unique_ptr<MaskDictionary>> MakeDictionary(std::int64_t vocab_size,
                                                                 std::int64_t slot_count) const;

 private:
  // Called with arguments that CheckMasks() and CheckOutput() accept and a dictionary that is this
  // applier's.
  virtual absl::Status ApplyChecked(const MaskRows& masks, const Logits& logits,
                                    const Logits& output) const = 0;
  virtual absl::StatusOr<std::unique_ptr<MaskDictionary>> MakeCheckedDictionary(
      std::int64_t vocab_size, std::int64_t slot_count) const;
};

// Whether `masks` fit `logits`, as Apply() requires; for refusing a batch before its forward pass.
absl::Status CheckMasks(const MaskRows& masks, const Logits& logits);

// Whether `output` can take what becomes of `logits`, both of them valid. Of device memory only the
// shape is checked: where buffers lie the applier knows.
absl::Status CheckOutput(const Logits& logits, const Logits& output);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_APPLIER_H_
