#include "client/apply/mask_dictionary.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

#include "client/apply/mask_rows.h"

namespace maskd::client {

MaskDictionary::MaskDictionary(const Applier* maker, std::int64_t vocab_size,
                               std::int64_t slot_count)
    : maker_(maker),
      vocab_size_(vocab_size),
      slot_count_(slot_count),
      words_(static_cast<std::size_t>(slot_count * MaskWordCount(vocab_size))),
      set_(static_cast<std::size_t>(slot_count)) {}

absl::Status MaskDictionary::Set(std::int64_t slot, std::span<const std::int32_t> words) {
  const std::int64_t word_count = MaskWordCount(vocab_size_);
  if (slot < 0 || slot >= slot_count_) {
    return absl::OutOfRangeError(
        absl::StrCat("slot: ", slot, " is not one of the ", slot_count_, " slots"));
  }
  if (static_cast<std::int64_t>(words.size()) != word_count || words.data() == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "words: are ", words.size(), ", a vocabulary of ", vocab_size_, " needs ", word_count));
  }
  set_[static_cast<std::size_t>(slot)] = true;
  std::ranges::copy(words, words_.begin() + slot * word_count);
  return Store(slot, words);
}

std::span<const std::int32_t> MaskDictionary::Find(std::int64_t slot) const {
  if (slot < 0 || slot >= slot_count_ || !set_[static_cast<std::size_t>(slot)]) return {};
  const auto word_count = static_cast<std::size_t>(MaskWordCount(vocab_size_));
  return std::span(words_).subspan(static_cast<std::size_t>(slot) * word_count, word_count);
}

absl::Status MaskDictionary::Store(std::int64_t /*slot*/, std::span<const std::int32_t> /*words*/) {
  return absl::OkStatus();
}

}  // namespace maskd::client
