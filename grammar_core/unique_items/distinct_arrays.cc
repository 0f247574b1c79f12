// An item is its leaves: for each scalar the path to it and its value, in order of the paths, so
// that two items are equal exactly if their leaves are, whatever the order of members. While an
// item is written the items before it are narrowed to those that it may still become: its
// candidates. Only where one is left can it be, or become, a repetition.
//
// Invariant  candidates hold every item before that the one at hand may still equal, and perhaps
//            more; an item that ends with a candidate whose leaves are all its own is refused.
// Cost       a byte of a string or number looks at the candidates, all of them at the first byte.
#include "grammar_core/unique_items/distinct_arrays.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/terms/encoding.h"

namespace maskd {
namespace {

bool IsSpace(unsigned char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

bool IsOfNumber(unsigned char byte) {
  return absl::ascii_isdigit(byte) || byte == '-' || byte == '+' || byte == '.' || byte == 'e' ||
         byte == 'E';
}

// Where the last segment of `path` begins, its marker included.
std::size_t LastSegment(absl::string_view path) {
  constexpr char kMarkers[] = {kMember, kElement};
  return path.find_last_of(absl::string_view(kMarkers, sizeof(kMarkers)));
}

}  // namespace

DistinctArrays::Id DistinctArrays::Begin(unsigned char bracket) {
  // An object of which only names must differ is a container of one item that never ends one.
  Place start;
  start.is_object = bracket == '{';
  if (start.is_object) Open(&start, kMember);
  return Add(std::move(start));
}

DistinctArrays::Id DistinctArrays::Append(Id id, unsigned char byte) {
  // A copy: the place before stays what it was, as other ways to go on from it may be tried.
  Place next = places_[id];
  next.key.reset();
  return Read(&next, byte) ? Add(std::move(next)) : kRefused;
}

DistinctArrays::Id DistinctArrays::Add(Place place) {
  text_bytes_ += static_cast<std::int64_t>(place.path.capacity() +
                                           place.candidates.some.size() * sizeof(std::uint32_t));
  places_.push_back(std::move(place));
  return static_cast<Id>(places_.size() - 1);
}

// Two places with one key are one state of the row, so all that decides what may follow is in it.
// The candidates are not: they follow from the items and the leaves so far.
Hash128 DistinctArrays::KeyOf(const Place& place) const {
  const std::uint64_t flags = (place.fresh ? 1U : 0U) | (place.in_word ? 2U : 0U) |
                              (place.is_object ? 4U : 0U) |
                              static_cast<std::uint64_t>(place.phase) << 3;
  Hash128 key = Mix(place.text_key, flags << 32 | place.partial.Pack());
  key = Mix(key, place.text_bytes);
  if (!place.path.empty()) key = MixBytes(key, place.path);
  if (place.last_leaf != kNone) key = Mix(Mix(key, leaves_[place.last_leaf].key), 1);
  return place.last_item == kNone ? key : Mix(Mix(key, items_[place.last_item].key), 2);
}

DistinctArrays::Mark DistinctArrays::Now() const {
  const auto size = [](const auto& of) { return static_cast<std::uint32_t>(of.size()); };
  return {size(places_), size(leaves_), size(items_), size(characters_), text_bytes_};
}

void DistinctArrays::Rewind(const Mark& mark) {
  assert(mark.places <= places_.size() && mark.leaves <= leaves_.size() && "a mark that is void");
  places_.erase(places_.begin() + mark.places, places_.end());
  leaves_.erase(leaves_.begin() + mark.leaves, leaves_.end());
  items_.erase(items_.begin() + mark.items, items_.end());
  characters_.erase(characters_.begin() + mark.characters, characters_.end());
  text_bytes_ = mark.text_bytes;
}

void DistinctArrays::Settle(const Mark& mark, const std::vector<Id*>& ids) {
  // What kept places are made of lies anywhere behind the mark, so leaves, items and characters all
  // stay: a token makes few.
  std::vector<Place> kept;
  for (Id* const id : ids) {
    if (*id < mark.places) continue;
    kept.push_back(places_[*id]);
    *id = static_cast<Id>(mark.places + kept.size() - 1);
  }
  places_.erase(places_.begin() + mark.places, places_.end());
  std::ranges::move(kept, std::back_inserter(places_));
}

template <typename Fits>
void DistinctArrays::Keep(Place* place, Fits fits) const {
  Candidates& candidates = place->candidates;
  if (!candidates.all) {
    std::erase_if(candidates.some, [&](std::uint32_t item) { return !fits(item); });
    return;
  }
  for (std::uint32_t item = place->last_item; item != kNone; item = items_[item].before)
    if (fits(item)) candidates.some.push_back(item);
  // A list that would hold all items is not kept: the first item of most arrays narrows nothing.
  candidates.all =
      place->last_item == kNone || candidates.some.size() == items_[place->last_item].count;
  if (candidates.all) candidates.some = {};
}

std::uint32_t DistinctArrays::FirstLeafFrom(std::uint32_t item, absl::string_view path) const {
  assert(item < items_.size() && "an item that is over");
  const std::vector<std::uint32_t>& leaves = items_[item].leaves;
  const auto at = std::ranges::partition_point(leaves, [&](std::uint32_t leaf) {
    return absl::string_view(leaves_[leaf].value.path) < path;
  });
  return at == leaves.end() ? kNone : *at;
}

const ItemLeaf* DistinctArrays::FindLeaf(std::uint32_t item, absl::string_view path) const {
  const std::uint32_t leaf = FirstLeafFrom(item, path);
  return leaf != kNone && leaves_[leaf].value.path == path ? &leaves_[leaf].value : nullptr;
}

bool DistinctArrays::HasLeafBelow(std::uint32_t item, absl::string_view path) const {
  const std::uint32_t leaf = FirstLeafFrom(item, path);
  return leaf != kNone && absl::StartsWith(leaves_[leaf].value.path, path);
}

void DistinctArrays::AddText(Place* place, absl::string_view bytes) {
  for (const char byte : bytes) {
    characters_.push_back({place->text, byte});
    place->text = static_cast<std::uint32_t>(characters_.size() - 1);
    place->text_key = Mix(place->text_key, static_cast<unsigned char>(byte));
  }
  place->text_bytes += static_cast<std::uint32_t>(bytes.size());
}

void DistinctArrays::DropText(Place* place) {
  place->text = kNone;
  place->text_bytes = 0;
  place->text_key = {};
}

std::string DistinctArrays::TextOf(const Place& place) const {
  // The list goes from the last byte to the first.
  std::string bytes(place.text_bytes, '\0');
  std::uint32_t at = place.text;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    assert(at != kNone && "fewer characters than bytes counted");
    *byte = characters_[at].byte;
    at = characters_[at].before;
  }
  return bytes;
}

std::string DistinctArrays::NumberAt(Id id) const {
  const Place& place = places_[id];
  return place.phase == Phase::kNumber ? TextOf(place) : "";
}

bool DistinctArrays::Read(Place* place, unsigned char byte) {
  if (place->phase == Phase::kName || place->phase == Phase::kString)
    return ReadStringByte(place, byte);
  // A number ends by the byte behind it, which is then read as what it is.
  if (place->phase == Phase::kNumber) {
    if (IsOfNumber(byte)) {
      AddText(place, std::string(1, static_cast<char>(byte)));
      KeepNumbers(place);
      return true;
    }
    EndNumber(place);
  }
  if (place->in_word && absl::ascii_isalpha(byte)) return true;
  place->in_word = false;
  return IsSpace(byte) || ReadSign(place, byte);
}

bool DistinctArrays::ReadSign(Place* place, unsigned char byte) {
  switch (byte) {
    case ',':
      return ReadComma(place);
    case ':':
      place->phase = Phase::kValue;
      return true;
    case ']':
      if (place->path.empty()) {
        const bool differs = place->fresh || EndItem(place);
        place->phase = Phase::kOver;
        return differs;
      }
      Close(place, '[');
      return true;
    case '}':
      Close(place, '{');
      if (place->is_object && place->path.empty()) place->phase = Phase::kOver;
      return true;
    default:
      break;
  }
  if (place->phase == Phase::kMemberName) {
    place->fresh = false;
    place->phase = Phase::kName;
    return true;
  }
  BeginValue(place, byte);
  return true;
}

void DistinctArrays::BeginValue(Place* place, unsigned char byte) {
  place->fresh = false;
  if (byte == '{') return Open(place, kMember);
  if (byte == '[') return Open(place, kElement);
  if (byte == '"') {
    place->phase = Phase::kString;
  } else if (IsOfNumber(byte)) {
    place->phase = Phase::kNumber;
    AddText(place, std::string(1, static_cast<char>(byte)));
  } else {
    place->phase = Phase::kBehind;
    place->in_word = true;
  }
  // By its first byte a value is of a kind; of a word (true, false, null) that byte tells all.
  const char kind = place->phase == Phase::kNumber ? kNumberLeaf : static_cast<char>(byte);
  Keep(place, [&](std::uint32_t item) {
    const ItemLeaf* leaf = FindLeaf(item, place->path);
    return leaf != nullptr && leaf->value.front() == kind;
  });
  if (kind == kNumberLeaf) KeepNumbers(place);
  if (place->in_word) AddLeaf(place, std::string(1, kind));
}

// All candidates have a number there.
void DistinctArrays::KeepNumbers(Place* place) const {
  const std::string number = TextOf(*place);
  Keep(place, [&](std::uint32_t item) {
    return MayBecomeNumber(number, FindLeaf(item, place->path)->value);
  });
}

void DistinctArrays::Open(Place* place, char marker) {
  const char kind = marker == kMember ? '{' : '[';
  // An empty container is a leaf, one with something in it is what lies below its path: either may
  // still become this one.
  const std::string inside = absl::StrCat(place->path, std::string(1, marker));
  Keep(place, [&](std::uint32_t item) {
    const ItemLeaf* leaf = FindLeaf(item, place->path);
    return leaf != nullptr ? leaf->value.front() == kind : HasLeafBelow(item, inside);
  });
  place->path = marker == kMember ? inside : absl::StrCat(inside, "0");
  place->phase = marker == kMember ? Phase::kMemberName : Phase::kValue;
  place->fresh = true;
}

void DistinctArrays::Close(Place* place, char kind) {
  assert(!place->path.empty() && "closed more containers than were opened");
  place->path.resize(LastSegment(place->path));
  if (std::exchange(place->fresh, false)) {
    Keep(place, [&](std::uint32_t item) {
      const ItemLeaf* leaf = FindLeaf(item, place->path);
      return leaf != nullptr && leaf->value.front() == kind;
    });
    AddLeaf(place, std::string(1, kind));
  }
  place->phase = Phase::kBehind;
}

bool DistinctArrays::ReadComma(Place* place) {
  place->phase = Phase::kValue;
  if (place->path.empty()) return EndItem(place);
  const std::size_t segment = LastSegment(place->path);
  if (place->path[segment] == kMember) {
    place->path.resize(segment + 1);
    place->phase = Phase::kMemberName;
    return true;
  }
  std::uint32_t index = 0;
  const bool is_index =
      absl::SimpleAtoi(absl::string_view(place->path).substr(segment + 1), &index);
  place->path.resize(segment + 1);
  absl::StrAppend(&place->path, is_index ? index + 1 : 0);
  Keep(place, [&](std::uint32_t item) { return HasLeafBelow(item, place->path); });
  return true;
}

// All leaves of the item are leaves of each candidate: it is equal to those with no other.
bool DistinctArrays::EndItem(Place* place) {
  const auto equals = [&](std::uint32_t item) {
    return items_[item].leaves.size() == place->leaf_count;
  };
  // The row may not write this: whoever asked drops the way.
  if (AnyCandidate(*place, equals)) return false;
  AddItem(place);
  place->last_leaf = kNone;
  place->leaf_count = 0;
  place->candidates = {};
  return true;
}

void DistinctArrays::AddItem(Place* place) {
  assert(place->last_leaf != kNone && "an item has a leaf: a scalar, or an empty container");
  const std::uint32_t before = place->last_item;
  Item item = {before, 1, leaves_[place->last_leaf].key, {}, {}};
  if (before != kNone) {
    item.count += items_[before].count;
    item.key = Mix(item.key, items_[before].key);
    item.first_bytes = items_[before].first_bytes;
  }
  item.leaves.reserve(place->leaf_count);
  for (std::uint32_t at = place->last_leaf; at != kNone; at = leaves_[at].before)
    item.leaves.push_back(at);
  // By path, so that FirstLeafFrom() can halve and an object's members may come in any order.
  std::ranges::sort(item.leaves, {}, [&](std::uint32_t leaf) { return leaves_[leaf].value.path; });
  text_bytes_ += static_cast<std::int64_t>(item.leaves.size() * sizeof(item.leaves[0]));
  place->last_item = static_cast<std::uint32_t>(items_.size());
  items_.push_back(std::move(item));
  if (const auto text = StringOf(place->last_item); text.has_value())
    items_.back().first_bytes.set(text->empty() ? 0 : static_cast<unsigned char>(text->front()));
}

std::optional<absl::string_view> DistinctArrays::StringOf(std::uint32_t item) const {
  const ItemLeaf& leaf = leaves_[items_[item].leaves[0]].value;
  if (!leaf.path.empty() || leaf.value.front() != '"') return std::nullopt;
  return absl::string_view(leaf.value).substr(1);
}

DistinctArrays::FirstBytes DistinctArrays::FirstBytesOfStrings(Id id) const {
  const std::uint32_t last = places_[id].last_item;
  return last == kNone ? FirstBytes() : items_[last].first_bytes;
}

bool DistinctArrays::HasString(Id id, absl::string_view text, Match match) const {
  // Asked for each token of a mask: one bit says no for most, before the items are gone through.
  const std::size_t first = text.empty() ? 0 : static_cast<unsigned char>(text.front());
  if (!FirstBytesOfStrings(id).test(first)) return false;
  std::uint32_t item = places_[id].last_item;
  for (; item != kNone; item = items_[item].before) {
    const auto string = StringOf(item);
    if (!string.has_value()) continue;
    if (match == Match::kWhole ? *string == text : absl::StartsWith(*string, text)) return true;
  }
  return false;
}

void DistinctArrays::EndNumber(Place* place) {
  // Only now is the number known: 1 might have become 10, and 1.0 is 1.
  std::string value = NumberLeaf(TextOf(*place));
  Keep(place, [&](std::uint32_t item) { return FindLeaf(item, place->path)->value == value; });
  AddLeaf(place, std::move(value));
  DropText(place);
  place->phase = Phase::kBehind;
}

bool DistinctArrays::ReadStringByte(Place* place, unsigned char byte) {
  if (place->partial.phase == CharPhase::kStart && byte == '"') return EndString(place);
  // Compared by characters, not by bytes: an escape and the character it stands for are the same.
  const CharStep step = StepChar(place->partial, byte);
  place->partial =
      step.result == CharStep::Result::kPartial ? step.partial : PartialChar{Spelling::kJsonString};
  if (step.result != CharStep::Result::kCharacter) return true;
  std::string character;
  AppendUtf8(step.character, &character);
  if (place->phase == Phase::kName) {
    place->path += character;
    Keep(place, [&](std::uint32_t item) { return HasLeafBelow(item, place->path); });
    return true;
  }
  const std::size_t at = 1 + place->text_bytes;  // behind the quote that marks a string's leaf
  Keep(place, [&](std::uint32_t item) {
    return absl::StartsWith(absl::string_view(FindLeaf(item, place->path)->value).substr(at),
                            character);
  });
  AddText(place, character);
  return true;
}

bool DistinctArrays::EndString(Place* place) {
  if (place->phase == Phase::kName) {
    place->phase = Phase::kColon;
    return !HasName(*place, place->path, true);
  }
  Keep(place, [&](std::uint32_t item) {
    return FindLeaf(item, place->path)->value.size() == 1 + place->text_bytes;
  });
  AddLeaf(place, absl::StrCat("\"", TextOf(*place)));
  DropText(place);
  place->phase = Phase::kBehind;
  return true;
}

void DistinctArrays::AddLeaf(Place* place, std::string value) {
  // In the order of writing: two places that wrote their members in another order have other keys,
  // which costs a state and is right.
  Hash128 key = MixBytes(MixBytes({}, place->path), value);
  if (place->last_leaf != kNone) key = Mix(key, leaves_[place->last_leaf].key);
  text_bytes_ += static_cast<std::int64_t>(place->path.size() + value.size());
  leaves_.push_back({place->last_leaf, key, {place->path, std::move(value)}});
  place->last_leaf = static_cast<std::uint32_t>(leaves_.size() - 1);
  ++place->leaf_count;
}

// Whether the object at hand has a member of the name at the end of `path`, or that begins with it.
bool DistinctArrays::HasName(const Place& place, absl::string_view path, bool whole) const {
  for (std::uint32_t at = place.last_leaf; at != kNone; at = leaves_[at].before) {
    const std::string& name = leaves_[at].value.path;
    if (whole ? IsAtOrBelow(name, path) : absl::StartsWith(name, path)) return true;
  }
  return false;
}

std::int64_t DistinctArrays::held_bytes() const {
  return static_cast<std::int64_t>(places_.size() * sizeof(Place) + leaves_.size() * sizeof(Leaf) +
                                   items_.size() * sizeof(Item) +
                                   characters_.size() * sizeof(Character)) +
         text_bytes_;
}

std::int64_t DistinctArrays::heap_bytes() const {
  return HeldBytes(places_) + HeldBytes(leaves_) + HeldBytes(items_) + HeldBytes(characters_) +
         text_bytes_;
}

}  // namespace maskd
