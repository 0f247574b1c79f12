// What a row has written within arrays whose items must differ: the items, and what is known of the
// item at hand: which of the others it may still become equal to.
//
// Source   equality is JSON Schema's: numbers by value, strings decoded, objects whatever the order
//          of their members. That a name stands twice in one object of an item is refused, so that
//          an object has one meaning.
// Layout   an Id is a place in one array, from '[' (or '{') on. What places have in common (items,
//          their leaves, characters read) is kept once.
// Memory   a place for each Id, a leaf for each scalar written, 8 bytes for each byte of a string
//          or number. Rewind() gives back what was made since a mark.
// Threads  one thread at a time.
#ifndef MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_DISTINCT_ARRAYS_H_
#define MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_DISTINCT_ARRAYS_H_

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/base/hash128.h"
#include "grammar_core/terms/term.h"
#include "grammar_core/unique_items/item_leaves.h"

namespace maskd {

// The arrays of distinct items that one row is within, with the items written so far.
class DistinctArrays {
 public:
  using Id = std::uint32_t;
  static constexpr Id kRefused = 0xFFFFFFFF;

  // Behind the first byte of an array or, where only names must differ, of an object.
  Id Begin(unsigned char bracket);
  // Behind one byte more, which must be right as JSON. kRefused where it ends an item that equals
  // one before it, or a name that its object has.
  Id Append(Id id, unsigned char byte);

  // Whether the array, or object, has ended there.
  [[nodiscard]] bool IsOver(Id id) const { return places_[id].phase == Phase::kOver; }

  // Whether the item or name at hand may still become a refused one. If not, no way to go on up to
  // its end is refused.
  [[nodiscard]] bool MayRepeat(Id id) const;

  // Whether that is so behind `byte`, as far as one look tells: false is certain.
  [[nodiscard]] bool MayRepeatBehind(Id id, unsigned char byte) const;

  // Whether that is so behind a quote, where none is open, and the character `byte` of a string.
  [[nodiscard]] bool MayRepeatInString(Id id, unsigned char byte) const;

  // Adds what is left of each string that the one being written may become the equal of, decoded,
  // and of each name of the object at hand that the one being written may become.
  void AddTakenRests(Id id, std::vector<std::string>* rests) const;

  // What is written of the string or name at hand, decoded; empty where none is.
  [[nodiscard]] std::string BegunText(Id id) const;

  // Whether a string or name is being written.
  [[nodiscard]] bool InString(Id id) const {
    return places_[id].phase == Phase::kString || places_[id].phase == Phase::kName;
  }

  // Whether the item at hand is a string, and one of its characters may begin there.
  [[nodiscard]] bool InItemString(Id id) const {
    const Place& place = places_[id];
    return place.phase == Phase::kString && place.path.empty() &&
           place.partial.phase == CharPhase::kStart;
  }
  // About the items before that are strings: the bytes that they begin with, decoded, and 0 for the
  // empty one; whether one is `text`, or `text` and more.
  using FirstBytes = std::bitset<256>;
  [[nodiscard]] FirstBytes FirstBytesOfStrings(Id id) const;
  enum class Match : std::uint8_t { kWhole, kBegins };
  [[nodiscard]] bool HasString(Id id, absl::string_view text, Match match) const;
  // The string that is being written, up to here, decoded.
  [[nodiscard]] std::string StringAt(Id id) const { return TextOf(places_[id]); }

  // The number that is being written, up to here; empty where none is.
  [[nodiscard]] std::string NumberAt(Id id) const;

  // Whether one of `bytes` may end an item, or a member of one, so that what stands behind it in
  // `bytes` may be refused.
  [[nodiscard]] bool MayBeginAnother(Id id, absl::string_view bytes) const;

  // Of all that matters there: equal for equal texts, and for those that differ in white space or
  // in the spelling of values that are over.
  [[nodiscard]] const Hash128& Key(Id id) const {
    const Place& place = places_[id];
    if (!place.key.has_value()) place.key = KeyOf(place);
    return *place.key;
  }

  // All that is kept now. Ids made behind a mark are void once it is rewound to.
  struct Mark {
    std::uint32_t places = 0;
    std::uint32_t leaves = 0;
    std::uint32_t items = 0;
    std::uint32_t characters = 0;
    std::int64_t text_bytes = 0;
  };
  // The mark of all there is now; forgets all that was made behind `mark`.
  [[nodiscard]] Mark Now() const;
  void Rewind(const Mark& mark);
  // Forgets the places behind `mark`, except `*ids`, which get new ids. What those are made of
  // stays.
  void Settle(const Mark& mark, const std::vector<Id*>& ids);

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const;
  // What all of it takes of the heap, room for more included.
  [[nodiscard]] std::int64_t heap_bytes() const;

