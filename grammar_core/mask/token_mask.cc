// Compact masks. Most masks of grammars allow few tokens, or all but few, or what a mask that many
// states share allows and some tokens more (the inside of a string, and what ends it): a list of
// the words that differ is then a fraction of all words, and soon copied.
//
// Invariant  a stored mask never changes, and its base is not compact itself: a look-up is one
//            search.
// Cost       storing compares the words with none, all and a few masks, block by block; a compact
//            mask is copied as its base and its differences.
#include "grammar_core/mask/token_mask.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <utility>

#include "grammar_core/mask/bit_words.h"
#include "grammar_core/mask/word_kernels.h"

namespace maskd {
namespace {

// A list of differences is kept if it has no more than one word in so many. Masks of a grammar's
// strings are copied at most steps: beside a copy of all words the list must not count.
constexpr std::size_t kWordsADifference = 16;
constexpr std::size_t kWordsADifferenceFromMask = 64;
// Shorter lists are not worth a search for a shorter one.
constexpr std::size_t kFewDifferences = 16;
// Words that have a number as an index: those of two million tokens.
constexpr std::size_t kMostIndices = 65'536;
// Masks of `like` that are looked at.
constexpr std::size_t kMaxLike = 4;
// What an allocation takes beyond what was asked for, and a shared pointer's counters.
constexpr std::int64_t kAllocationBytes = 16;
constexpr std::int64_t kCounterBytes = 16;

std::atomic<std::int64_t> stored_bytes = 0;

}  // namespace

TokenMask::Account::Account(std::int64_t bytes) : bytes_(bytes) {
  stored_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

TokenMask::Account::Account(Account&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}

TokenMask::Account& TokenMask::Account::operator=(Account&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

TokenMask::Account::~Account() {
  if (bytes_ != 0) stored_bytes.fetch_sub(bytes_, std::memory_order_relaxed);
}

TokenMask::TokenMask(const TokenMask& other) : vocab_size_(other.vocab_size_) {
  if (!other.compact()) {
    words_ = other.words_;
    return;
  }
  words_.resize(word_count());
  other.CopyTo(words_.data());
}

TokenMask& TokenMask::operator=(const TokenMask& other) {
  if (this == &other) return *this;
  vocab_size_ = other.vocab_size_;
  words_.resize(word_count());
  other.CopyTo(words_.data());
  stored_ = {};
  return *this;
}

void TokenMask::Merge(const TokenMask& other) {
  assert(other.vocab_size_ == vocab_size_);
  other.VisitRuns([&](const Run& run) {
    const auto into = std::span(words_).subspan(run.begin, run.end - run.begin);
    if (run.words != nullptr)
      OrInto(into, {run.words, into.size()});
    else if (run.fill != 0)
      std::ranges::fill(into, run.fill);
    return true;
  });
}

void TokenMask::Intersect(const TokenMask& other) {
  assert(other.vocab_size_ == vocab_size_);
  other.VisitRuns([&](const Run& run) {
    const auto into = std::span(words_).subspan(run.begin, run.end - run.begin);
    if (run.words != nullptr)
      AndInto(into, {run.words, into.size()});
    else if (run.fill == 0)
      std::ranges::fill(into, 0);
    return true;
  });
}

void TokenMask::Subtract(const TokenMask& other) {
  assert(other.vocab_size_ == vocab_size_);
  other.VisitRuns([&](const Run& run) {
    const auto into = std::span(words_).subspan(run.begin, run.end - run.begin);
    if (run.words != nullptr)
      AndNotInto(into, {run.words, into.size()});
    else if (run.fill != 0)
      std::ranges::fill(into, 0);
    return true;
  });
}

int TokenMask::CountAllowed() const {
  return serial() != 0 ? stored_.allowed_count : static_cast<int>(CountBits(words_));
}

bool TokenMask::empty() const {
  return serial() != 0 ? stored_.allowed_count == 0 : !AnyBit(words_);
}

void TokenMask::CopyTo(void* row) const {
  const std::size_t bytes = word_count() * sizeof(std::int32_t);
  if (!compact()) {
    if (bytes > 0) std::memcpy(row, words_.data(), bytes);
    return;
  }
  if (stored_.base != nullptr)
    std::memcpy(row, stored_.base->words_.data(), bytes);
  else
    std::memset(row, stored_.fill, bytes);
  constexpr std::size_t kWordBytes = sizeof(words_[0]);
  // The row might be this mask itself, as far as a compiler sees: what is read stands in locals.
  const std::int32_t* word = words_.data();
  for (const Index index : std::span(stored_.indices)) {
    std::memcpy(static_cast<char*>(row) + index * kWordBytes, word, kWordBytes);
    ++word;
  }
}

bool TokenMask::operator==(const TokenMask& other) const {
  if (this == &other) return true;
  if (vocab_size_ != other.vocab_size_) return false;
  if (compact() && other.compact()) return *this == TokenMask(other);
  const TokenMask& dense = compact() ? other : *this;
  return (compact() ? *this : other).VisitDifferences(dense.words_, [](std::size_t, std::int32_t) {
    return false;
  });
}

std::int64_t TokenMask::held_bytes() const {
  const std::size_t bytes = sizeof(*this) + words_.capacity() * sizeof(words_[0]) +
                            stored_.indices.capacity() * sizeof(Index);
  return static_cast<std::int64_t>(bytes) + kCounterBytes + 2 * kAllocationBytes;
}

std::int32_t TokenMask::WordAt(std::size_t index) const {
  const auto at = std::ranges::lower_bound(stored_.indices, index);
  if (at != stored_.indices.end() && *at == index) return words_[at - stored_.indices.begin()];
  return stored_.base != nullptr ? stored_.base->words_[index] : stored_.fill;
}

TokenMask::Run TokenMask::BaseRun(std::size_t begin, std::size_t end) const {
  const std::int32_t* const words =
      stored_.base == nullptr ? nullptr : stored_.base->words_.data() + begin;
  return {begin, end, words, stored_.fill};
}

bool TokenMask::FindDifferences(const Run& from, std::size_t most, Differences* found) const {
  static_assert(kBlockWords == 64, "a bit for each word of a block");
  const auto differences = UsedWordKernels().differences;
  found->indices.resize(most);
  found->words.resize(most);
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < words_.size(); begin += kBlockWords) {
    const std::size_t length = std::min(kBlockWords, words_.size() - begin);
    std::uint64_t different = differences(&words_[begin], from.At(begin), length);
    if (count + static_cast<std::size_t>(std::popcount(different)) > most) return false;
    for (; different != 0; different &= different - 1, ++count) {
      const std::size_t at = begin + static_cast<std::size_t>(std::countr_zero(different));
      found->indices[count] = static_cast<Index>(at);
      found->words[count] = words_[at];
    }
  }
  found->indices.resize(count);
  found->words.resize(count);
  return true;
}

bool TokenMask::MayDifferLittle(int allowed_count, std::size_t most) const {
  const std::int64_t apart = std::int64_t{stored_.allowed_count} - allowed_count;
  return std::abs(apart) <= static_cast<std::int64_t>(most) * kBitsPerWord;
}

void TokenMask::MakeCompact(std::span<const MaskRef> like, std::span<const MaskRef> others) {
  if (word_count() > kMostIndices) return;
  std::size_t most = word_count() / kWordsADifference;
  Differences found;
  Differences fewest;
  found.indices.reserve(most);
  found.words.reserve(most);
  const auto attempt = [&](const Run& from, int allowed_count, const MaskRef& base) {
    if (most <= kFewDifferences && stored_.compact) return;
    if (!MayDifferLittle(allowed_count, most)) return;
    if (!FindDifferences(from, most, &found)) return;
    most = found.words.size();
    stored_.compact = true;
    stored_.fill = from.fill;
    stored_.base = base;
    fewest = found;
  };
  const auto attempt_all = [&](std::span<const MaskRef> masks) {
    for (const MaskRef& mask : masks) {
      const MaskRef& base = mask->compact() ? mask->stored_.base : mask;
      if (base == nullptr || base == stored_.base) continue;
      attempt({0, words_.size(), base->words_.data(), 0}, base->stored_.allowed_count, base);
    }
  };
  attempt({0, words_.size(), nullptr, 0}, 0, nullptr);
  attempt({0, words_.size(), nullptr, -1}, vocab_size_, nullptr);
  most = std::min(most, word_count() / kWordsADifferenceFromMask);
  attempt_all(like.first(std::min(like.size(), kMaxLike)));
  if (!compact()) attempt_all(others);
  if (!compact()) return;
  words_ = std::move(fewest.words);
  stored_.indices = std::move(fewest.indices);
  words_.shrink_to_fit();
  stored_.indices.shrink_to_fit();
}

MaskRef StoreMask(TokenMask mask, std::span<const MaskRef> like, std::span<const MaskRef> others) {
  static std::atomic<std::uint64_t> serial = 1;
  mask.stored_.allowed_count = mask.CountAllowed();
  mask.MakeCompact(like, others);
  mask.stored_.serial = serial.fetch_add(1, std::memory_order_relaxed);
  mask.stored_.account = TokenMask::Account(mask.held_bytes());
  return MaskRef(new TokenMask(std::move(mask)));  // weak pointers then keep no memory of it
}

std::int64_t StoredMaskBytes() { return stored_bytes.load(std::memory_order_relaxed); }

}  // namespace maskd
