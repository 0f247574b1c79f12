// The set of tokens that a row may sample next, packed one bit a token.
//
// Layout   word i, bit b (least significant first) stands for token 32 * i + b; 1 means allowed.
//          Bits past the vocabulary are 0, so two masks are equal exactly when their words are.
//          Token 90 alone of 128 is word 2 = 67,108,864.
// Units    vocab_size counts tokens, word_count counts int32 words, nothing here counts bytes.
// Stored   masks that are kept (StoreMask) have a number, and those of few tokens a list of their
//          words that are not 0, by which they are copied without being read as a whole. Copies
//          have neither.
// Shared   a MaskRef owns its mask: the mask lives as long as any of its references.
// Threads  a plain value: many readers or one writer. Stored masks are shared as pointers to const.
#ifndef MASKD_GRAMMAR_CORE_MASK_TOKEN_MASK_H_
#define MASKD_GRAMMAR_CORE_MASK_TOKEN_MASK_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

inline constexpr int kBitsPerWord = 32;

// Words of a mask for `vocab_size` tokens.
constexpr int MaskWordCount(int vocab_size) {
  return (vocab_size + kBitsPerWord - 1) / kBitsPerWord;
}

class TokenMask {
 public:
  // Starts with no token allowed. `vocab_size` must not be negative.
  explicit TokenMask(int vocab_size)
      : vocab_size_(vocab_size), words_(static_cast<std::size_t>(MaskWordCount(vocab_size))) {}

  // Requires 0 <= token < vocab_size().
  void Allow(TokenId token) {
    words_[token / kBitsPerWord] |= static_cast<std::int32_t>(1U << (token % kBitsPerWord));
  }
  void Forbid(TokenId token) {
    words_[token / kBitsPerWord] &= ~static_cast<std::int32_t>(1U << (token % kBitsPerWord));
  }
  [[nodiscard]] bool Allows(TokenId token) const {
    return (static_cast<std::uint32_t>(words_[token / kBitsPerWord]) >> (token % kBitsPerWord)) &
           1U;
  }

  // Calls visit(token) for each allowed token, ascending.
  template <typename Visit>
  void VisitAllowed(Visit visit) const {
    VisitAllowedWhile([&](TokenId token) {
      visit(token);
      return true;
    });
  }
  // The same until visit(token) returns false; whether it never did.
  template <typename Visit>
  bool VisitAllowedWhile(Visit visit) const {
    constexpr std::size_t kBlock = 16;  // most words of most masks are 0
    for (std::size_t begin = 0; begin < words_.size(); begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, words_.size());
      std::int32_t any = 0;
      for (std::size_t i = begin; i < end; ++i) any |= words_[i];
      for (std::size_t i = begin; any != 0 && i < end; ++i) {
        for (auto word = static_cast<std::uint32_t>(words_[i]); word != 0; word &= word - 1) {
          if (!visit(static_cast<TokenId>(i * kBitsPerWord) + std::countr_zero(word))) return false;
        }
      }
    }
    return true;
  }

  // Adds every token of `other`, which must have the same vocab_size.
  void Merge(const TokenMask& other);

  [[nodiscard]] int vocab_size() const { return vocab_size_; }
  [[nodiscard]] int CountAllowed() const;
  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::span<const std::int32_t> words() const { return words_; }
  [[nodiscard]] std::span<std::int32_t> mutable_words() { return words_; }

  // Writes words() to `row`, memory of as many words at any address.
  void CopyTo(void* row) const;

  // Equal sets; what is stored with them does not count.
  bool operator==(const TokenMask& other) const {
    return vocab_size_ == other.vocab_size_ && words_ == other.words_;
  }

  // The number of a stored mask, which no other one of this process ever has; 0 for one that is not
  // stored.
  [[nodiscard]] std::uint64_t serial() const { return stored_.serial; }

 private:
  friend std::shared_ptr<const TokenMask> StoreMask(TokenMask mask);
  void BecomeStored(std::uint64_t serial);

  struct WordAt {
    std::uint32_t index;
    std::int32_t bits;
  };
  // Stays with its mask: a copy begins without.
  struct Stored {
    Stored() = default;
    Stored(const Stored&) {}
    Stored(Stored&&) noexcept = default;
    Stored& operator=(const Stored&) { return *this = Stored(); }
    Stored& operator=(Stored&&) noexcept = default;
    std::uint64_t serial = 0;
    std::vector<WordAt> few_words;  // those that are not 0; empty: there are too many
  };

  int vocab_size_;
  std::vector<std::int32_t> words_;
  Stored stored_;
};

using MaskRef = std::shared_ptr<const TokenMask>;

// `mask` as a stored one, by a number of its own.
MaskRef StoreMask(TokenMask mask);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_TOKEN_MASK_H_
