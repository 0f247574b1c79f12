// The largest of the stored masks says what the new one is compared with: the mask that this one
// differs from (its root), or no token, or all tokens. Words are written where a part has some,
// each from the root's on the first time; a bit for each says which those are, in order.
//
// Invariant  the words of a thread's scratch that no bit marks are not read.
// Cost       a few nanoseconds for each token and each word that differs, whatever the vocabulary.
#include "grammar_core/mask/sparse_mask.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <utility>
#include <vector>

#include "grammar_core/mask/bit_words.h"

namespace maskd {
namespace {

constexpr std::size_t kBitsOfMarks = 64;

int BitsOf(std::int32_t word) {
  // By halves of halves: the processor's own instruction is no part of every build.
  auto bits = static_cast<std::uint32_t>(word);
  bits -= (bits >> 1) & 0x55555555U;
  bits = (bits & 0x33333333U) + ((bits >> 2) & 0x33333333U);
  return static_cast<int>((((bits + (bits >> 4)) & 0x0F0F0F0FU) * 0x01010101U) >> 24);
}

}  // namespace

// What a mask is written in. A root of null words is `fill` everywhere.
class SparseMask::Scratch {
 public:
  void Begin(const std::int32_t* root, std::int32_t fill, std::size_t word_count) {
    assert(std::ranges::all_of(marks_, [](std::uint64_t marks) { return marks == 0; }));
    root_ = root;
    fill_ = fill;
    if (words_.size() < word_count) words_.resize(word_count);
    marks_.resize((words_.size() + kBitsOfMarks - 1) / kBitsOfMarks);
  }
  void End() { std::ranges::fill(marks_, 0); }

  [[nodiscard]] std::int32_t RootAt(std::size_t at) const {
    return root_ == nullptr ? fill_ : root_[at];
  }
  std::int32_t& At(std::size_t at) {
    std::uint64_t& marks = marks_[at / kBitsOfMarks];
    const std::uint64_t bit = std::uint64_t{1} << (at % kBitsOfMarks);
    if ((marks & bit) == 0) {
      marks |= bit;
      words_[at] = RootAt(at);
    }
    return words_[at];
  }
  std::int32_t& OfToken(TokenId id) { return At(static_cast<std::size_t>(id / kBitsPerWord)); }

  // Calls visit(index, word, root's word) for words that differ, ascending, until it returns false;
  // whether it never did.
  template <typename Visit>
  bool VisitDifferent(Visit visit) const {
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      for (std::uint64_t marks = marks_[i]; marks != 0; marks &= marks - 1) {
        const std::size_t at = i * kBitsOfMarks + static_cast<std::size_t>(std::countr_zero(marks));
        const std::int32_t root = RootAt(at);
        if (words_[at] != root && !visit(at, words_[at], root)) return false;
      }
    }
    return true;
  }

 private:
  const std::int32_t* root_ = nullptr;
  std::int32_t fill_ = 0;
  std::vector<std::int32_t> words_;
  std::vector<std::uint64_t> marks_;
};

