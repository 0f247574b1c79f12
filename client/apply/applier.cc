#include "client/apply/applier.h"

#include <limits>
#include <new>

#include "absl/strings/str_cat.h"

namespace maskd::client {
namespace {

absl::Status NoMemory(std::int64_t vocab_size, std::int64_t slot_count) {
  return absl::ResourceExhaustedError(
      absl::StrCat("slot_count: no memory for ", slot_count, " masks of ", vocab_size, " tokens"));
}

}  // namespace

absl::Status Applier::Apply(const MaskRows& masks, const Logits& logits) const {
  return Apply(masks, logits, logits);
}

absl::Status Applier::Apply(const MaskRows& masks, const Logits& logits,
                            const Logits& output) const {
  if (absl::Status status = CheckMasks(masks, logits); !status.ok()) return status;
  if (absl::Status status = CheckOutput(logits, output); !status.ok()) return status;
  if (masks.dictionary != nullptr && masks.dictionary->maker() != this)
    return absl::InvalidArgumentError("masks.dictionary: was made by another applier");
  return ApplyChecked(masks, logits, output);
}

absl::Status Applier::WarmUp(const WarmUpShape& /*shape*/) { return absl::OkStatus(); }

absl::StatusOr<std::unique_ptr<MaskDictionary>> Applier::MakeDictionary(
    std::int64_t vocab_size, std::int64_t slot_count) const {
  if (vocab_size <= 0)
    return absl::InvalidArgumentError(absl::StrCat("vocab_size: ", vocab_size, " is not positive"));
  if (slot_count < 0)
    return absl::InvalidArgumentError(absl::StrCat("slot_count: ", slot_count, " is negative"));
  constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMostWords = std::int64_t{1} << 37;  // half a TiB
  if (vocab_size > kMostTokens)
    return absl::InvalidArgumentError(absl::StrCat("vocab_size: ", vocab_size, " is too large"));
  if (slot_count > kMostWords / MaskWordCount(vocab_size)) return NoMemory(vocab_size, slot_count);
  try {
    return MakeCheckedDictionary(vocab_size, slot_count);
  } catch (const std::bad_alloc&) {
    return NoMemory(vocab_size, slot_count);
  }
}

absl::StatusOr<std::unique_ptr<MaskDictionary>> Applier::MakeCheckedDictionary(
    std::int64_t vocab_size, std::int64_t slot_count) const {
  return std::make_unique<MaskDictionary>(this, vocab_size, slot_count);
}

}  // namespace maskd::client
