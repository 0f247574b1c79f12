// What is behind within arrays whose items must differ: the items written, and the one that is
// being written, as far as it is known of which of them it may become the equal.
//
// Source   equality is JSON Schema's: numbers by value, strings decoded, objects whatever the order
//          of their members. That a name stands twice in one object of an item is refused, so that
//          an object has one meaning.
// Layout   each Id is a text from '[' (or '{') on. Texts share their beginnings; those of the same
//          values, a number written 1 or 1.0, have the same Id once the value is over.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_DISTINCT_ARRAYS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_DISTINCT_ARRAYS_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/automaton/item_leaves.h"
#include "grammar_core/automaton/term.h"

namespace maskd {

class DistinctArrays {
 public:
  using Id = std::uint32_t;
  static constexpr Id kStart = 0;  // before '[', or before '{' where only names must differ
  static constexpr Id kRefused = 0xFFFFFFFF;

  DistinctArrays() : places_(1) {}

  // Behind one byte more, which must be right as JSON. kRefused where it ends an item that equals
  // one before it, or a name that its object has.
  Id Append(Id id, unsigned char byte);

  // Whether the item or name that is being written may still become one that is refused. If not, no
  // way to go on up to its end is refused.
  [[nodiscard]] bool MayRepeat(Id id) const;

  // Whether that is so behind `byte`, as far as one look tells: false is certain.
  [[nodiscard]] bool MayRepeatBehind(Id id, unsigned char byte) const;

  // Whether a string or name is being written.
  [[nodiscard]] bool InString(Id id) const {
    return places_[id].phase == Phase::kString || places_[id].phase == Phase::kName;
  }

  // The number that is being written, up to here; empty where none is.
  [[nodiscard]] absl::string_view NumberAt(Id id) const { return places_[id].number; }

  // Whether one of `bytes` may end an item, or a member of one, so that what stands behind it in
  // `bytes` may be refused.
  [[nodiscard]] bool MayBeginAnother(Id id, absl::string_view bytes) const;

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  enum class Phase : std::uint8_t { kValue, kMemberName, kName, kColon, kString, kNumber, kBehind };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Place {
    Id before = kStart;
    unsigned char byte = 0;
    Phase phase = Phase::kValue;
    // The container at hand has no element or member yet.
    bool fresh = false;
    bool in_word = false;
    // kName, kString: the character that is being read, and the bytes behind the quote.
    PartialChar partial = {Spelling::kJsonString};
    std::uint32_t string_bytes = 0;
    // kString: bytes of the decoded string.
    std::uint32_t matched = 0;
    // Within the item: of the value, or of the name up to here. Empty for the item itself.
    std::string path = {};
    std::string number = {};
    std::uint32_t leaf_count = 0;
    std::uint32_t last_leaf = kNone;  // of this item, in leaves_
    std::uint32_t last_item = kNone;  // in items_
    // The items before that this one may equal, in items_.
    std::vector<std::uint32_t> candidates = {};
  };
  template <typename T>
  struct Link {
    std::uint32_t before;
    T value;
  };

  // Whether all that matters of it is in Placed()'s key.
  static bool IsSettled(const Place& place);
  // The place of the same values that there is, or a new one.
  Id Placed(Place place);
  bool Read(Place* place, unsigned char byte);
  bool ReadStringByte(Place* place, unsigned char byte);
  bool ReadSign(Place* place, unsigned char byte);
  void BeginValue(Place* place, unsigned char byte);
  void Open(Place* place, char marker);
  void Close(Place* place, char kind);
  bool ReadComma(Place* place);
  bool EndItem(Place* place);
  void AddItem(const Place& place);
  bool EndString(Place* place);
  void EndNumber(Place* place);
  void AddLeaf(Place* place, std::string value);
  [[nodiscard]] std::string DecodedString(const Place& place) const;
  [[nodiscard]] bool HasName(const Place& place, bool whole) const;
  // Keeps the candidates of which `fits(leaves)` is true.
  template <typename Fits>
  void Keep(Place* place, Fits fits) const;

  std::deque<Place> places_;
  std::deque<Link<ItemLeaf>> leaves_;
  std::deque<Link<ItemLeaves>> items_;
  absl::flat_hash_map<std::pair<Id, unsigned char>, Id> ids_;
  // By all that matters: see IsSettled().
  absl::flat_hash_map<std::string, Id> settled_;
  // Behind which leaf, its path and value.
  absl::flat_hash_map<std::pair<std::uint32_t, std::pair<std::string, std::string>>, std::uint32_t>
      leaf_ids_;
  // Behind which item, and the last of its leaves.
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> item_ids_;
  std::int64_t text_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_DISTINCT_ARRAYS_H_
