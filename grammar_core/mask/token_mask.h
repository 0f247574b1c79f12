// The set of tokens that a row may sample next, packed one bit a token.
//
// Layout   word i, bit b (least significant first) stands for token 32 * i + b; 1 means allowed.
//          Bits past the vocabulary are 0, so two masks are equal exactly when their words are.
//          Token 90 alone of 128 is word 2 = 67,108,864.
// Units    vocab_size counts tokens, word_count counts int32 words.
// Stored   masks that are kept (StoreMask) have a number and never change. Most are compact: they
//          know only the words that differ from no token, from all of them, or from another mask,
//          which they keep alive. Whatever reads masks takes both sorts, except words(); a copy is
//          never stored and never compact.
// Shared   a MaskRef owns its mask: the mask lives as long as any of its references.
// Threads  a plain value: many readers or one writer. Stored masks are shared as pointers to const.
#ifndef MASKD_GRAMMAR_CORE_MASK_TOKEN_MASK_H_
#define MASKD_GRAMMAR_CORE_MASK_TOKEN_MASK_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

class SparseMask;
class TokenMask;
using MaskRef = std::shared_ptr<const TokenMask>;

// `mask` as a stored one, under a new number. It is made compact where few of its words differ from
// no token, from all tokens, or from one of `like` or `others`. `others` are looked at only where
// it would not be compact without them.
MaskRef StoreMask(TokenMask mask, std::span<const MaskRef> like = {},
                  std::span<const MaskRef> others = {});

// What the stored masks of this process hold now, whoever keeps them.
std::int64_t StoredMaskBytes();

// A plain mask can be changed; a stored one is read through a MaskRef.
class TokenMask {
 public:
  // Starts with no token allowed. `vocab_size` must not be negative.
  explicit TokenMask(int vocab_size)
      : vocab_size_(vocab_size), memory_(std::make_unique<std::byte[]>(AllBytes() + kHashBytes)) {}
  // Writes out what `other` allows.
  TokenMask(const TokenMask& other);
  TokenMask& operator=(const TokenMask& other);
  TokenMask(TokenMask&& other) noexcept { Swap(&other); }
  TokenMask& operator=(TokenMask&& other) noexcept {
    Swap(&other);
    return *this;
  }
  ~TokenMask();