 private:
  enum class Phase : std::uint8_t {
    kValue,
    kMemberName,
    kName,
    kColon,
    kString,
    kNumber,
    kBehind,
    kOver,
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  // The items before that the one at hand may equal: of all there are, or those listed.
  struct Candidates {
    bool all = true;
    std::vector<std::uint32_t> some = {};
  };
  struct Place {
    // Made when it is first asked for: most places are only gone through.
    mutable std::optional<Hash128> key;
    Phase phase = Phase::kValue;
    // The container at hand has no element or member yet.
    bool fresh = true;
    bool in_word = false;
    bool is_object = false;  // the whole, of which only names must differ
    // kName, kString: the character that is being read.
    PartialChar partial = {Spelling::kJsonString};
    // kString, kNumber: its bytes, decoded, the last one first, and how many.
    std::uint32_t text = kNone;
    std::uint32_t text_bytes = 0;
    Hash128 text_key = {};
    // Within the item: of the value, or of the name up to here. Empty for the item itself.
    std::string path = {};
    std::uint32_t leaf_count = 0;
    std::uint32_t last_leaf = kNone;  // of this item, in leaves_
    std::uint32_t last_item = kNone;  // in items_
    Candidates candidates = {};
  };
  struct Leaf {
    std::uint32_t before;
    Hash128 key;  // of it and those before it
    ItemLeaf value;
  };
  struct Item {
    std::uint32_t before;
    std::uint32_t count;                // of this and those before it
    Hash128 key;                        // of them
    std::vector<std::uint32_t> leaves;  // ascending by path
    FirstBytes first_bytes;             // of this and those before it, where they are strings
  };
  // The text of an item that is a string, behind its quote; nothing of others.
  [[nodiscard]] std::optional<absl::string_view> StringOf(std::uint32_t item) const;
  struct Character {
    std::uint32_t before;
    char byte;
  };

  Id Add(Place place);
  [[nodiscard]] Hash128 KeyOf(const Place& place) const;
  bool Read(Place* place, unsigned char byte);
  bool ReadStringByte(Place* place, unsigned char byte);
  bool ReadSign(Place* place, unsigned char byte);
  void BeginValue(Place* place, unsigned char byte);
  void KeepNumbers(Place* place) const;
  void Open(Place* place, char marker);
  void Close(Place* place, char kind);
  bool ReadComma(Place* place);
  bool EndItem(Place* place);
  void AddItem(Place* place);
  bool EndString(Place* place);
  void EndNumber(Place* place);
  void AddLeaf(Place* place, std::string value);
  void AddText(Place* place, absl::string_view bytes);
  static void DropText(Place* place);
  [[nodiscard]] std::string TextOf(const Place& place) const;
  [[nodiscard]] bool HasName(const Place& place, absl::string_view path, bool whole) const;
  [[nodiscard]] bool HasCandidates(const Place& place) const {
    return place.candidates.all ? place.last_item != kNone : !place.candidates.some.empty();
  }
  // An item's leaf at `path`, or null; whether there is one whose path begins so.
  [[nodiscard]] const ItemLeaf* FindLeaf(std::uint32_t item, absl::string_view path) const;
  [[nodiscard]] bool HasLeafBelow(std::uint32_t item, absl::string_view path) const;
  [[nodiscard]] std::uint32_t FirstLeafFrom(std::uint32_t item, absl::string_view path) const;
  // Whether `fits(item)` of any candidate; keeps those of which it is true.
  template <typename Fits>
  [[nodiscard]] bool AnyCandidate(const Place& place, Fits fits) const;
  template <typename Fits>
  void Keep(Place* place, Fits fits) const;

  std::vector<Place> places_;
  std::vector<Leaf> leaves_;
  std::vector<Item> items_;
  std::vector<Character> characters_;
  std::int64_t text_bytes_ = 0;
};

template <typename Fits>
bool DistinctArrays::AnyCandidate(const Place& place, Fits fits) const {
  if (!place.candidates.all) return std::ranges::any_of(place.candidates.some, fits);
  std::uint32_t item = place.last_item;
  while (item != kNone && !fits(item)) item = items_[item].before;
  return item != kNone;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_DISTINCT_ARRAYS_H_
