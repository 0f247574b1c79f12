// What is known of a state's way on: its transitions.
//
// Most states of most texts are left by one byte or a few, those within a string by any character,
// but to few others. So transitions have five forms: one, in place; a short list; a longer one; a
// row that has for each byte class which of a few targets it is; a row of one for each byte class.
// A list knows which classes lead nowhere by a set that states share.
//
// Cost     beside 8 bytes a state: 0, 24, 64, 32 and half a byte a class, or 4 bytes a class.
// Threads  read by any thread; written under the automaton's lock. A form that another one has
//          replaced stays as it is, since it may still be read.
#ifndef MASKD_GRAMMAR_CORE_TERMS_STATE_WAYS_H_
#define MASKD_GRAMMAR_CORE_TERMS_STATE_WAYS_H_

#include <array>
#include <atomic>
#include <bitset>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>

#include "grammar_core/terms/term.h"

namespace maskd {

using ClassSet = std::bitset<256>;  // by byte class
// A set of byte classes that is kept elsewhere (class_sets.h), 64 classes a word; or null.
using ClassWords = const std::uint64_t*;
inline bool HasClass(ClassWords words, int byte_class) {
  return (words[byte_class / 64] >> (byte_class % 64) & 1) != 0;
}

// The transitions by a few byte classes.
template <int kPlaces>
class FewWays {
 public:
  // Classes outside of `may` lead nowhere; null: none is known to. It must outlive this.
  explicit FewWays(ClassWords may) : may_(may) {}

  // The transition by `byte_class`: kNothingTerm where it surely leads nowhere, kUnknownTerm where
  // that is not known yet. By any thread.
  [[nodiscard]] TermId To(int byte_class) const {
    // What texts take is found here, without a look at the set, which lies elsewhere.
    const int count = count_.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i)
      if (classes_[i] == byte_class) return targets_[i];
    return may_ != nullptr && !HasClass(may_, byte_class) ? kNothingTerm : kUnknownTerm;
  }

  // For the writer.
  [[nodiscard]] ClassWords may() const { return may_; }
  [[nodiscard]] bool full() const { return count_.load(std::memory_order_relaxed) == kPlaces; }
  // Requires a class that is unknown, and !full().
  void Add(int byte_class, TermId to) {
    const std::uint8_t count = count_.load(std::memory_order_relaxed);
    classes_[count] = static_cast<std::uint8_t>(byte_class);
    targets_[count] = to;
    count_.store(count + 1, std::memory_order_release);
  }
  // Calls visit(class, target) for each.
  template <typename Visit>
  void VisitAll(Visit visit) const {
    const int count = count_.load(std::memory_order_relaxed);
    for (int i = 0; i < count; ++i) visit(int{classes_[i]}, targets_[i]);
  }

 private:
  ClassWords may_;
  std::atomic<std::uint8_t> count_ = 0;  // of those in use, which do not change any more
  std::array<std::uint8_t, kPlaces> classes_;
  std::array<TermId, kPlaces> targets_;
};

using ShortWays = FewWays<3>;
using LongWays = FewWays<11>;
static_assert(sizeof(ShortWays) == 24 && sizeof(LongWays) == 64);

// The transitions by every class, to few targets. Behind it lies half a byte for each class: which
// of the targets, of which the first two stand for what is unknown and for nowhere.
class PackedRow {
 public:
  static constexpr int kTargets = 6;  // beside these two

  static constexpr std::size_t BytesFor(std::size_t classes) {
    return sizeof(PackedRow) + (classes + 1) / 2;
  }
  // In memory of BytesFor(classes). All is unknown.
  explicit PackedRow(std::size_t classes) {
    targets_.fill(kUnknownTerm);
    targets_[kNowhere] = kNothingTerm;
    for (std::size_t i = 0; i < (classes + 1) / 2; ++i) new (codes() + i) std::atomic<Code>(0);
  }

  // As FewWays::To(). By any thread.
  [[nodiscard]] TermId To(int byte_class) const {
    const Code pair = codes()[byte_class >> 1].load(std::memory_order_acquire);
    return targets_[pair >> ShiftOf(byte_class) & kCodeMask];
  }