  // Requires 0 <= token < vocab_size().
  void Allow(TokenId token) {
    assert(token >= 0 && token < vocab_size_ && !compact());
    data()[token / kBitsPerWord] |= static_cast<std::int32_t>(1U << (token % kBitsPerWord));
  }
  // Takes one token away, as Allow() adds one.
  void Forbid(TokenId token) {
    assert(token >= 0 && token < vocab_size_ && !compact());
    data()[token / kBitsPerWord] &= ~static_cast<std::int32_t>(1U << (token % kBitsPerWord));
  }
  // In a compact mask this is a search; who asks for many tokens copies it first.
  [[nodiscard]] bool Allows(TokenId token) const {
    assert(token >= 0 && token < vocab_size_);
    const auto at = static_cast<std::size_t>(token / kBitsPerWord);
    const std::int32_t word = compact() ? WordAt(at) : data()[at];
    return (static_cast<std::uint32_t>(word) >> (token % kBitsPerWord)) & 1U;
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
  bool VisitAllowedWhile(Visit visit) const;

  // Adds every token of `other`, which must have the same vocab_size.
  void Merge(const TokenMask& other);
  // Takes away every token that `other` does not have, or all that it has.
  void Intersect(const TokenMask& other);
  void Subtract(const TokenMask& other);

  // The vocabulary's sizes, whichever form the mask has.
  [[nodiscard]] int vocab_size() const { return vocab_size_; }
  [[nodiscard]] std::size_t word_count() const {
    return static_cast<std::size_t>(MaskWordCount(vocab_size_));
  }
  // The first counts all bits unless the mask is stored; the second stops at the first bit.
  [[nodiscard]] int CountAllowed() const;
  [[nodiscard]] bool empty() const;
  // Requires a mask that is not stored.
  [[nodiscard]] std::span<const std::int32_t> words() const {
    assert(!compact());
    return {data(), word_count()};
  }
  // For who writes words at once. Bits past the vocabulary must stay 0.
  [[nodiscard]] std::span<std::int32_t> mutable_words() {
    assert(!compact());
    return {data(), word_count()};
  }

  // Writes the mask to `row`, memory of word_count() words at any address.
  void CopyTo(void* row) const;

  // Calls visit(index, word) for each word of this that `words`, as many, has otherwise, until it
  // returns false; whether it never did.
  template <typename Visit>
  bool VisitDifferences(std::span<const std::int32_t> words, Visit visit) const;

  // Equal sets; what is stored with them does not count.
  bool operator==(const TokenMask& other) const;

  // The number of a stored mask, which no other one of this process ever has; 0 for a mask that is
  // not stored.
  [[nodiscard]] std::uint64_t serial() const { return serial_; }
  // Whether it is stored as few words.
  [[nodiscard]] bool compact() const { return compact_; }
  // Memory of this mask, roughly; not that of the one it is compared with.
  [[nodiscard]] std::int64_t held_bytes() const;
  // HashWords() of a stored mask that is not compact.
  [[nodiscard]] std::uint64_t hash() const {
    assert(serial() != 0 && !compact());
    std::uint64_t hash = 0;
    std::memcpy(&hash, memory_.get() + AllBytes(), kHashBytes);
    return hash;
  }

 private:
  friend class SparseMask;
  friend MaskRef StoreMask(TokenMask mask, std::span<const MaskRef> like,
                           std::span<const MaskRef> others);

  // Some words, ascending: which they are and what they are.
  using Index = std::uint16_t;
  // Words that have a number as an index: those of two million tokens.
  static constexpr std::size_t kMostIndices = 65'536;
  struct Differences {
    std::vector<Index> indices;
    std::vector<std::int32_t> words;
  };

  // Behind the words of a mask that is not compact.
  static constexpr std::size_t kHashBytes = sizeof(std::uint64_t);
  // Words that are compared at once: most blocks of two near masks are equal, and memcmp is fast.
  static constexpr std::size_t kBlockWords = 64;
  static constexpr std::array<std::int32_t, kBlockWords> kNoWords = {};
  static constexpr auto kAllWords = [] {
    std::array<std::int32_t, kBlockWords> words;
    words.fill(-1);
    return words;
  }();

  // Some words side by side.
  struct Run {
    std::size_t begin;
    std::size_t end;
    const std::int32_t* words;  // null: each of them is `fill`, 0 or -1
    std::int32_t fill;

    // A block of them, from word `at` on.
    [[nodiscard]] const std::int32_t* At(std::size_t at) const {
      if (words != nullptr) return words + (at - begin);
      return fill == 0 ? kNoWords.data() : kAllWords.data();
    }
  };
  // Calls visit(run) for runs that are all words, ascending, until it returns false; whether it
  // never did.
  template <typename Visit>
  bool VisitRuns(Visit visit) const;

  // Without words: for who makes it compact at once.
  TokenMask(int vocab_size, std::nullptr_t) : vocab_size_(vocab_size) {}
  // Under a new number; all but that is set.
  static MaskRef Stored(TokenMask mask);
  // A longer list of differences, from a stored mask or not, is not kept.
  static std::size_t MostDifferences(std::size_t word_count, bool from_mask);

  [[nodiscard]] std::int32_t WordAt(std::size_t index) const;
  [[nodiscard]] Run BaseRun(std::size_t begin, std::size_t end) const;
  void MakeCompact(std::span<const MaskRef> like, std::span<const MaskRef> others);
  // Becomes compact: these words, and no others.
  void Keep(const Differences& differences);
  // The words that differ from those of `from`, which are all; false for more than `most`.
  bool FindDifferences(const Run& from, std::size_t most, Differences* found) const;
  // Whether it may have no more than `most`, by how many tokens the other mask allows.
  [[nodiscard]] bool MayDifferLittle(int allowed_count, std::size_t most) const;

  [[nodiscard]] std::size_t AllBytes() const { return word_count() * sizeof(std::int32_t); }
  // Sets a moved one free of what is stored with it.
  void Swap(TokenMask* other) noexcept;
  // All words, or those of a compact mask's indices, which lie behind them.
  [[nodiscard]] std::int32_t* data() { return reinterpret_cast<std::int32_t*>(memory_.get()); }
  [[nodiscard]] const std::int32_t* data() const {
    return reinterpret_cast<const std::int32_t*>(memory_.get());
  }
  [[nodiscard]] std::span<const Index> indices() const {
    return {reinterpret_cast<const Index*>(data() + index_count_), index_count_};
  }
  [[nodiscard]] const std::int32_t* BaseWords() const {
    return base_ == nullptr ? nullptr : base_->data();
  }
  [[nodiscard]] std::int32_t fill() const { return fills_ ? -1 : 0; }

  int vocab_size_ = 0;
  int allowed_count_ = 0;  // of a stored mask
  // For a compact mask: its indices list some words, ascending; all others are those of `base_`,
  // which is not compact, or without one each 0 or, if `fills_`, -1.
  std::uint32_t index_count_ = 0;
  bool compact_ = false;
  bool fills_ = false;
  std::uint64_t serial_ = 0;
  MaskRef base_;
  std::unique_ptr<std::byte[]> memory_;
};

// A plain mask is one run; a compact one has a run for each difference and each gap between them.
template <typename Visit>
bool TokenMask::VisitRuns(Visit visit) const {
  if (!compact()) return visit(Run{0, word_count(), data(), 0});
  std::size_t begin = 0;
  const std::int32_t* word = data();
  for (const std::size_t at : indices()) {
    if (begin < at && !visit(BaseRun(begin, at))) return false;
    if (!visit(Run{at, at + 1, word, 0})) return false;
    begin = at + 1;
    ++word;
  }
  return begin == word_count() || visit(BaseRun(begin, word_count()));
}

// Whole blocks of zeros are passed over, as few tokens are allowed in most masks.
template <typename Visit>
bool TokenMask::VisitAllowedWhile(Visit visit) const {
  const auto visit_word = [&](std::size_t index, std::int32_t bits) {
    for (auto word = static_cast<std::uint32_t>(bits); word != 0; word &= word - 1)
      if (!visit(static_cast<TokenId>(index * kBitsPerWord) + std::countr_zero(word))) return false;
    return true;
  };
  return VisitRuns([&](const Run& run) {
    if (run.words == nullptr) {
      for (std::size_t i = run.begin; run.fill != 0 && i < run.end; ++i)
        if (!visit_word(i, run.fill)) return false;
      return true;
    }
    constexpr std::size_t kBlock = 16;  // most words of most masks are 0
    for (std::size_t begin = run.begin; begin < run.end; begin += kBlock) {
      const std::span block(run.words + (begin - run.begin), std::min(kBlock, run.end - begin));
      std::int32_t any = 0;
      for (const std::int32_t word : block) any |= word;
      for (std::size_t i = 0; any != 0 && i < block.size(); ++i)
        if (!visit_word(begin + i, block[i])) return false;
    }
    return true;
  });
}

// Equal blocks are passed over by memcmp, which is most of them where masks are near.
template <typename Visit>
bool TokenMask::VisitDifferences(std::span<const std::int32_t> words, Visit visit) const {
  return VisitRuns([&](const Run& run) {
    for (std::size_t begin = run.begin; begin < run.end; begin += kBlockWords) {
      const std::size_t end = std::min(begin + kBlockWords, run.end);
      const std::int32_t* const own = run.At(begin);
      if (std::memcmp(own, &words[begin], (end - begin) * sizeof(*own)) == 0) continue;
      for (std::size_t i = begin; i < end; ++i)
        if (own[i - begin] != words[i] && !visit(i, own[i - begin])) return false;
    }
    return true;
  });
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_TOKEN_MASK_H_
