#include "grammar_core/mask/mask_builder.h"

#include <algorithm>

namespace maskd {

MaskBuilder::MaskBuilder(MaskStore* masks) : masks_(masks) {}

void MaskBuilder::Merge(MaskRef mask) {
  if (mask == nullptr) return;
  if (words_.has_value() || !parts_.removed.empty()) {
    ToWords().Merge(*mask);
    like_.push_back(std::move(mask));
  } else if (std::find(parts_.masks.begin(), parts_.masks.end(), mask) == parts_.masks.end()) {
    parts_.masks.push_back(std::move(mask));
  }
}

void MaskBuilder::Merge(MaskBuilder&& other) {
  if (!other.words_.has_value() && other.parts_.removed.empty()) {
    for (MaskRef& mask : other.parts_.masks) Merge(std::move(mask));
    for (const TokenId id : other.parts_.ids) Allow(id);
  } else {
    Merge(other.Finish());
  }
}

void MaskBuilder::Forbid(TokenId id) {
  if (words_.has_value()) return words_->Forbid(id);
  parts_.removed.push_back(id);
  if (parts_.removed.size() >= kMaxIds) ToWords();
}

TokenMask& MaskBuilder::ToWords() {
  if (!words_.has_value()) {
    words_ = parts_.ToMask(masks_->index().vocabulary().size());
    like_ = std::exchange(parts_, {}).masks;
  }
  return *words_;
}

MaskRef MaskBuilder::Finish() {
  if (!words_.has_value()) return masks_->Assemble(std::exchange(parts_, {}));
  MaskRef mask = masks_->Intern(*std::move(words_), std::exchange(like_, {}));
  words_.reset();
  return mask;
}

}  // namespace maskd