  // For the writer: keeps a transition that is unknown; false where there are too many targets.
  bool Add(int byte_class, TermId to) {
    std::size_t code = kNowhere;
    while (code < targets_.size() && targets_[code] != to && targets_[code] != kUnknownTerm) ++code;
    if (code == targets_.size()) return false;
    // Nobody reads it before there is a class that leads to it; then it is not written again.
    if (targets_[code] != to) targets_[code] = to;
    std::atomic<Code>& pair = codes()[byte_class >> 1];
    const auto added = static_cast<Code>(code << ShiftOf(byte_class));
    pair.store(pair.load(std::memory_order_relaxed) | added, std::memory_order_release);
    return true;
  }

 private:
  using Code = std::uint8_t;
  static constexpr std::size_t kNowhere = 1;
  static constexpr unsigned kCodeMask = 0xF;
  static int ShiftOf(int byte_class) { return (byte_class & 1) * 4; }

  [[nodiscard]] const std::atomic<Code>* codes() const {
    return reinterpret_cast<const std::atomic<Code>*>(this + 1);
  }
  std::atomic<Code>* codes() { return reinterpret_cast<std::atomic<Code>*>(this + 1); }

  std::array<TermId, 2 + kTargets> targets_;
};
static_assert(sizeof(PackedRow) == 32);

// What a token has from one of its bytes on, as 29 bits.
class TokenRest {
 public:
  // Whether there is a number for it.
  static bool Fits(std::uint32_t id, std::size_t offset) { return id < kIds && offset < kOffsets; }
  // Requires Fits().
  TokenRest(std::uint32_t id, std::size_t offset)
      : code_(id << kOffsetBits | static_cast<std::uint32_t>(offset)) {}
  explicit TokenRest(std::uint32_t code) : code_(code) {}
  bool operator==(const TokenRest&) const = default;

  [[nodiscard]] std::uint32_t code() const { return code_; }
  // The token, and the first byte.
  [[nodiscard]] std::uint32_t id() const { return code_ >> kOffsetBits; }
  [[nodiscard]] std::size_t offset() const { return code_ & (kOffsets - 1); }

 private:
  static constexpr int kOffsetBits = 8;
  static constexpr std::size_t kOffsets = 1U << kOffsetBits;
  static constexpr std::uint32_t kIds = 1U << (29 - kOffsetBits);

  std::uint32_t code_;
};

// Where the rests of a few tokens lead.
class FewRests {
 public:
  static constexpr std::size_t kPlaces = 3;

  // kUnknownTerm for any other rest. By any thread.
  [[nodiscard]] TermId To(const TokenRest& rest) const {
    for (const Place& place : places_)
      if (place.code.load(std::memory_order_acquire) == rest.code()) return place.to;
    return kUnknownTerm;
  }
  // For the writer: false where there is no place left.
  bool Add(const TokenRest& rest, TermId to) {
    for (Place& place : places_) {
      if (place.code.load(std::memory_order_relaxed) != kFree) continue;
      place.to = to;
      place.code.store(rest.code(), std::memory_order_release);
      return true;
    }
    return false;
  }
  // Calls visit(rest, target) for each.
  template <typename Visit>
  void VisitAll(Visit visit) const {
    for (const Place& place : places_)
      if (const std::uint32_t code = place.code.load(std::memory_order_relaxed); code != kFree)
        visit(TokenRest(code), place.to);
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  struct Place {
    std::atomic<std::uint32_t> code = kFree;
    TermId to = kNothingTerm;
  };
  std::array<Place, kPlaces> places_;
};
static_assert(sizeof(FewRests) == 24);

// A value of TermStore::ways(): an address, whose lowest three bits say of what, or the one
// transition, which is odd.
class StateWays {
 public:
  // What was read of TermStore::ways(), with acquire.
  explicit StateWays(std::uint64_t ways) : ways_(ways) {}
  // The value to be stored for each form, with release. A list or row must be aligned to 8 bytes
  // and live as long as the state.
  static StateWays Single(int byte_class, TermId to) {
    return StateWays(std::uint64_t{to.value()} << 32 | static_cast<std::uint64_t>(byte_class) << 2 |
                     kSingle);
  }
  // What is known is by a whole text: one, or a few.
  static StateWays Rest(const TokenRest& rest, TermId to) {
    return StateWays(std::uint64_t{to.value()} << 32 | std::uint64_t{rest.code()} << 3 | kRest);
  }
  static StateWays Rests(const FewRests* rests) { return StateWays(NumberOf(rests) | kRests); }
  static StateWays Row(const std::atomic<TermId>* row) { return StateWays(NumberOf(row)); }
  static StateWays Short(const ShortWays* ways) { return StateWays(NumberOf(ways) | kShort); }
  static StateWays Long(const LongWays* ways) { return StateWays(NumberOf(ways) | kLong); }
  static StateWays Packed(const PackedRow* row) { return StateWays(NumberOf(row) | kPacked); }

