#include "grammar_core/mask/token_mask.h"

#include <cassert>

#include "grammar_core/mask/bit_words.h"

namespace maskd {

void TokenMask::Merge(const TokenMask& other) {
  assert(other.vocab_size_ == vocab_size_);
  OrInto(words_, other.words_);
}

int TokenMask::CountAllowed() const { return static_cast<int>(CountBits(words_)); }

bool TokenMask::empty() const { return !AnyBit(words_); }

}  // namespace maskd
