#include "client/cpp/masks/mask_view.h"

#include <algorithm>

namespace maskd::client {
namespace {

constexpr std::int64_t kBitsPerWord = 32;

std::int32_t BitOf(std::int32_t id) { return static_cast<std::int32_t>(1U << (id % kBitsPerWord)); }

}  // namespace

std::span<std::int32_t> WordPool::Take() {
  if (used_ == masks_.size()) masks_.emplace_back(mask_words_);
  return masks_[used_++];
}

void ExpandAllowed(std::span<const std::int32_t> ids, std::span<std::int32_t> words) {
  std::ranges::fill(words, 0);
  for (const std::int32_t id : ids) words[static_cast<std::size_t>(id / kBitsPerWord)] |= BitOf(id);
}

void ExpandForbidden(std::span<const std::int32_t> ids, std::int64_t vocab_size,
                     std::span<std::int32_t> words) {
  const auto whole = static_cast<std::size_t>(vocab_size / kBitsPerWord);
  std::ranges::fill(words.first(whole), -1);
  std::ranges::fill(words.subspan(whole), 0);
  if (vocab_size % kBitsPerWord != 0)
    words[whole] = static_cast<std::int32_t>((1U << (vocab_size % kBitsPerWord)) - 1);
  for (const std::int32_t id : ids)
    words[static_cast<std::size_t>(id / kBitsPerWord)] &= ~BitOf(id);
}

void FlipIds(std::span<const std::int32_t> ids, std::span<std::int32_t> words) {
  for (const std::int32_t id : ids) words[static_cast<std::size_t>(id / kBitsPerWord)] ^= BitOf(id);
}

std::span<const std::int32_t> MaskView::Expand() const {
  const std::span<std::int32_t> words = pool_->Take();
  CopyTo(words);
  words_ = words;
  return words_;
}

void MaskView::CopyToRow(std::int64_t mask_words, std::span<std::int32_t> row) const {
  const std::span<std::int32_t> words = row.first(static_cast<std::size_t>(mask_words));
  if (full())
    std::ranges::fill(words, -1);
  else
    CopyTo(words);
  std::ranges::fill(row.subspan(words.size()), 0);
}

bool MaskView::Allows(std::int32_t token, std::int64_t vocab_size) const {
  if (token < 0 || token >= vocab_size || invalid()) return false;
  if (full()) return true;
  if (is_list()) return std::ranges::binary_search(ids_, token) == (form_ == Form::kAllowedIds);
  const auto word = static_cast<std::uint32_t>(words_[static_cast<std::size_t>(token / 32)]);
  return (word >> (token % 32) & 1) != 0;
}

void MaskView::CopyTo(std::span<std::int32_t> words) const {
  if (!words_.empty())
    std::ranges::copy(words_, words.begin());
  else if (form_ == Form::kAllowedIds)
    ExpandAllowed(ids_, words);
  else
    ExpandForbidden(ids_, vocab_size_, words);
}

}  // namespace maskd::client
