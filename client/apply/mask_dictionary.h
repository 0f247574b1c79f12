// Masks that an applier keeps at hand, by slot, so that a row can name one instead of bringing it.
//
//   auto dictionary = applier->MakeDictionary(/*vocab_size=*/128'256, /*slot_count=*/256);
//   (*dictionary)->Set(7, words);
//   applier->Apply({.vocab_size = 128'256, .rows = rows, .dictionary = dictionary->get()}, logits);
//
// Use      one a decode stream: the service says which mask goes to which slot.
// Memory   slot_count masks in host memory; an applier for a device keeps them there as well.
// Errors   INVALID_ARGUMENT (words that do not match the vocabulary), OUT_OF_RANGE (no such slot);
//          those of the device.
// Threads  one writer or many readers; an Apply() that is given it reads.
// Ownership  must not outlive its applier.
#ifndef MASKD_CLIENT_APPLY_MASK_DICTIONARY_H_
#define MASKD_CLIENT_APPLY_MASK_DICTIONARY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

namespace maskd::client {

class Applier;

// Filled by the stream's replies, read by Apply().
class MaskDictionary {
 public:
  // For appliers. `vocab_size` is positive, `slot_count` is not negative.
  MaskDictionary(const Applier* maker, std::int64_t vocab_size, std::int64_t slot_count);
  virtual ~MaskDictionary() = default;
  MaskDictionary(const MaskDictionary&) = delete;
  MaskDictionary& operator=(const MaskDictionary&) = delete;

  // Puts a copy of `words` into `slot`, in place of what was there.
  absl::Status Set(std::int64_t slot, std::span<const std::int32_t> words);

  // The slot's mask; empty when there is none.
  [[nodiscard]] std::span<const std::int32_t> Find(std::int64_t slot) const;

  // Who made it: another applier refuses it, as a device cannot read its memory.
  [[nodiscard]] const Applier* maker() const { return maker_; }
  [[nodiscard]] std::int64_t vocab_size() const { return vocab_size_; }
  [[nodiscard]] std::int64_t slot_count() const { return slot_count_; }

 private:
  // Brings the slot's new mask to where the applier reads it.
  virtual absl::Status Store(std::int64_t slot, std::span<const std::int32_t> words);

  const Applier* maker_;
  std::int64_t vocab_size_;
  std::int64_t slot_count_;
  std::vector<std::int32_t> words_;
  std::vector<bool> set_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_MASK_DICTIONARY_H_
