// Finds the elements of a list by what they hold: a set of their numbers, which are 0, 1, 2 and so
// on. The elements stay where they are; this keeps two short numbers for each.
//
// Layout   linear hashing (Litwin 1980): an element is in the chain of its bucket, and where there
//          are more than two elements a bucket, one bucket is split into two. So growing is a small
//          part of each Add(), and never one long pause.
// Memory   3 bytes an element and an eighth at most; twice as many from 65,535 elements on.
// Threads  a plain value: many readers or one writer.
#ifndef MASKD_GRAMMAR_CORE_BASE_INDEX_TABLE_H_
#define MASKD_GRAMMAR_CORE_BASE_INDEX_TABLE_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/tight_vector.h"

namespace maskd {

// A list of numbers of 16 bits, and of 32 from Widen() on: two halves each.
class ShortNumbers {
 public:
  static constexpr std::uint32_t kMostShort = 0xFFFF;

  [[nodiscard]] std::uint32_t operator[](std::size_t index) const {
    return is_wide_ ? halves_[2 * index] | std::uint32_t{halves_[2 * index + 1]} << kHalfBits
                    : halves_[index];
  }
  // Requires a number up to kMostShort, or Widen() before.
  void Set(std::size_t index, std::uint32_t number) {
    assert(is_wide_ || number <= kMostShort);
    halves_[is_wide_ ? 2 * index : index] = static_cast<std::uint16_t>(number);
    if (is_wide_) halves_[2 * index + 1] = static_cast<std::uint16_t>(number >> kHalfBits);
  }
  // The same at the end.
  void Append(std::uint32_t number) {
    assert(is_wide_ || number <= kMostShort);
    AppendTight(&halves_, static_cast<std::uint16_t>(number));
    if (is_wide_) AppendTight(&halves_, static_cast<std::uint16_t>(number >> kHalfBits));
  }
  // Room for so many numbers of 16 bits.
  void Reserve(std::size_t count) { halves_.reserve(count); }
  [[nodiscard]] std::size_t size() const { return is_wide_ ? halves_.size() / 2 : halves_.size(); }
  void Widen() {
    std::vector<std::uint16_t> wide;
    wide.reserve(2 * halves_.size());
    for (const std::uint16_t number : halves_) wide.insert(wide.end(), {number, 0});
    halves_ = std::move(wide);
    is_wide_ = true;
  }
  [[nodiscard]] std::int64_t held_bytes() const { return HeldBytes(halves_); }

 private:
  static constexpr int kHalfBits = 16;

  std::vector<std::uint16_t> halves_;
  bool is_wide_ = false;
};

// `By` says what elements hold: by(number) and by(key) are their hashes, and by(number, key) is
// whether they are equal.
template <typename By>
class IndexTable {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  explicit IndexTable(By by) : by_(std::move(by)) { heads_.Append(kEnd); }
  // The elements of `other` by `by`, which gives them the same hashes, with room for so many more.
  IndexTable(By by, const IndexTable& other, std::size_t more) : by_(std::move(by)) {
    Reserve(other.size() + more);
    unsplit_ = other.unsplit_;
    heads_ = other.heads_;
    nexts_ = other.nexts_;
  }

  // Room for so many elements, up to 65,535, before any is moved.
  void Reserve(std::size_t elements) {
    heads_.Reserve(elements / kElementsABucket + 1);
    nexts_.Reserve(elements);
  }

  // The number of the element that is equal to `key`, or kNone; and its hash, for Add().
  struct Found {
    std::uint32_t number;
    std::size_t hash;
  };
  template <typename Key>
  [[nodiscard]] Found Find(const Key& key) const {
    const std::size_t hash = by_(key);
    for (std::uint32_t link = heads_[BucketOf(hash)]; link != kEnd; link = nexts_[link - 1])
      if (by_(link - 1, key)) return {link - 1, hash};
    return {kNone, hash};
  }

  // Adds element number size(), which must be there already, or be there before the next call. It
  // has that hash, and no equal one is here.
  void Add(std::size_t hash) {
    const std::uint32_t link = size() + 1;
    if (link == ShortNumbers::kMostShort + 1) {
      heads_.Widen();
      nexts_.Widen();
    }
    // A new element is not asked for its hash, so the split comes first.
    if (link > kElementsABucket * heads_.size()) Split();
    const std::size_t bucket = BucketOf(hash);
    nexts_.Append(heads_[bucket]);
    heads_.Set(bucket, link);
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nexts_.size()); }
  [[nodiscard]] std::int64_t held_bytes() const {
    return heads_.held_bytes() + nexts_.held_bytes();
  }

 private:
  // Links are numbers and one more.
  static constexpr std::uint32_t kEnd = 0;
  static constexpr std::uint32_t kElementsABucket = 2;

  // Of 2^k + s buckets the first s are split, and so are the last s.
  [[nodiscard]] std::size_t BucketOf(std::size_t hash) const {
    const std::size_t bucket = hash & (2 * unsplit_ - 1);
    return bucket < heads_.size() ? bucket : bucket - unsplit_;
  }
  // The oldest bucket that is not split keeps one half of its elements; a new one takes the other.
  void Split() {
    const std::size_t added = heads_.size();
    const std::size_t from = added - unsplit_;
    std::uint32_t link = heads_[from];
    heads_.Append(kEnd);
    heads_.Set(from, kEnd);
    while (link != kEnd) {
      const std::uint32_t next = nexts_[link - 1];
      const std::size_t to = by_(link - 1) & unsplit_ ? added : from;
      nexts_.Set(link - 1, heads_[to]);
      heads_.Set(to, link);
      link = next;
    }
    if (heads_.size() == 2 * unsplit_) unsplit_ *= 2;
  }

  By by_;
  std::size_t unsplit_ = 1;  // 2^k
  ShortNumbers heads_;       // of each bucket: the link of its first element
  ShortNumbers nexts_;       // of each element: the link of the next one in its chain
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_INDEX_TABLE_H_
