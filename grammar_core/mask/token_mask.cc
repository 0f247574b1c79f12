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
// Masks of `like` that are looked at.
constexpr std::size_t kMaxLike = 4;
// What an allocation takes beyond what was asked for, and a shared pointer's counters.
constexpr std::int64_t kAllocationBytes = 16;
constexpr std::int64_t kCounterBytes = 16;

std::atomic<std::int64_t> stored_bytes = 0;

}  // namespace

TokenMask::TokenMask(const TokenMask& other)
    : vocab_size_(other.vocab_size_),
      memory_(std::make_unique_for_overwrite<std::byte[]>(AllBytes() + kHashBytes)) {
  other.CopyTo(memory_.get());
}

TokenMask& TokenMask::operator=(const TokenMask& other) {
  if (this != &other) *this = TokenMask(other);
  return *this;
}

TokenMask::~TokenMask() {
  if (serial() != 0) stored_bytes.fetch_sub(held_bytes(), std::memory_order_relaxed);
}

void TokenMask::Swap(TokenMask* other) noexcept {
  std::swap(vocab_size_, other->vocab_size_);
  std::swap(allowed_count_, other->allowed_count_);
  std::swap(index_count_, other->index_count_);
  std::swap(compact_, other->compact_);
  std::swap(fills_, other->fills_);
  std::swap(serial_, other->serial_);
  std::swap(base_, other->base_);
  std::swap(memory_, other->memory_);
}

void TokenMask::Merge(const TokenMask& other) {
  assert(other.vocab_size_ == vocab_size_);
  other.VisitRuns([&](const Run& run) {
    const auto into = mutable_words().subspan(run.begin, run.end - run.begin);
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
    const auto into = mutable_words().subspan(run.begin, run.end - run.begin);
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
    const auto into = mutable_words().subspan(run.begin, run.end - run.begin);
    if (run.words != nullptr)
      AndNotInto(into, {run.words, into.size()});
    else if (run.fill != 0)
      std::ranges::fill(into, 0);
    return true;
  });
}

int TokenMask::CountAllowed() const {
  return serial() != 0 ? allowed_count_ : static_cast<int>(CountBits(words()));
}

bool TokenMask::empty() const { return serial() != 0 ? allowed_count_ == 0 : !AnyBit(words()); }

void TokenMask::CopyTo(void* row) const {
  const std::size_t bytes = AllBytes();
  if (!compact()) {
    if (bytes > 0) std::memcpy(row, data(), bytes);
    return;
  }
  if (base_ != nullptr)
    std::memcpy(row, BaseWords(), bytes);
  else
    std::memset(row, fill(), bytes);
  constexpr std::size_t kWordBytes = sizeof(std::int32_t);
  // The row might be this mask itself, as far as a compiler sees: what is read stands in locals.
  const std::int32_t* word = data();
  for (const Index index : indices()) {
    std::memcpy(static_cast<char*>(row) + index * kWordBytes, word, kWordBytes);
    ++word;
  }
}

bool TokenMask::operator==(const TokenMask& other) const {
  if (this == &other) return true;
  if (vocab_size_ != other.vocab_size_) return false;
  if (compact() && other.compact()) return *this == TokenMask(other);
  const TokenMask& dense = compact() ? other : *this;
  return (compact() ? *this : other).VisitDifferences(dense.words(), [](std::size_t, std::int32_t) {
    return false;
  });
}

std::int64_t TokenMask::held_bytes() const {
  const std::size_t bytes =
      compact() ? index_count_ * (sizeof(std::int32_t) + sizeof(Index)) : AllBytes() + kHashBytes;
  return static_cast<std::int64_t>(sizeof(*this) + bytes) + kCounterBytes + 2 * kAllocationBytes;
}

std::int32_t TokenMask::WordAt(std::size_t index) const {
  const auto at = std::ranges::lower_bound(indices(), index);
  if (at != indices().end() && *at == index) return data()[at - indices().begin()];
  return base_ != nullptr ? BaseWords()[index] : fill();
}

TokenMask::Run TokenMask::BaseRun(std::size_t begin, std::size_t end) const {
  return {begin, end, base_ == nullptr ? nullptr : BaseWords() + begin, fill()};
}