  // As it is stored; and which form it is, where it is no list and no row.
  [[nodiscard]] std::uint64_t packed() const { return ways_; }
  // No byte's way is known; there may be those of texts.
  [[nodiscard]] bool none() const { return ways_ == 0 || (ways_ & kRest) == kRest; }
  [[nodiscard]] bool is_rest() const { return (ways_ & kTags) == kRest; }
  [[nodiscard]] FewRests* rests() const {
    return (ways_ & kTags) == kRests ? At<FewRests>() : nullptr;
  }
  [[nodiscard]] bool is_single() const { return (ways_ & kRest) == kSingle; }
  // Where a rest leads, or kUnknownTerm.
  [[nodiscard]] TermId BehindRest(const TokenRest& rest) const {
    if (FewRests* const list = rests()) return list->To(rest);
    return is_rest() && TokenRest(code()) == rest ? to() : kUnknownTerm;
  }
  // The one rest that is known, where it is one.
  [[nodiscard]] TokenRest rest() const {
    assert(is_rest());
    return TokenRest(code());
  }
  // The class of a single way, and its target.
  [[nodiscard]] int byte_class() const { return static_cast<int>((ways_ >> 2) & 0xFF); }
  [[nodiscard]] TermId to() const { return TermId(static_cast<std::uint32_t>(ways_ >> 32)); }
  // What there is of these; null of the others.
  [[nodiscard]] std::atomic<TermId>* row() const {
    return (ways_ & kTags) == 0 ? At<std::atomic<TermId>>() : nullptr;
  }
  [[nodiscard]] PackedRow* packed_row() const {
    return (ways_ & kTags) == kPacked ? At<PackedRow>() : nullptr;
  }
  // A list of up to 3, and one of up to 11.
  [[nodiscard]] ShortWays* few() const {
    return (ways_ & kTags) == kShort ? At<ShortWays>() : nullptr;
  }
  [[nodiscard]] LongWays* more() const {
    return (ways_ & kTags) == kLong ? At<LongWays>() : nullptr;
  }
  // The transition by `byte_class`, or kUnknownTerm.
  [[nodiscard]] TermId To(int byte_class) const {
    if (is_single()) return this->byte_class() == byte_class ? to() : kUnknownTerm;
    if (none()) return kUnknownTerm;
    switch (ways_ & kTags) {
      case kShort:
        return At<ShortWays>()->To(byte_class);
      case kLong:
        return At<LongWays>()->To(byte_class);
      case kPacked:
        return At<PackedRow>()->To(byte_class);
      default:
        return At<std::atomic<TermId>>()[byte_class].load(std::memory_order_acquire);
    }
  }

 private:
  static constexpr std::uint64_t kShort = 2;
  static constexpr std::uint64_t kLong = 4;
  static constexpr std::uint64_t kPacked = 6;
  static constexpr std::uint64_t kTags = 7;
  // What is odd is none of these: one transition, in place, or what texts lead to.
  static constexpr std::uint64_t kSingle = 1;
  static constexpr std::uint64_t kRest = 3;
  static constexpr std::uint64_t kRests = 7;

  [[nodiscard]] std::uint32_t code() const { return static_cast<std::uint32_t>(ways_) >> 3; }
  static std::uint64_t NumberOf(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
  }
  template <typename T>
  [[nodiscard]] T* At() const {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(ways_ & ~kTags));
  }

  std::uint64_t ways_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_STATE_WAYS_H_
