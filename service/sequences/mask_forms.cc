// A mask that was said before is in known_ by its number, with the form it has alone and its slot.
// A new one is counted to choose between ids and words, then compared with the dictionary's
// nearest.
//
// Order of choice  same_as where it is in a slot. Else the difference from a mask in a slot, if
//                  that is shorter than the mask alone. Else alone, and put into a slot if long.
// Invariant  a mask of known_ is in its slot exactly if nothing was put there since; equal masks of
//            several numbers may be in one. The client's dictionary and this one change by the same
//            replies in the same order.
// Cost       see the header.
#include "service/sequences/mask_forms.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace maskd::service {
namespace {

using Ids = std::vector<TokenId>;

// Masks that cost no more than this on their own stay out of the dictionary: they would push others
// out, and over documents the bytes are the same.
constexpr std::int64_t kWorthASlotBytes = 32;

// Masks that cost no more than this are not compared with the dictionary: a delta would save little
// of them, and comparing costs a step more time than anything else.
constexpr std::int64_t kWorthADeltaBytes = 64;

// Masks remembered at most; then all are forgotten.
constexpr std::size_t kMaxKnown = 1 << 14;

// Bytes of their ids, at most, before the same.
constexpr std::int64_t kMaxListBytes = 16 << 20;

// That of masks made for one call.
constexpr std::uint64_t kNoSerial = 0;

// Tag and length of a list or of words.
constexpr std::int64_t kHeaderBytes = 4;

constexpr std::int64_t VarintBytes(std::uint32_t value) {
  return (std::bit_width(value | 1U) + 6) / 7;
}

std::int64_t ListBytes(const Ids& ids) {
  std::int64_t bytes = kHeaderBytes;
  for (const TokenId id : ids) bytes += VarintBytes(static_cast<std::uint32_t>(id));
  return bytes;
}

std::int64_t DeltaBytes(const MaskDelta& delta) {
  std::int64_t bytes = 2 * kHeaderBytes;
  for (const std::uint32_t index : delta.word_indices)
    bytes += VarintBytes(index) + static_cast<std::int64_t>(sizeof(std::uint32_t));
  return bytes;
}

std::int64_t DenseBytes(const TokenMask& mask) {
  return kHeaderBytes + static_cast<std::int64_t>(mask.word_count() * sizeof(std::int32_t));
}

// Of a slot and its tag, at most.
constexpr std::int64_t kSlotBytes = 8;

MaskForm SameAs(int slot) {
  return {.kind = MaskForm::Kind::kSameAs, .slot = slot, .bytes = kSlotBytes};
}

Ids AllowedIds(const TokenMask& mask, int count) {
  Ids ids;
  ids.reserve(static_cast<std::size_t>(count));
  mask.VisitAllowed([&ids](TokenId id) { ids.push_back(id); });
  return ids;
}

Ids ForbiddenIds(const TokenMask& mask, int count) {
  Ids ids;
  ids.reserve(static_cast<std::size_t>(count));
  TokenId next = 0;
  mask.VisitAllowed([&](TokenId id) {
    for (; next < id; ++next) ids.push_back(next);
    next = id + 1;
  });
  for (; next < mask.vocab_size(); ++next) ids.push_back(next);
  return ids;
}

}  // namespace

MaskForm MaskForms::Say(const MaskRef& mask) {
  // A mask of one call has no number: it is said alone or as a difference, and not remembered.
  const std::uint64_t serial = mask->serial();
  if (serial == kNoSerial) {
    Known known = SayAlone(*mask);
    return SayKnown(mask, &known);
  }
  if (const auto found = known_.find(serial); found != known_.end())
    return SayKnown(mask, &found->second);
  return SayKnown(mask, Remember(serial, SayAlone(*mask)));
}