bool TokenMask::FindDifferences(const Run& from, std::size_t most, Differences* found) const {
  static_assert(kBlockWords == 64, "a bit for each word of a block");
  const auto differences = UsedWordKernels().differences;
  found->indices.resize(most);
  found->words.resize(most);
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < word_count(); begin += kBlockWords) {
    const std::size_t length = std::min(kBlockWords, word_count() - begin);
    std::uint64_t different = differences(data() + begin, from.At(begin), length);
    if (count + static_cast<std::size_t>(std::popcount(different)) > most) return false;
    for (; different != 0; different &= different - 1, ++count) {
      const std::size_t at = begin + static_cast<std::size_t>(std::countr_zero(different));
      found->indices[count] = static_cast<Index>(at);
      found->words[count] = data()[at];
    }
  }
  found->indices.resize(count);
  found->words.resize(count);
  return true;
}

bool TokenMask::MayDifferLittle(int allowed_count, std::size_t most) const {
  const std::int64_t apart = std::int64_t{allowed_count_} - allowed_count;
  return std::abs(apart) <= static_cast<std::int64_t>(most) * kBitsPerWord;
}

void TokenMask::MakeCompact(std::span<const MaskRef> like, std::span<const MaskRef> others) {
  if (word_count() > kMostIndices) return;
  std::size_t most = MostDifferences(word_count(), false);
  Differences found;
  Differences fewest;
  found.indices.reserve(most);
  found.words.reserve(most);
  bool is_near = false;
  const auto attempt = [&](const Run& from, int allowed_count, const MaskRef& base) {
    if (most <= kFewDifferences && is_near) return;
    if (!MayDifferLittle(allowed_count, most)) return;
    if (!FindDifferences(from, most, &found)) return;
    most = found.words.size();
    is_near = true;
    fills_ = from.fill != 0;
    base_ = base;
    fewest = found;
  };
  const auto attempt_all = [&](std::span<const MaskRef> masks) {
    for (const MaskRef& mask : masks) {
      const MaskRef& base = mask->compact() ? mask->base_ : mask;
      if (base == nullptr || base == base_) continue;
      attempt({0, word_count(), base->data(), 0}, base->allowed_count_, base);
    }
  };
  attempt({0, word_count(), nullptr, 0}, 0, nullptr);
  attempt({0, word_count(), nullptr, -1}, vocab_size_, nullptr);
  most = std::min(most, MostDifferences(word_count(), true));
  attempt_all(like.first(std::min(like.size(), kMaxLike)));
  if (!is_near) attempt_all(others);
  if (is_near) Keep(fewest);
}

void TokenMask::Keep(const Differences& differences) {
  const std::size_t count = differences.words.size();
  memory_ =
      std::make_unique_for_overwrite<std::byte[]>(count * (sizeof(std::int32_t) + sizeof(Index)));
  compact_ = true;
  index_count_ = static_cast<std::uint32_t>(count);
  std::ranges::copy(differences.words, data());
  std::ranges::copy(differences.indices, reinterpret_cast<Index*>(data() + count));
}

MaskRef StoreMask(TokenMask mask, std::span<const MaskRef> like, std::span<const MaskRef> others) {
  mask.allowed_count_ = mask.CountAllowed();
  mask.MakeCompact(like, others);
  if (!mask.compact()) {
    const std::uint64_t hash = HashWords(mask.words());
    std::memcpy(mask.memory_.get() + mask.AllBytes(), &hash, TokenMask::kHashBytes);
  }
  return TokenMask::Stored(std::move(mask));
}

std::size_t TokenMask::MostDifferences(std::size_t word_count, bool from_mask) {
  return word_count / (from_mask ? kWordsADifferenceFromMask : kWordsADifference);
}

MaskRef TokenMask::Stored(TokenMask mask) {
  static std::atomic<std::uint64_t> serial = 1;
  mask.serial_ = serial.fetch_add(1, std::memory_order_relaxed);
  stored_bytes.fetch_add(mask.held_bytes(), std::memory_order_relaxed);
  return MaskRef(new TokenMask(std::move(mask)));  // weak pointers then keep no memory of it
}

std::int64_t StoredMaskBytes() { return stored_bytes.load(std::memory_order_relaxed); }

}  // namespace maskd
