#include "client/cpp/mask_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maskd::client {
namespace {

static_assert(std::endian::native == std::endian::little,
              "a dense mask is read in place: its words are little-endian on the wire");

}  // namespace

MaskReader::MaskReader(const v1::Welcome& welcome)
    : mask_words_(welcome.mask_words()),
      vocab_size_(welcome.tokenizer().vocab_size()),
      dictionary_(welcome.dictionary_size()) {}

absl::StatusOr<MaskView> MaskReader::Read(const v1::Position& position, MaskStorage& storage) {
  absl::StatusOr<MaskView> mask = ReadForm(position, storage);
  if (mask.ok() && position.has_dictionary_slot()) {
    if (absl::Status put = Put(position.dictionary_slot(), *mask); !put.ok()) return put;
  }
  if (mask.ok() && (position.has_temperature() || position.biases_size() > 0)) {
    if (absl::Status tuned = ReadTuning(position, storage, *mask); !tuned.ok()) return tuned;
  }
  return mask;
}

absl::Status MaskReader::ReadTuning(const v1::Position& position, MaskStorage& storage,
                                    MaskView& mask) const {
  if (position.has_temperature()) {
    if (!std::isfinite(position.temperature()) || position.temperature() < 0) {
      return absl::InternalError(absl::StrCat("a temperature of ", position.temperature()));
    }
    mask.temperature_ = position.temperature();
  }
  std::vector<LogitBias>& biases = storage.biases.emplace_back();
  biases.reserve(static_cast<std::size_t>(position.biases_size()));
  std::int32_t before = -1;
  for (const v1::LogitBias& bias : position.biases()) {
    if (bias.id() <= before || bias.id() >= vocab_size_ || !std::isfinite(bias.bias())) {
      return absl::InternalError(absl::StrCat("a bias of ", bias.bias(), " for token ", bias.id(),
                                              " is not finite, or its token none of ", vocab_size_,
                                              " in ascending order"));
    }
    before = bias.id();
    biases.push_back({bias.id(), bias.bias()});
  }
  mask.biases_ = biases;
  return absl::OkStatus();
}

absl::StatusOr<MaskView> MaskReader::ReadForm(const v1::Position& position,
                                              MaskStorage& storage) const {
  switch (position.form_case()) {
    case v1::Position::kFull:
      return MaskView();
    case v1::Position::kInvalid:
      return Invalid();
    case v1::Position::kDense:
      return ReadDense(position.dense());
    case v1::Position::kSameAs:
      return ReadSame(position.same_as(), storage);
    case v1::Position::kAllowedIds:
      return ReadIds(position.allowed_ids(), MaskView::Form::kAllowedIds, storage);
    case v1::Position::kForbiddenIds:
      return ReadIds(position.forbidden_ids(), MaskView::Form::kForbiddenIds, storage);
    case v1::Position::kDelta:
      return ReadDelta(position.delta(), storage);
    default:
      return absl::InternalError(absl::StrCat("row form ", static_cast<int>(position.form_case()),
                                              " was not offered to the server"));
  }
}

MaskView MaskReader::Invalid() {
  MaskView mask;
  mask.form_ = MaskView::Form::kInvalid;
  return mask;
}

absl::StatusOr<MaskView> MaskReader::ReadDense(const std::string& bytes) const {
  const auto word_count = static_cast<std::int64_t>(bytes.size() / sizeof(std::int32_t));
  if (bytes.size() % sizeof(std::int32_t) != 0 || word_count != mask_words_) {
    return absl::InternalError(
        absl::StrCat("a mask of ", bytes.size(), " bytes where ", mask_words_, " words are due"));
  }
  MaskView mask;
  mask.form_ = MaskView::Form::kDense;
  // A string of this size is on the heap or in the string itself: either way aligned for int32.
  mask.words_ = {reinterpret_cast<const std::int32_t*>(bytes.data()),
                 static_cast<std::size_t>(word_count)};
  return mask;
}

absl::StatusOr<MaskView> MaskReader::ReadIds(const v1::IdList& list, MaskView::Form form,
                                             MaskStorage& storage) const {
  std::int64_t before = -1;
  for (const std::int32_t id : list.ids()) {
    if (id <= before || id >= vocab_size_) {
      return absl::InternalError(absl::StrCat("id ", id, " in a list for ", vocab_size_,
                                              " tokens does not ascend or is none of them"));
    }
    before = id;
  }
  MaskView mask;
  mask.form_ = form;
  mask.ids_ = {list.ids().data(), static_cast<std::size_t>(list.ids_size())};
  mask.vocab_size_ = vocab_size_;
  mask.pool_ = storage.pool.get();
  return mask;
}

absl::StatusOr<MaskView> MaskReader::ReadSame(std::uint32_t slot, MaskStorage& storage) const {
  absl::StatusOr<std::shared_ptr<const StoredMask>> stored = Find(slot);
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
  mask.vocab_size_ = vocab_size_;
  mask.pool_ = storage.pool.get();
  return mask;
}

absl::StatusOr<MaskView> MaskReader::ReadDelta(const v1::MaskDelta& delta,
                                               MaskStorage& storage) const {
  const auto base = Find(delta.base());
  if (!base.ok()) return base.status();
  if (delta.word_indices_size() != delta.words_size()) {
    return absl::InternalError(absl::StrCat("a delta of ", delta.word_indices_size(),
                                            " indices and ", delta.words_size(), " words"));
  }
  const std::span<std::int32_t> words = storage.pool->Take();
  ViewOf(**base, storage).CopyTo(words);
  for (int i = 0; i < delta.words_size(); ++i) {
    if (delta.word_indices(i) >= words.size()) {
      return absl::InternalError(
          absl::StrCat("a delta changes word ", delta.word_indices(i), " of ", mask_words_));
    }
    words[delta.word_indices(i)] = static_cast<std::int32_t>(delta.words(i));
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

absl::Status MaskReader::Put(std::uint32_t slot, const MaskView& mask) {
  const bool is_mask = !mask.full() && !mask.invalid();
  if (slot >= dictionary_.size() || !is_mask) {
    return absl::InternalError(absl::StrCat("slot ", slot, " of a dictionary of ",
                                            dictionary_.size(), " is to hold ",
                                            is_mask ? "a mask" : "what is no mask"));
  }
  std::shared_ptr<StoredMask>& stored = dictionary_[slot];
  // A mask that a StepResult still shows stays as it is.
  if (stored == nullptr || stored.use_count() > 1) stored = std::make_shared<StoredMask>();
  stored->form = mask.form();
  stored->ids.assign(mask.ids().begin(), mask.ids().end());
  const auto words = mask.is_list() ? std::span<const std::int32_t>() : mask.words();
  stored->words.assign(words.begin(), words.end());
  return absl::OkStatus();
}

}  // namespace maskd::client