MaskForms::Known MaskForms::SayAlone(const TokenMask& mask) const {
  Known known;
  known.cost_bytes = DenseBytes(mask);
  known.alone.bytes = kSlotBytes + std::max<std::int64_t>(4 * terms_.mask_words, known.cost_bytes);
  const int allowed = known.allowed_count = mask.CountAllowed();
  const bool few_allowed = allowed <= mask.vocab_size() / 2;
  const int listed = few_allowed ? allowed : mask.vocab_size() - allowed;
  const bool may_list = few_allowed ? terms_.allowed_ids : terms_.forbidden_ids;
  if (!may_list || listed >= known.cost_bytes) return known;
  Ids ids = few_allowed ? AllowedIds(mask, listed) : ForbiddenIds(mask, listed);
  const std::int64_t bytes = ListBytes(ids);
  if (bytes >= known.cost_bytes) return known;
  known.cost_bytes = bytes;
  known.alone.bytes = kSlotBytes + bytes;
  known.alone.kind = few_allowed ? MaskForm::Kind::kAllowedIds : MaskForm::Kind::kForbiddenIds;
  known.alone.ids = std::make_shared<const Ids>(std::move(ids));
  return known;
}

MaskForm MaskForms::SayKnown(const MaskRef& mask, Known* known) {
  if (terms_.same_as && HasSlot(*known)) {
    dictionary_.Touch(known->slot);
    return SameAs(known->slot);
  }
  if (terms_.dictionary_size == 0 || known->cost_bytes <= kWorthASlotBytes) return known->alone;
  MaskForm form = known->alone;
  std::optional<MaskDelta> delta;
  if (known->cost_bytes > kWorthADeltaBytes) delta = FindDelta(*mask, *known);
  if (delta.has_value() && delta->words.empty() && terms_.same_as) {
    dictionary_.Touch(delta->base);
    SetSlot(delta->base, known);  // made again, beside another of the same words or after it
    return SameAs(delta->base);
  }
  if (delta.has_value() && terms_.delta) {
    dictionary_.Touch(delta->base);
    form = MaskForm{.kind = MaskForm::Kind::kDelta, .bytes = kSlotBytes + DeltaBytes(*delta)};
    form.delta = std::make_shared<const MaskDelta>(*std::move(delta));
  }
  if (!HasSlot(*known)) {
    Put(mask, known);
    form.put = known->slot;
  }
  return form;
}

// A mask of the dictionary that makes `mask` shorter to say.
std::optional<MaskDelta> MaskForms::FindDelta(const TokenMask& mask, const Known& known) const {
  // A word of a difference takes five bytes; with more of them it would not be shorter.
  const int max_words = terms_.delta ? static_cast<int>(known.cost_bytes / 5) : 0;
  std::optional<MaskDelta> delta = dictionary_.FindNearest(mask, known.allowed_count, max_words);
  if (delta.has_value() && DeltaBytes(*delta) >= known.cost_bytes) return std::nullopt;
  return delta;
}

// All at once: a mask that is in a slot is known by its words again.
MaskForms::Known* MaskForms::Remember(std::uint64_t serial, Known known) {
  if (known_.size() >= kMaxKnown || listed_bytes_ >= kMaxListBytes) {
    known_.clear();
    listed_bytes_ = 0;
  }
  if (known.alone.ids != nullptr)
    listed_bytes_ += static_cast<std::int64_t>(known.alone.ids->size() * sizeof(TokenId));
  return &known_.insert_or_assign(serial, std::move(known)).first->second;
}

void MaskForms::Put(const MaskRef& mask, Known* known) {
  const MaskDictionary::Place place =
      dictionary_.Put(mask, known->allowed_count, known->cost_bytes);
  if (!place.replaced) puts_.push_back(0);
  puts_[static_cast<std::size_t>(place.slot)] = ++last_put_;
  SetSlot(place.slot, known);
}

void MaskForms::SetSlot(int slot, Known* known) const {
  known->slot = slot;
  known->put = puts_[static_cast<std::size_t>(slot)];
}

bool MaskForms::HasSlot(const Known& known) const {
  return known.slot >= 0 && known.put == puts_[static_cast<std::size_t>(known.slot)];
}

}  // namespace maskd::service
