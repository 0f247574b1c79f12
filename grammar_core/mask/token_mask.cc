#include "grammar_core/mask/token_mask.h"

#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <span>
#include <utility>

#include "grammar_core/mask/bit_words.h"

namespace maskd {
namespace {

// From so many on, writing words one by one takes as long as reading a mask that is in the caches.
constexpr std::size_t kFewWords = 128;

}  // namespace

void TokenMask::Merge(const TokenMask& other) {
  assert(other.vocab_size_ == vocab_size_);
  OrInto(words_, other.words_);
}

int TokenMask::CountAllowed() const { return static_cast<int>(CountBits(words_)); }

bool TokenMask::empty() const { return !AnyBit(words_); }

void TokenMask::CopyTo(void* row) const {
  const std::size_t bytes = words_.size() * sizeof(std::int32_t);
  if (stored_.few_words.empty()) {
    std::memcpy(row, words_.data(), bytes);
    return;
  }
  std::memset(row, 0, bytes);
  for (const WordAt& word : stored_.few_words) {
    std::memcpy(static_cast<char*>(row) + word.index * sizeof(word.bits), &word.bits,
                sizeof(word.bits));
  }
}

void TokenMask::BecomeStored(std::uint64_t serial) {
  stored_.serial = serial;
  std::array<WordAt, kFewWords> few;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = FindNonzero(words_, at)) < words_.size(); ++at) {
    if (count == kFewWords) return;
    few[count++] = {static_cast<std::uint32_t>(at), words_[at]};
  }
  stored_.few_words.assign(few.begin(), few.begin() + static_cast<std::ptrdiff_t>(count));
}

MaskRef StoreMask(TokenMask mask) {
  static std::atomic<std::uint64_t> serial = 1;
  mask.BecomeStored(serial.fetch_add(1, std::memory_order_relaxed));
  return std::make_shared<const TokenMask>(std::move(mask));
}

}  // namespace maskd