std::optional<SparseMask> SparseMask::Of(const Parts& parts, int vocab_size) {
  SparseMask made(vocab_size);
  if (made.mask_.word_count() > TokenMask::kMostIndices) return std::nullopt;
  // A mask that is not compact is its own root.
  const auto root_of = [](const MaskRef& mask) { return mask->compact() ? mask->base_ : mask; };
  const auto is_sparse = [&](const MaskRef& mask) {
    return root_of(mask) == nullptr && !mask->fills_;
  };
  const auto largest = std::ranges::find_if_not(parts.masks, is_sparse);
  const MaskRef* const first = largest != parts.masks.end() ? &*largest
                               : parts.masks.empty()        ? nullptr
                                                            : &parts.masks.front();
  if (first != nullptr) {
    made.mask_.base_ = root_of(*first);
    made.mask_.fills_ = (*first)->fills_;
  }
  for (const MaskRef& mask : parts.masks) {
    assert(mask->serial() != 0 && mask->vocab_size() == vocab_size);
    const bool same = root_of(mask) == made.mask_.base_ && mask->fills_ == made.mask_.fills_;
    if (!same && !is_sparse(mask)) return std::nullopt;
  }

  thread_local Scratch scratch;
  scratch.Begin(made.mask_.BaseWords(), made.mask_.fill(), made.mask_.word_count());
  if (first != nullptr && (*first)->compact()) {
    const std::int32_t* word = (*first)->data();
    for (const std::size_t at : (*first)->indices()) scratch.At(at) = *word++;
  }
  for (const MaskRef& mask : parts.masks) {
    if (mask == *first) continue;
    // Where it differs from the root in no word, it has the root's.
    if (!is_sparse(mask) && (*first)->compact())
      for (const std::size_t at : (*first)->indices())
        scratch.At(at) |= mask->compact() ? mask->WordAt(at) : mask->data()[at];
    if (!mask->compact()) continue;
    const std::int32_t* word = mask->data();
    for (const std::size_t at : mask->indices()) scratch.At(at) |= *word++;
  }
  const auto bit = [](TokenId id) { return static_cast<std::int32_t>(1U << (id % kBitsPerWord)); };
  for (const TokenId id : parts.removed) scratch.OfToken(id) &= ~bit(id);
  for (const TokenId id : parts.ids) scratch.OfToken(id) |= bit(id);
  const bool is_taken = made.Take(scratch);
  scratch.End();
  return is_taken ? std::optional(std::move(made)) : std::nullopt;
}

bool SparseMask::Take(const Scratch& scratch) {
  const TokenMask* const root = mask_.base_.get();
  const std::size_t most = TokenMask::MostDifferences(mask_.word_count(), root != nullptr);
  int allowed = root != nullptr ? root->allowed_count_
                : mask_.fills_  ? static_cast<int>(mask_.word_count()) * kBitsPerWord
                                : 0;
  const bool fits =
      scratch.VisitDifferent([&](std::size_t at, std::int32_t word, std::int32_t root_word) {
        words_.indices.push_back(static_cast<TokenMask::Index>(at));
        words_.words.push_back(word);
        allowed += BitsOf(word) - BitsOf(root_word);
        return words_.words.size() <= most;
      });
  if (!fits) return false;
  mask_.allowed_count_ = allowed;
  hash_ = root != nullptr ? root->hash() : mask_.fills_ ? HashOfFilled(mask_.word_count()) : 0;
  for (std::size_t i = 0; i < words_.indices.size();) {
    const std::size_t begin = i;
    const std::size_t block = words_.indices[i] / kHashedWords;
    while (i < words_.indices.size() && words_.indices[i] / kHashedWords == block) ++i;
    AddToHash(begin, i);
  }
  return true;
}

// The differences from `begin` to `end`, which are of one block, in place of the root's words.
void SparseMask::AddToHash(std::size_t begin, std::size_t end) {
  const std::size_t block = words_.indices[begin] / kHashedWords;
  const std::size_t first = block * kHashedWords;
  const std::size_t length = std::min(kHashedWords, mask_.word_count() - first);
  std::array<std::int32_t, kHashedWords> words = {};
  const std::int32_t* const root = mask_.BaseWords();
  for (std::size_t i = 0; i < length; ++i)
    words[i] = root == nullptr ? mask_.fill() : root[first + i];
  hash_ -= HashBlock(words, block);
  for (std::size_t i = begin; i < end; ++i) words[words_.indices[i] - first] = words_.words[i];
  hash_ += HashBlock(words, block);
}

bool SparseMask::Equals(const TokenMask& stored) const {
  if (stored.vocab_size_ != mask_.vocab_size_ || stored.allowed_count_ != mask_.allowed_count_)
    return false;
  if (stored.compact() && stored.base_ == mask_.base_ && stored.fills_ == mask_.fills_) {
    return std::ranges::equal(stored.indices(), words_.indices) &&
           std::equal(words_.words.begin(), words_.words.end(), stored.data());
  }
  TokenMask written(mask_.vocab_size_, nullptr);
  written.base_ = mask_.base_;
  written.fills_ = mask_.fills_;
  written.Keep(words_);
  return written == stored;
}

MaskRef SparseMask::Store() {
  mask_.Keep(words_);
  return TokenMask::Stored(std::move(mask_));
}

}  // namespace maskd
