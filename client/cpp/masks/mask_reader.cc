// Each row form becomes a view: of the message's own words or ids, of a stored mask, or of words
// that are made from a stored one and its changes. The dictionary's masks are shared with the
// results that show them, so putting a new one into a slot changes no result.
//
// Invariant  a stored mask never changes; ids of a list ascend and are below the vocabulary's size.
// Cost       a list or a slot is a view; a delta writes all words of a mask, and what goes into the
//            dictionary is copied once.
#include "client/cpp/masks/mask_reader.h"

#include <atomic>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maskd::client {

MaskReader::MaskReader(const v1::Welcome& welcome)
    : mask_words_(welcome.mask_words()),
      vocab_size_(welcome.tokenizer().vocab_size()),
      dictionary_(welcome.dictionary_size()) {}

absl::StatusOr<MaskView> MaskReader::Read(WireInput& in, MaskStorage& storage) {
  if (!ReadPosition(in, static_cast<std::size_t>(mask_words_), storage, fields_))
    return absl::InternalError("the server sent what is no message");
  absl::StatusOr<MaskView> mask = ReadForm(storage);
  if (mask.ok() && fields_.dictionary_slot.has_value()) {
    if (absl::Status put = Put(*fields_.dictionary_slot, *mask); !put.ok()) return put;
  }
  if (mask.ok() && (fields_.temperature.has_value() || !fields_.biases.empty())) {
    if (absl::Status tuned = ReadTuning(storage, *mask); !tuned.ok()) return tuned;
  }
  return mask;
}

absl::Status MaskReader::ReadTuning(MaskStorage& storage, MaskView& mask) const {
  if (fields_.temperature.has_value()) {
    if (!std::isfinite(*fields_.temperature) || *fields_.temperature < 0)
      return absl::InternalError(absl::StrCat("a temperature of ", *fields_.temperature));
    mask.temperature_ = fields_.temperature;
  }
  std::int32_t before = -1;
  for (const LogitBias& bias : fields_.biases) {
    if (bias.id <= before || bias.id >= vocab_size_ || !std::isfinite(bias.bias)) {
      return absl::InternalError(absl::StrCat("a bias of ", bias.bias, " for token ", bias.id,
                                              " is not finite, or its token none of ", vocab_size_,
                                              " in ascending order"));
    }
    before = bias.id;
  }
  mask.biases_ = storage.biases.emplace_back(fields_.biases);
  return absl::OkStatus();
}

absl::StatusOr<MaskView> MaskReader::ReadForm(MaskStorage& storage) const {
  switch (fields_.form) {
    case v1::Position::kFullFieldNumber:
      return MaskView();
    case v1::Position::kInvalidFieldNumber:
      return Invalid();
    case v1::Position::kDenseFieldNumber:
      return ReadDense();
    case v1::Position::kSameAsFieldNumber:
      return ReadSame(storage);
    case v1::Position::kAllowedIdsFieldNumber:
      return ReadIds(MaskView::Form::kAllowedIds, storage);
    case v1::Position::kForbiddenIdsFieldNumber:
      return ReadIds(MaskView::Form::kForbiddenIds, storage);
    case v1::Position::kDeltaFieldNumber:
      return ReadDelta(storage);
    default:
      return absl::InternalError(
          absl::StrCat("row form ", fields_.form, " was not offered to the server"));
  }
}

MaskView MaskReader::Invalid() {
  MaskView mask;
  mask.form_ = MaskView::Form::kInvalid;
  return mask;
}

absl::StatusOr<MaskView> MaskReader::ReadDense() const {
  if (fields_.words.empty()) {
    return absl::InternalError(absl::StrCat("a mask of ", fields_.dense_bytes, " bytes where ",
                                            mask_words_, " words are due"));
  }
  MaskView mask;
  mask.form_ = MaskView::Form::kDense;
  mask.words_ = fields_.words;
  return mask;
}

absl::StatusOr<MaskView> MaskReader::ReadIds(MaskView::Form form, MaskStorage& storage) const {
  std::int64_t before = -1;
  for (const std::int32_t id : fields_.ids) {
    if (id <= before || id >= vocab_size_) {
      return absl::InternalError(absl::StrCat("id ", id, " in a list for ", vocab_size_,
                                              " tokens does not ascend or is none of them"));
    }
    before = id;
  }
  MaskView mask;
  mask.form_ = form;
  mask.ids_ = fields_.ids;
  mask.vocab_size_ = vocab_size_;
  mask.pool_ = storage.pool.get();
  return mask;
}

absl::StatusOr<MaskView> MaskReader::ReadSame(MaskStorage& storage) const {
  absl::StatusOr<std::shared_ptr<const StoredMask>> stored = Find(fields_.slot);
  if (!stored.ok()) return stored.status();
  const MaskView mask = ViewOf(**stored, storage);
  storage.stored.push_back(*std::move(stored));
  return mask;
}

MaskView MaskReader::ViewOf(const StoredMask& stored, const MaskStorage& storage) const {
  MaskView mask;
  mask.form_ = stored.form;
  mask.ids_ = stored.ids;
  mask.words_ = stored.words;
  mask.serial_ = stored.serial;
  mask.vocab_size_ = vocab_size_;
  mask.pool_ = storage.pool.get();
  return mask;
}

absl::StatusOr<MaskView> MaskReader::ReadDelta(MaskStorage& storage) const {
  const auto base = Find(fields_.slot);
  if (!base.ok()) return base.status();
  const std::vector<std::uint32_t>& indices = fields_.word_indices;
  if (indices.size() != fields_.changed_words.size()) {
    return absl::InternalError(absl::StrCat("a delta of ", indices.size(), " indices and ",
                                            fields_.changed_words.size(), " words"));
  }
  const std::span<std::int32_t> words = storage.pool->Take();
  ViewOf(**base, storage).CopyTo(words);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= words.size()) {
      return absl::InternalError(
          absl::StrCat("a delta changes word ", indices[i], " of ", mask_words_));
    }
    words[indices[i]] = static_cast<std::int32_t>(fields_.changed_words[i]);
  }
  MaskView mask;
  mask.form_ = MaskView::Form::kDense;
  mask.words_ = words;
  return mask;
}

absl::StatusOr<std::shared_ptr<const StoredMask>> MaskReader::Find(std::uint32_t slot) const {
  if (slot >= dictionary_.size() || dictionary_[slot] == nullptr) {
    return absl::InternalError(
        absl::StrCat("slot ", slot, " of a dictionary of ", dictionary_.size(), " holds no mask"));
  }
  return dictionary_[slot];
}

absl::Status MaskReader::Put(std::uint32_t slot, MaskView& mask) {
  static std::atomic<std::uint64_t> serial = 1;
  const bool is_mask = !mask.full() && !mask.invalid();
  if (slot >= dictionary_.size() || !is_mask) {
    return absl::InternalError(absl::StrCat("slot ", slot, " of a dictionary of ",
                                            dictionary_.size(), " is to hold ",
                                            is_mask ? "a mask" : "what is no mask"));
  }
  // A new one: a result of another thread may still show what was there.
  const bool is_short = mask.is_list() && mask.ids().size() <= kShortList;
  const auto words = is_short ? std::span<const std::int32_t>() : mask.words();
  mask.serial_ = serial.fetch_add(1, std::memory_order_relaxed);
  dictionary_[slot] =
      std::make_shared<const StoredMask>(StoredMask{mask.form(),
                                                    {mask.ids().begin(), mask.ids().end()},
                                                    {words.begin(), words.end()},
                                                    mask.serial_});
  return absl::OkStatus();
}

}  // namespace maskd::client
